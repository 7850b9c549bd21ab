"""The bytes of invalid submissions, which nothing reads any more, are removed after some days."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from leaderboard.common import storage

from ..models import Submission

log = logging.getLogger(__name__)

INVALID_FILES_STAY = timedelta(days=14)
"""Long enough for a host to find that the ground truth was at fault and to score the files again."""


def remove_invalid_files(*, at: datetime) -> int:
    """Remove the bytes of files that were invalid for so long at `at`; the number of files.

    The row with its receipt, hash and problems stays. It is marked first: should this process die between the two, the
    bytes belong to nothing and the sweep for such files removes them.
    """
    old = Submission.objects.filter(
        team__isnull=False,
        status=Submission.Status.INVALID,
        finished_at__lt=at - INVALID_FILES_STAY,
        file_removed_at=None,
    )
    number = 0
    for pk, key in list(old.order_by().values_list("pk", "file_key")):
        # A host may have it scored again at this very moment.
        if old.filter(pk=pk).update(file_removed_at=at):
            storage.remove_file(key)
            number += 1
    if number:
        log.info("files of invalid submissions were removed", extra={"files": number})
    return number
