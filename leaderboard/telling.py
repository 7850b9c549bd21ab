"""Words to hosts about what went wrong through no fault of a student: on their page always, by mail where there is one.

The page of a competition counts failed files and shows each with its reason; this module adds the mail.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.core.mail import send_mail
from django.db.models.functions import Now

from .models import Submission

log = logging.getLogger(__name__)

# A broken metric fails every file of a class; one letter says so.
QUIET = timedelta(hours=1)


def tell_hosts(submission_id: UUID) -> bool:
    """Write to the hosts that a file failed, once an hour and competition; True when a letter went out."""
    failed = Submission.objects.filter(status=Submission.Status.FAILED)
    submission = failed.select_related("competition").filter(pk=submission_id).first()
    if submission is None or settings.ACCOUNT_EMAIL_VERIFICATION == "none":
        return False
    competition = submission.competition
    hosts = competition.hosts.filter(is_active=True).exclude(email="").values_list("email", flat=True)
    lately = failed.filter(competition=competition, finished_at__gt=Now() - QUIET)
    if not hosts or min(lately.values_list("finished_at", "pk"))[1] != submission.pk:
        return False
    page = f"{settings.SITE_URL.rstrip('/')}/host/{competition.slug}/submissions/?status=failed"
    body = (
        f"A file of “{competition}” could not be scored through no fault of the student: “{submission.file_name}”, "
        f"received {submission.received_at:%Y-%m-%d %H:%M} UTC.\n\n{submission.failure}\n\n"
        f"Why, and whether there are others: {page}\n\nThere will be no further letter within the next hour.\n"
    )
    try:
        send_mail(f"A submission failed: {' '.join(competition.title.split())}", body, None, list(hosts))
    except Exception as error:  # a letter must never undo what it tells of
        log.warning("no letter about submission %s could be sent: %s", submission.pk, error)
        return False
    return True
