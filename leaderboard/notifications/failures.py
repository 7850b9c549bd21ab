"""Notices to hosts about files that failed through no fault of a student.

The page of a competition counts failed files and shows each with its reason; the notice is about the first.
"""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db.models.functions import Now
from django.utils.translation import gettext as _

from leaderboard.common.display_time import moment_text
from leaderboard.competitions.models import Submission

from .models.mentions import mark_mention
from .models.notice import NoticeKind
from .notices import notify

# A broken metric fails every file of a class; one e-mail is enough.
QUIET_PERIOD = timedelta(hours=1)


def notify_hosts_of_failure(submission_id: UUID) -> bool:
    """Notify the hosts that a file failed, once an hour and competition; True when a notice was written."""
    failed = Submission.objects.filter(status=Submission.Status.FAILED)
    submission = failed.select_related("competition").filter(pk=submission_id).first()
    if submission is None:
        return False
    competition = submission.competition
    lately = failed.filter(competition=competition, finished_at__gt=Now() - QUIET_PERIOD)
    if min(lately.values_list("finished_at", "pk"), default=(None, None))[1] != submission.pk:
        return False
    notified = notify(
        competition.hosts.all(),
        kind=NoticeKind.FILE_FAILED,
        competition=competition,
        title=lambda: _("A submission failed"),
        text=lambda: _failure_text(submission),
        link=f"/host/{competition.slug}/submissions/?status=failed",
    )
    return notified > 0


def _failure_text(submission: Submission) -> str:
    return _(
        "“%(file)s”, received %(when)s, could not be scored through no fault of the student.\n\n%(why)s\n\n"
        "The page tells why, and whether there are others. Nothing more is sent within the next hour."
    ) % {
        "file": mark_mention(submission),
        "when": moment_text(submission.received_at, submission.competition.zone),
        "why": submission.failure_words,
    }
