"""Helpers that several pages share: forms, confirmations, refusals, problems of a file as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext_lazy

from leaderboard.common.file_formats import safe_cell
from leaderboard.common.library_messages import stored_text
from leaderboard.common.storage import TooLarge
from leaderboard.scoring.client import JobFailed

from . import services as competitions
from .access import PageContext
from .forms import CompetitionForm
from .models import Competition
from .services import CannotHost

REFUSALS = (CannotHost, TooLarge, JobFailed)
"""Errors of hosts' services that a page explains, see `refusal_lines`."""
CHECK_FAILED = gettext_lazy("The check failed through no fault of your file. Try again in a moment.")


def posted_data(request: HttpRequest) -> QueryDict | None:
    """Data for a form: the POST data even if empty, so that its errors are shown; None for other methods."""
    return request.POST if request.method == "POST" else None


def is_confirmed(request: HttpRequest) -> bool:
    """Whether the form was sent by the “yes” of `ask_first`."""
    return request.POST.get("is_meant") == "yes"


def ask_first(
    request: HttpRequest, page_context: PageContext, name: str, consequence: str, *, role: str = ""
) -> HttpResponse:
    """The page that asks before something is removed, or a person from a `role`; “yes” sends the same form again."""
    is_self = bool(role) and not page_context.user.is_anonymous and name == page_context.user.username
    context = {
        "page_context": page_context,
        "name": name,
        "consequence": consequence,
        "role": role,
        "is_self": is_self,
    }
    return render(request, "competitions/ask_first.html", context)


def add_refusal(form: BaseForm, error: Exception) -> int:
    """Add the refusal of a service to the form's errors; returns the status of the response."""
    if isinstance(error, ValidationError):
        form.add_error(None, error)
        return 422
    if isinstance(error, TooLarge):
        # The file was not received completely, so the form says that none was chosen.
        form.errors.pop("file", None)
    for line in refusal_lines(error):
        form.add_error(None, line)
    return 413 if isinstance(error, TooLarge) else 503 if isinstance(error, JobFailed) else 409


def refusal_lines(error: Exception) -> list[str]:
    """Sentences about an error of a host's service, among `REFUSALS`."""
    if isinstance(error, CannotHost):
        return [error.message, *error.details]
    return [str(CHECK_FAILED) if isinstance(error, JobFailed) else str(error)]


def save_competition(page_context: PageContext, form: CompetitionForm) -> Competition | None:
    """Change the competition by a form; None if the form is not bound or has errors."""
    if not form.is_valid():
        return None
    try:
        return competitions.change_competition(
            competition=page_context.competition, user=page_context.account, **form.fields_for_verb
        )
    except ValidationError as error:
        form.add_error(None, error)
        return None


def problems_csv(problems: Iterable[Mapping[str, Any]]) -> str:
    """The problems of a file as CSV, one row per kind; cells are safe from being run as formulas."""
    text = io.StringIO()
    writer = csv.writer(text)
    columns = ("code", "message", "column", "line", "id", "count")
    writer.writerow(columns)
    for problem in problems:
        texts = {**problem, "message": stored_text(problem)}
        writer.writerow(["" if texts.get(name) is None else safe_cell(str(texts[name])) for name in columns])
    return text.getvalue()
