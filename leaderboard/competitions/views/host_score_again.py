"""Files without a score, scored once more."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import ngettext

from leaderboard.common.responses import see_other, signed_in_user

from ..access import Audience, PageContext, open_to
from ..models import Submission
from ..services import competitions, scoring_again
from .manage import filter_submissions

NAMED = 10
ASKED = ("file", "status", "q")


@open_to(Audience.ASSISTANTS)
def host_score_again(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """What scoring some files again would mean, before it is done."""
    asked = request.POST if request.method == "POST" else request.GET
    files, refusal, status = _requested_files(page_context, asked), "", 200
    if request.method == "POST":
        try:
            done = scoring_again.score_again(
                competition=page_context.competition, user=signed_in_user(page_context.user), files=files
            )
        except competitions.CannotHost as error:
            refusal, status = error.message, 409
        else:
            words = ngettext("%(number)d file is scored again.", "%(number)d files are scored again.", done)
            messages.success(request, words % {"number": done})
            return see_other("host_submissions", slug=page_context.competition.slug)
    context = {
        "page_context": page_context,
        "refusal": refusal,
        **_summary_of_files(files),
        "asked": {name: asked.get(name, "") for name in ASKED},
    }
    return render(request, "competitions/host_score_again.html", context, status=status)


def _summary_of_files(files: QuerySet[Submission]) -> dict[str, Any]:
    """How many of each kind there are, how many are scored again at once, and the first of them."""
    ended = {
        str(one): Count("pk", filter=Q(status=one)) for one in (Submission.Status.FAILED, Submission.Status.INVALID)
    }
    numbers = files.order_by().aggregate(**ended)
    number = min(sum(numbers.values()), scoring_again.MOST_AT_ONCE)
    return {"numbers": numbers, "number": number, "files": list(files.select_related("team")[:NAMED])}


def _requested_files(page_context: PageContext, asked: QueryDict) -> QuerySet[Submission]:
    """One file by its number, or those of a list; never one with a score."""
    found = filter_submissions(page_context.competition, asked.get("status", ""), asked.get("q", "").strip()[:60])
    if wanted := asked.get("file", ""):
        number = _number(wanted)
        found = found.filter(pk=number) if number else found.none()
    return scoring_again.submissions_without_score(found)


def _number(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
