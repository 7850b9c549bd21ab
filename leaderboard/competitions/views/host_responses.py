"""Responses that host pages share.

Responses that student pages share.
"""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.db.models import Exists, OuterRef
from django.forms import BaseForm
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext as _

from leaderboard.common.storage import TooLarge

from ..access import PageContext
from ..models import DataFile, Submission
from ..services.answer_leaks import is_table_unread
from ..services.competitions import CannotHost


def posted_data(request: HttpRequest) -> QueryDict | None:
    """What binds a form: also an empty POST, which then has its mistakes shown."""
    return request.POST if request.method == "POST" else None


def refuse_too_large(request: HttpRequest) -> None:
    """Raise `TooLarge` for an upload that was cut off on its way in."""
    request.FILES  # noqa: B018 - reading the body is what notices it
    if request.META.get("leaderboard.too_large"):
        raise TooLarge(settings.MAX_UPLOAD_BYTES)


def message_data_file_added(request: HttpRequest, added: DataFile) -> None:
    """That students have a file; and that nobody looked into it, where that is so."""
    messages.success(request, _("“%(name)s” is there for students.") % {"name": added})
    if is_table_unread(added.name):
        messages.warning(
            request,
            _("Only CSV files are looked through for answers: make sure that “%(name)s” holds none.") % {"name": added},
        )


def is_confirmed(request: HttpRequest) -> bool:
    """Whether somebody was asked before, and said yes."""
    return request.POST.get("is_meant") == "yes"


def ask_first(
    request: HttpRequest, page_context: PageContext, name: str, consequence: str, *, role: str = "", back: str = ""
) -> HttpResponse:
    """The question before something is removed, or somebody from a `role`; yes sends the same form once more, and no
    leads `back`, else to the page that asks."""
    is_self = bool(role) and not page_context.user.is_anonymous and name == page_context.user.username
    context = {
        "page_context": page_context,
        "name": name,
        "consequence": consequence,
        "role": role,
        "is_self": is_self,
        "back": back,
    }
    return render(request, "competitions/ask_first.html", context)


def add_refusal(form: BaseForm, error: Exception) -> int:
    """Put what a verb refused above the form; gives the status of the answer."""
    if isinstance(error, TooLarge):
        # The file never arrived whole, so the form thinks that none was chosen.
        form.errors.pop("file", None)
    lines = [error.message, *error.details] if isinstance(error, CannotHost) else [str(error)]
    for line in lines:
        form.add_error(None, line)
    return 413 if isinstance(error, TooLarge) else 409


def own_submission(page_context: PageContext, submission_id: UUID | str) -> Submission:
    """A file of the viewer's own team, or of a competition they host; for everybody else it does not exist."""
    mine = Submission.objects.visible_to(page_context.user).filter(competition=page_context.competition)
    twins = Submission.objects.filter(
        team=OuterRef("team"), sha256=OuterRef("sha256"), received_at__lt=OuterRef("received_at")
    )
    # Asked for along: few files have a twin, and only these need a query for it.
    mine = mine.annotate(has_twin=Exists(twins))
    found = mine.select_related("user", "team", "baseline").filter(pk=submission_id).first()
    if found is None:
        raise Http404(_("You have no submission with this number."))
    found.competition = page_context.competition  # with its ground truth, which the receipt reads
    return found
