"""Marks on their way to the columns of platforms, sent by a task.

A mark is sent once and in order: the time sent with it is whole seconds, later than the last one, and stored before the
request. A lost answer repeats one mark; equal marks are never sent again, because Canvas adds a comment with each.
"""

from __future__ import annotations

import math
import time
import uuid
from collections import Counter
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext_noop

from leaderboard.common.claims import Claim, claim_rows, has_no_lease, is_due
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.common.queries import locked_by_key

from .addresses import is_usable_address, object_of
from .models import LtiLink, PlatformMark
from .platform_services import (
    LINEITEM_SCOPE,
    LINEITEM_TYPE,
    LINEITEMS_TYPE,
    SCORE_SCOPE,
    SCORE_TYPE,
    PlatformClient,
    PlatformProblem,
    json_of,
)

GIVE_UP_AFTER = timedelta(hours=24)
MAX_PAUSE_SECONDS = 300.0
# If the platform asks for it.
MAX_ASKED_SECONDS = 3600.0
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
    longest = timedelta(seconds=2 * MAX_ASKED_SECONDS)
    return PlatformMark.objects.filter(has_no_lease(), is_due("next_at", longest), state=State.WAITING)


def links_with_due_marks() -> list[int]:
    due = due_marks().filter(link__deployment__platform__off_at=None)
    return list(due.order_by().values_list("link", flat=True).distinct()[:20])


def send_marks(link_id: int) -> None:
    """Send due marks of a column, one after the other."""
    link = LtiLink.objects.select_related("deployment__platform", "competition").filter(pk=link_id).first()
    if link is None or not link.platform.is_on:
        return
    outcomes, ends_at = Counter[str](), time.monotonic() + TURN_SECONDS
    for _turn in range(TURN_MARKS):
        mark = _claim_next(link)
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


def _claim_next(link: LtiLink) -> PlatformMark | None:
    """Claim the next due mark, and store the time that is sent with it; None when none is due.

    From now on it is not known what the platform has, which an empty `sent_out_of` says; the result keeps the old one.
    """
    for mark in due_marks().filter(link=link).order_by("next_at", "pk")[:5]:
        stamp = max(int(database_now().timestamp()), mark.last_stamp + 1)
        same = PlatformMark.objects.filter(pk=mark.pk, number=mark.number, last_stamp=mark.last_stamp, tries=mark.tries)
        if claim_rows(same, uuid.uuid4(), last_stamp=stamp, sent_out_of=None):
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
    pause = max(min(2.0 ** min(mark.tries - 1, 9), MAX_PAUSE_SECONDS), min(problem.retry_after, MAX_ASKED_SECONDS))
    next_at = now + timedelta(seconds=pause)
    _finish(mark, {"next_at": next_at}, always=unchanged if problem.status == CONFLICT else {})
    if problem.status == CONFLICT:  # it has a mark of this second or a later one; the stamp grows with the next try
        _follow_clock(mark, problem.headers.get("Date", ""))
        return State.WAITING
    # The other marks of the column wait too, else each would wait for a silent platform.
    others = PlatformMark.objects.filter(has_no_lease(), link=link, state=State.WAITING, next_at__lt=next_at)
    with transaction.atomic():
        locked_by_key(others).update(next_at=next_at)
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


# --- the column -------------------------------------------------------------------------------------------------


def whole_maximum(out_of: float) -> float:
    """The maximum that is sent: the points themselves if they are whole, else 100, because Open edX takes whole ones
    only."""
    return out_of if math.isfinite(out_of) and out_of == int(out_of) and out_of >= 1 else 100.0


def column_of(link: LtiLink, client: PlatformClient, out_of: float) -> str:
    """The address of the activity's column: known, claimed by the launch, found by our name, or made.

    The maximum of one that this site made follows `out_of`. Raises `PlatformProblem`, with the code "column" if the
    platform lets us have none.
    """
    maximum = whole_maximum(out_of)
    facts = {**_name_of(link), "label": str(link.competition), "scoreMaximum": maximum}
    if not link.lineitem:
        found = _claimed_column(link, client) or _named_column(link, client)
        column = found or _make_column(link, client, facts)
        _store(link, lineitem=column, is_own_column=not found, out_of=None if found else maximum)
    elif link.is_own_column and link.out_of != maximum:
        client.ask("PUT", link.lineitem, kind=LINEITEM_TYPE, body={**facts, "id": link.lineitem})
        _store(link, out_of=maximum)
    return link.lineitem


def _store(link: LtiLink, **facts: Any) -> None:
    LtiLink.objects.filter(pk=link.pk).update(**facts)
    for name, value in facts.items():
        setattr(link, name, value)


def _name_of(link: LtiLink) -> dict[str, str]:
    """Our name of the column and the platform's name of the activity."""
    return {"resourceId": f"competition-{link.competition_id}", "resourceLinkId": link.resource}


def _claimed_column(link: LtiLink, client: PlatformClient) -> str:
    """The column that the launch named, if it belongs to this activity: Open edX names the first one of a block,
    whatever was launched (openedx/xblock-lti-consumer#707)."""
    if not link.claimed_lineitem:
        return ""
    try:
        found = object_of(json_of(client.ask("GET", link.claimed_lineitem, kind=LINEITEM_TYPE)))
    except PlatformProblem as problem:
        if problem.status in (401, 403, 404, 405):
            return ""
        raise
    return link.claimed_lineitem if found.get("resourceLinkId") in (link.resource, None, "") else ""


def _named_column(link: LtiLink, client: PlatformClient) -> str:
    if not link.lineitems_url:
        return ""
    name, between = _name_of(link)["resourceId"], "&" if "?" in link.lineitems_url else "?"
    address = f"{link.lineitems_url}{between}{urlencode({'resource_id': name}, quote_via=quote)}"
    for page in client.pages(address, LINEITEMS_TYPE):
        for one in map(object_of, page if isinstance(page, list) else []):
            is_ours = one.get("resourceId") == name
            if is_ours and one.get("resourceLinkId") in (None, "", link.resource) and is_usable_address(one.get("id")):
                return str(one["id"])
    return ""


def _make_column(link: LtiLink, client: PlatformClient, facts: dict[str, Any]) -> str:
    try:
        made = client.ask("POST", link.lineitems_url, kind=LINEITEM_TYPE, body=facts) if link.lineitems_url else None
    except PlatformProblem as problem:
        raise PlatformProblem("column") if problem.is_final else problem from None
    address = object_of(json_of(made)).get("id") if made is not None else None
    if not is_usable_address(address):
        raise PlatformProblem("column")
    return str(address)
