"""Responses that student pages share."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Exists, OuterRef
from django.http import Http404
from django.utils.translation import gettext as _

from ..access import PageContext
from ..models import Submission


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
