"""Marks on their way to the columns of platforms, sent by a task.

A mark is sent once and in order: the time sent with it is whole seconds, later than the last one, and stored before the
request. A lost answer repeats one mark; equal marks are never sent again, because Canvas adds a comment with each.
"""

from __future__ import annotations

import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext_noop

from leaderboard.common.claims import Claim, claim_key, claim_rows, has_no_lease
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry, AuditEvent

from .columns import column_of, whole_maximum
from .models import LtiLink, PlatformMark
from .platform_services import LINEITEM_SCOPE, SCORE_SCOPE, SCORE_TYPE, PlatformClient, PlatformProblem

GIVE_UP_AFTER = timedelta(hours=24)
MAX_PAUSE_SECONDS = 300.0
# Other platforms wait meanwhile, so a turn ends after so many marks or seconds.
TURN_MARKS, TURN_SECONDS = 50, 20.0
# All requests for one mark together.
MARK_SECONDS = 10.0
SILENT = "silent"
CONFLICT = 409
State = PlatformMark.State

NOT_TAKEN = gettext_noop("The platform refused the mark.")
NOT_ALLOWED = gettext_noop("The platform doesn't allow this site to write marks.")
NO_ANSWER = gettext_noop("The platform gave no usable answer for a day.")
# By code or status.
PROBLEMS: dict[object, str] = {
    "column": gettext_noop("The platform has no grade column for this activity, and lets us make none."),
    "token": NOT_ALLOWED,
    403: NOT_ALLOWED,
    422: gettext_noop("The platform doesn't know this student in this course."),
}


def due_marks() -> QuerySet[PlatformMark]:
    return PlatformMark.objects.filter(has_no_lease(), state=State.WAITING, next_at__lte=Now())


def links_with_due_marks() -> list[int]:
    due = due_marks().filter(link__deployment__platform__off_at=None)
    return list(due.order_by().values_list("link", flat=True).distinct()[:20])


def send_marks(link_id: int, wake_up_id: str) -> bool:
    """Send due marks of a column, one after the other; returns whether some remain."""
    link = LtiLink.objects.select_related("deployment__platform", "competition").filter(pk=link_id).first()
    if link is None or not link.platform.is_on:
        return False
    outcomes, ends_at = Counter[str](), time.monotonic() + TURN_SECONDS
    for turn in range(TURN_MARKS):
        mark = _claim_next(link, claim_key(wake_up_id, turn + 1))
        if mark is None:
            break
        outcome = _send_mark(mark, link)
        outcomes[outcome] += 1
        if outcome == SILENT or time.monotonic() > ends_at:
            break
    after = {state: number for state, number in outcomes.items() if state not in (State.WAITING, SILENT)}
    if after and link.competition is not None:
        with transaction.atomic():
            AuditEntry.append(
                AuditEvent.MARKS_SENT, user=None, competition=link.competition, about=str(link), after=after
            )
    return due_marks().filter(link=link).exists()


def _claim_next(link: LtiLink, key: Any) -> PlatformMark | None:
    """Claim the next due mark, and store the time that is sent with it; None when none is due.

    From now on it is not known what the platform has, which an empty `sent_out_of` says; the result keeps the old one.
    """
    for mark in due_marks().filter(link=link).order_by("next_at", "pk")[:5]:
        stamp = max(int(database_now().timestamp()), mark.last_stamp + 1)
        same = PlatformMark.objects.filter(pk=mark.pk, number=mark.number, last_stamp=mark.last_stamp, tries=mark.tries)
        if claim_rows(same, key, last_stamp=stamp, sent_out_of=None):
            claimed = PlatformMark.objects.get(pk=mark.pk)
            claimed.sent_out_of = mark.sent_out_of
            return claimed
    return None


def _send_mark(mark: PlatformMark, link: LtiLink) -> str:
    """Send one claimed mark, and note the result; returns its new state."""
    was_known = bool(link.lineitem)
    try:
        with PlatformClient(link.platform, f"{LINEITEM_SCOPE} {SCORE_SCOPE}", seconds=MARK_SECONDS) as client:
            column = column_of(link, client, mark.out_of)
            if not _is_replaced(mark, column):
                parts = urlsplit(column)
                address = parts._replace(path=f"{parts.path.rstrip('/')}/scores").geturl()
                response = client.ask("POST", address, kind=SCORE_TYPE, body=_body_of(mark))
                _follow_clock(mark, response.headers.get("Date", ""))
    except PlatformProblem as problem:
        if problem.status == 404 and was_known:  # the column was deleted there: find or make it anew with the next try
            link.lineitem = ""
            _finish(mark, {"next_at": Now()})
            return State.WAITING
        return _note_failure(mark, link, problem)
    state = State.CLEARED if mark.points is None else State.SENT
    sent = {f"sent_{name}": getattr(mark, name) for name in ("points", "comment", "out_of")}
    _finish(mark, {"state": state, "problem": "", "tries": 0}, always={**sent, "sent_at": Now()})
    return state


def _is_replaced(mark: PlatformMark, column: str) -> bool:
    """Whether a mark to be taken back has made place for one of the same student by another activity of the column."""
    others = PlatformMark.objects.filter(user=mark.user_id, link__lineitem=column).exclude(link=mark.link_id)
    return mark.points is None and others.exclude(points=None).exists()


def _finish(mark: PlatformMark, changes: dict[str, Any], *, always: dict[str, Any] | None = None) -> None:
    """End the claim. Changes of the state count only if no newer mark is wanted meanwhile."""
    claim = Claim(PlatformMark, mark.pk, mark.claim)
    with transaction.atomic():
        current = claim.rows.select_for_update().values_list("number", flat=True).first()
        if current is not None:
            claim.finish(**(always or {}), **(changes if current == mark.number else {}))


def _note_failure(mark: PlatformMark, link: LtiLink, problem: PlatformProblem) -> str:
    now, unchanged = database_now(), {"sent_out_of": mark.sent_out_of}
    if problem.is_final or str(problem) == "column":
        text = PROBLEMS.get(str(problem)) or PROBLEMS.get(problem.status, NOT_TAKEN)
        _finish(mark, {"state": State.REFUSED, "problem": text}, always=unchanged)
        return State.REFUSED
    if now - mark.wanted_at > GIVE_UP_AFTER:
        _finish(mark, {"state": State.STUCK, "problem": NO_ANSWER})
        return State.STUCK
    pause = max(min(2.0 ** min(mark.tries - 1, 9), MAX_PAUSE_SECONDS), min(problem.retry_after, 3600.0))
    next_at = now + timedelta(seconds=pause)
    _finish(mark, {"next_at": next_at}, always=unchanged if problem.status == CONFLICT else {})
    if problem.status == CONFLICT:  # it has a mark of this second or a later one; the stamp grows with the next try
        _follow_clock(mark, problem.headers.get("Date", ""))
        return State.WAITING
    # The other marks of the column wait too, else each would wait for a silent platform.
    others = PlatformMark.objects.filter(has_no_lease(), link=link, state=State.WAITING)
    others.filter(next_at__lt=next_at).update(next_at=next_at)
    return SILENT


def _follow_clock(mark: PlatformMark, date: str) -> None:
    """Never send a time that the platform's own clock has passed by more than it allows: its clock may be ahead."""
    try:
        theirs = int(parsedate_to_datetime(date).timestamp())
    except (ValueError, TypeError, OverflowError):
        return
    if mark.last_stamp < theirs < mark.last_stamp + 86_400:
        PlatformMark.objects.filter(pk=mark.pk, last_stamp__lt=theirs).update(last_stamp=theirs)


def _body_of(mark: PlatformMark) -> dict[str, Any]:
    stamp = datetime.fromtimestamp(mark.last_stamp, UTC).strftime("%Y-%m-%dT%H:%M:%S+00:00")
    body = {"userId": mark.subject, "timestamp": stamp}
    if mark.points is None:
        return {**body, "activityProgress": "Initialized", "gradingProgress": "NotReady"}
    maximum = whole_maximum(mark.out_of)
    points = mark.points if maximum == mark.out_of else mark.points * maximum / mark.out_of
    given = {"scoreGiven": round(points, 9), "scoreMaximum": maximum, "comment": mark.comment}
    return {**body, **given, "activityProgress": "Completed", "gradingProgress": "FullyGraded"}
