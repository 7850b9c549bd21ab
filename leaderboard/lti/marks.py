"""Marks in the columns of platforms: wanted by a release of grades in its transaction, sent by a task.

A mark is sent once and in order: the time sent with it is whole seconds, later than the last one, and stored before the
request. A lost answer repeats one mark; equal marks are never sent again, because Canvas adds a comment with each.
"""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from django.db import transaction
from django.db.models import F, Max
from django.db.models.functions import Now
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from leaderboard.classroom.models import RosterEntry
from leaderboard.common.claims import Claim, claim_key, claim_rows, has_no_lease
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.competitions.models import Competition
from leaderboard.competitions.wake_ups import wake_workers_after_commit

from .addresses import is_usable_address
from .models import LtiLink, LtiPerson, PlatformMark, Seat
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

SEND_MARKS = "leaderboard.lti.tasks.send_marks"
MAX_COMMENT = 1000
GIVE_UP_AFTER = timedelta(hours=24)
MAX_PAUSE_SECONDS = 300.0
TURN_MARKS, TURN_SECONDS = 50, 20.0
# All requests for one mark together.
MARK_SECONDS = 10.0
SILENT = "silent"
FINAL = (400, 403, 404, 405, 415, 422)
CONFLICT = 409

NO_COLUMN = gettext_noop("The platform has no grade column for this activity, and lets us make none.")
NOT_TAKEN = gettext_noop("The platform refused the mark.")
NOT_ALLOWED = gettext_noop("The platform doesn't allow this site to write marks.")
NO_PERSON = gettext_noop("The platform doesn't know this student in this course.")
NO_ANSWER = gettext_noop("The platform gave no usable answer for a day.")


# --- wanting marks, in the transaction of a release -------------------------------------------------------------


@dataclass(frozen=True)
class WantedMark:
    """One student's released points; None takes a mark back. `comment` is plain text."""

    user_id: int
    points: float | None
    comment: str = ""


def want_marks(*, competition: Competition, marks: list[WantedMark], out_of: float) -> None:
    """Write the marks that differ from those sent last. Call it in the transaction of the release."""
    targets = _targets_of(competition, {mark.user_id for mark in marks})
    links = {link.pk for link, _subject in targets.values()}
    stored = {
        (one.link_id, one.user_id): one for one in PlatformMark.objects.select_for_update().filter(link__in=links)
    }
    # Two activities may share a column, so a student's times grow over all of their marks in the competition.
    sent = PlatformMark.objects.filter(link__competition=competition, user__in=targets).order_by()
    latest = dict(sent.values_list("user_id").annotate(Max("last_stamp")))
    new, changed, now = list[PlatformMark](), list[PlatformMark](), database_now()
    for wanted in marks:
        if wanted.user_id not in targets:
            continue
        link, subject = targets[wanted.user_id]
        mark = stored.get((link.pk, wanted.user_id))
        if mark is None and wanted.points is None:
            continue
        if mark is None:
            mark = PlatformMark(link=link, user_id=wanted.user_id, number=0)
            new.append(mark)
        elif _is_settled(mark, wanted, out_of):
            continue
        else:
            changed.append(mark)
        was_never_tried = mark.state == PlatformMark.State.WAITING and not mark.tries and mark.claim is None
        mark.subject, mark.points, mark.out_of = subject, wanted.points, out_of
        mark.comment = wanted.comment[:MAX_COMMENT]
        mark.number, mark.state, mark.tries, mark.problem = mark.number + 1, PlatformMark.State.WAITING, 0, ""
        if was_never_tried and _is_sent(mark):  # back to what the platform has
            mark.state = PlatformMark.State.SENT
        mark.wanted_at = mark.next_at = now
        mark.last_stamp = max(mark.last_stamp, latest.get(wanted.user_id, 0))
    fields = [
        "last_stamp",
        "subject",
        "points",
        "out_of",
        "comment",
        "number",
        "state",
        "tries",
        "problem",
        "wanted_at",
        "next_at",
    ]
    PlatformMark.objects.bulk_create(new, batch_size=500)
    PlatformMark.objects.bulk_update(changed, fields, batch_size=200)
    for link_id in links | _take_back_elsewhere(competition, targets):
        wake_workers_after_commit(SEND_MARKS, link_id)


def take_back_marks(*, competition: Competition) -> None:
    """Take all marks of a competition back."""
    users = set(PlatformMark.objects.filter(link__competition=competition).values_list("user_id", flat=True))
    want_marks(competition=competition, marks=[WantedMark(user, None) for user in users], out_of=1.0)


def _is_settled(mark: PlatformMark, wanted: WantedMark, out_of: float) -> bool:
    """Whether the platform has this mark already, or it waits for its turn."""
    if wanted.points is None and mark.points is None:
        return mark.state in (PlatformMark.State.CLEARED, PlatformMark.State.WAITING)
    same = (wanted.points, wanted.comment[:MAX_COMMENT]) == (mark.points, mark.comment) and mark.out_of == out_of
    return same and mark.state in (PlatformMark.State.SENT, PlatformMark.State.WAITING)


def _is_sent(mark: PlatformMark) -> bool:
    sent = mark.sent_at is not None and mark.sent_points is not None
    return sent and (mark.points, mark.comment, mark.out_of) == (mark.sent_points, mark.sent_comment, mark.sent_out_of)


def _targets_of(competition: Competition, users: set[int]) -> dict[int, tuple[LtiLink, str]]:
    """User → their link, and the platform's name of them; without those whom no platform knows."""
    links = [
        link
        for link in LtiLink.objects.filter(competition=competition).select_related("deployment__platform")
        if link.platform.is_on and (link.lineitems_url or link.claimed_lineitem or link.lineitem)
    ]
    by_number, found = {link.pk: link for link in links}, dict[int, tuple[LtiLink, str]]()
    seats = dict(Seat.objects.filter(competition=competition).values_list("user_id", "link_id"))
    subjects = _subjects_of(links, users)
    listed = RosterEntry.objects.filter(course=competition.course_id, user__in=users).exclude(lms_user="")
    names = dict(listed.values_list("user_id", "lms_user"))
    for user in users:
        link = by_number.get(seats.get(user, 0)) or next(
            (one for one in links if names.get(user, "").startswith(f"{one.platform.pk}:")), None
        )
        if link is None:
            continue
        subject = subjects.get((link.platform.pk, user)) or names.get(user, "").partition(":")[2]
        if subject:
            found[user] = link, subject
    return found


def _subjects_of(links: list[LtiLink], users: set[int]) -> dict[tuple[int, int], str]:
    platforms = {link.platform.pk for link in links}
    rows = LtiPerson.objects.filter(platform__in=platforms, user__in=users).order_by("linked_at")
    return {(platform, user): subject for platform, user, subject in rows.values_list("platform", "user", "subject")}


def _take_back_elsewhere(competition: Competition, targets: dict[int, tuple[LtiLink, str]]) -> set[int]:
    """Take marks back from columns of courses that their students have left for another one; returns these links."""
    marks = PlatformMark.objects.filter(link__competition=competition, user__in=targets).exclude(points=None)
    left = {mark.pk: mark.link_id for mark in marks if mark.link_id != targets[mark.user_id][0].pk}
    again = {"state": PlatformMark.State.WAITING, "problem": "", "tries": 0, "wanted_at": Now(), "next_at": Now()}
    PlatformMark.objects.filter(pk__in=left).update(points=None, comment="", number=F("number") + 1, **again)
    return set(left.values())


def send_again(*, link: LtiLink) -> int:
    """Send the refused and stuck marks of a column again; returns how many."""
    again = PlatformMark.objects.filter(link=link, state__in=[PlatformMark.State.REFUSED, PlatformMark.State.STUCK])
    number = again.update(state=PlatformMark.State.WAITING, tries=0, problem="", wanted_at=Now(), next_at=Now())
    if number:
        LtiLink.objects.filter(pk=link.pk).update(lineitem="", out_of=None)
        wake_workers_after_commit(SEND_MARKS, link.pk)
    return number


# --- sending, by a task -----------------------------------------------------------------------------------------


def links_with_due_marks() -> list[int]:
    due = PlatformMark.objects.filter(has_no_lease(), state=PlatformMark.State.WAITING, next_at__lte=Now())
    due = due.filter(link__deployment__platform__off_at=None)
    return list(due.order_by().values_list("link", flat=True).distinct()[:20])


def send_marks(link_id: int, wake_up_id: str) -> bool:
    """Send due marks of a column, one after the other; returns whether some remain.

    Other platforms wait meanwhile, so a turn ends after `TURN_MARKS` or `TURN_SECONDS`.
    """
    link = LtiLink.objects.select_related("deployment__platform", "competition").filter(pk=link_id).first()
    if link is None or not link.platform.is_on:
        return False
    sent, ends_at = Counter[str](), time.monotonic() + TURN_SECONDS
    for turn in range(TURN_MARKS):
        mark = _claim_next(link, claim_key(wake_up_id, turn + 1))
        if mark is None:
            break
        outcome = _send_mark(mark, link)
        sent[outcome] += 1
        if outcome == SILENT or time.monotonic() > ends_at:
            break
    _note_result(link, sent)
    return PlatformMark.objects.filter(
        has_no_lease(), link=link, state=PlatformMark.State.WAITING, next_at__lte=Now()
    ).exists()


def _claim_next(link: LtiLink, key: Any) -> PlatformMark | None:
    """Claim the next due mark, and store the time that is sent with it; None when none is due."""
    due = PlatformMark.objects.filter(has_no_lease(), link=link, state=PlatformMark.State.WAITING, next_at__lte=Now())
    for mark in due.order_by("next_at", "pk")[:5]:
        stamp = max(int(database_now().timestamp()), mark.last_stamp + 1)
        same = PlatformMark.objects.filter(pk=mark.pk, number=mark.number, last_stamp=mark.last_stamp, tries=mark.tries)
        if claim_rows(same, key, last_stamp=stamp):
            return PlatformMark.objects.get(pk=mark.pk)
    return None


def _send_mark(mark: PlatformMark, link: LtiLink) -> str:
    """Send one claimed mark, and note the result; returns its new state."""
    scope, was_known = f"{LINEITEM_SCOPE} {SCORE_SCOPE}", bool(link.lineitem)
    try:
        with PlatformClient(link.platform, scope, seconds=MARK_SECONDS) as client:
            column = _column_of(link, client, mark.out_of)
            if not _is_replaced(mark, column):
                response = client.send("POST", _scores_url(column), body=_body_of(mark), content_type=SCORE_TYPE)
                _follow_clock(mark, response.headers.get("Date", ""))
    except PlatformProblem as problem:
        if problem.status == 404 and was_known:  # the column was deleted there: find or make it anew with the next try
            link.lineitem = ""
            _finish(mark, {"next_at": Now()})
            return PlatformMark.State.WAITING
        return _note_failure(mark, link, problem)
    state = PlatformMark.State.CLEARED if mark.points is None else PlatformMark.State.SENT
    sent = {
        "sent_points": mark.points,
        "sent_comment": mark.comment,
        "sent_out_of": mark.out_of,
        "sent_at": Now(),
    }
    _finish(mark, {"state": state, "problem": "", "tries": 0}, always=sent)
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
            newest = changes if current == mark.number else {}
            claim.finish(**(always or {}), **newest)


def _note_failure(mark: PlatformMark, link: LtiLink, problem: PlatformProblem) -> str:
    now = database_now()
    if problem.status in FINAL or str(problem) == "column":
        text = NOT_ALLOWED if problem.status == 403 else NO_PERSON if problem.status == 422 else NOT_TAKEN
        text = {"column": NO_COLUMN, "token": NOT_ALLOWED}.get(str(problem), text)
        _finish(mark, {"state": PlatformMark.State.REFUSED, "problem": text})
        return PlatformMark.State.REFUSED
    if now - mark.wanted_at > GIVE_UP_AFTER:
        _finish(mark, {"state": PlatformMark.State.STUCK, "problem": NO_ANSWER})
        return PlatformMark.State.STUCK
    pause = max(min(2.0 ** min(mark.tries - 1, 9), MAX_PAUSE_SECONDS), min(problem.retry_after, 3600.0))
    next_at = now + timedelta(seconds=pause)
    _finish(mark, {"next_at": next_at})
    if problem.status == CONFLICT:  # it has a mark of this second or a later one; the stamp grows with the next try
        _follow_clock(mark, problem.headers.get("Date", ""))
        return PlatformMark.State.WAITING
    # The other marks of the column wait too, else each would wait for a silent platform.
    others = PlatformMark.objects.filter(has_no_lease(), link=link, state=PlatformMark.State.WAITING)
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


def _scores_url(lineitem: str) -> str:
    parts = urlsplit(lineitem)
    return parts._replace(path=f"{parts.path.rstrip('/')}/scores").geturl()


def _body_of(mark: PlatformMark) -> str:
    stamp = datetime.fromtimestamp(mark.last_stamp, UTC).strftime("%Y-%m-%dT%H:%M:%S+00:00")
    body: dict[str, Any] = {"userId": mark.subject, "timestamp": stamp}
    if mark.points is None:
        return json.dumps({**body, "activityProgress": "Initialized", "gradingProgress": "NotReady"})
    maximum = whole_maximum(mark.out_of)
    points = mark.points if maximum == mark.out_of else mark.points * maximum / mark.out_of
    body |= {"scoreGiven": round(points, 9), "scoreMaximum": maximum, "comment": mark.comment}
    return json.dumps({**body, "activityProgress": "Completed", "gradingProgress": "FullyGraded"})


def whole_maximum(out_of: float) -> float:
    """The maximum that is sent: the points themselves if they are whole, else 100, because Open edX takes whole ones
    only."""
    return out_of if math.isfinite(out_of) and out_of == int(out_of) and out_of >= 1 else 100.0


# --- the column -------------------------------------------------------------------------------------------------


def _column_of(link: LtiLink, client: PlatformClient, out_of: float) -> str:
    """The address of the activity's column: known, claimed by the launch, found by our name, or made.

    Raises `PlatformProblem`.
    """
    if link.lineitem:
        if link.is_own_column and link.out_of != whole_maximum(out_of):
            _save_column(link, client, out_of)
        return link.lineitem
    found = _claimed_column(link, client) or _named_column(link, client)
    link.is_own_column = not found
    link.lineitem = found or _make_column(link, client, out_of)
    link.out_of = whole_maximum(out_of) if link.is_own_column else None
    facts = {"lineitem": link.lineitem, "is_own_column": link.is_own_column, "out_of": link.out_of}
    LtiLink.objects.filter(pk=link.pk).update(**facts)
    return link.lineitem


def _claimed_column(link: LtiLink, client: PlatformClient) -> str:
    """The column that the launch named, if it belongs to this activity: Open edX names the first one of a block,
    whatever was launched (openedx/xblock-lti-consumer#707)."""
    if not link.claimed_lineitem:
        return ""
    try:
        found = json_of(client.send("GET", link.claimed_lineitem, accept=LINEITEM_TYPE))
    except PlatformProblem as problem:
        if problem.status in (401, 403, 404, 405):
            return ""
        raise
    named = found.get("resourceLinkId") if isinstance(found, dict) else None
    return link.claimed_lineitem if named in (link.resource, None, "") else ""


def _named_column(link: LtiLink, client: PlatformClient) -> str:
    if not link.lineitems_url:
        return ""
    between = "&" if "?" in link.lineitems_url else "?"
    address = f"{link.lineitems_url}{between}{urlencode({'resource_id': _resource_id(link)}, quote_via=quote)}"
    for page in client.pages(address, LINEITEMS_TYPE):
        for one in page if isinstance(page, list) else []:
            is_ours = isinstance(one, dict) and one.get("resourceId") == _resource_id(link)
            if is_ours and one.get("resourceLinkId") in (None, "", link.resource) and is_usable_address(one.get("id")):
                return str(one["id"])
    return ""


def _resource_id(link: LtiLink) -> str:
    return f"competition-{link.competition_id}"


def _make_column(link: LtiLink, client: PlatformClient, out_of: float) -> str:
    if not link.lineitems_url:
        raise PlatformProblem("column")
    assert link.competition is not None, "marks are wanted of connected activities only"
    body = {
        "label": link.competition.title,
        "scoreMaximum": whole_maximum(out_of),
        "resourceId": _resource_id(link),
        "resourceLinkId": link.resource,
    }
    try:
        made = client.send(
            "POST", link.lineitems_url, accept=LINEITEM_TYPE, body=json.dumps(body), content_type=LINEITEM_TYPE
        )
    except PlatformProblem as problem:
        raise PlatformProblem("column") if problem.status in FINAL else problem from None
    found = json_of(made)
    if not isinstance(found, dict) or not is_usable_address(found.get("id")):
        raise PlatformProblem("column")
    return str(found["id"])


def _save_column(link: LtiLink, client: PlatformClient, out_of: float) -> None:
    """Write the maximum of a column that this site made."""
    assert link.competition is not None, "marks are wanted of connected activities only"
    body = {"id": link.lineitem, "label": link.competition.title, "scoreMaximum": whole_maximum(out_of)}
    body |= {"resourceId": _resource_id(link), "resourceLinkId": link.resource}
    client.send("PUT", link.lineitem, accept=LINEITEM_TYPE, body=json.dumps(body), content_type=LINEITEM_TYPE)
    link.out_of = whole_maximum(out_of)
    LtiLink.objects.filter(pk=link.pk).update(out_of=link.out_of)


# --- what the host reads ----------------------------------------------------------------------------------------


def _note_result(link: LtiLink, sent: Counter[str]) -> None:
    """An entry in the audit log for each turn in which something was sent or refused."""
    after = {str(state): number for state, number in sent.items() if state not in (PlatformMark.State.WAITING, SILENT)}
    if after and link.competition is not None:
        with transaction.atomic():
            AuditEntry.append(
                AuditEvent.MARKS_SENT, user=None, competition=link.competition, about=str(link), after=after
            )


@dataclass(frozen=True)
class ColumnState:
    """How many marks of a column are sent, wait, or were refused, and why."""

    link: LtiLink
    sent: int
    waiting: int
    refused: int
    problems: list[str]


def column_states(competition: Competition) -> list[ColumnState]:
    links = LtiLink.objects.filter(competition=competition).select_related("deployment__platform")
    found = []
    for link in links:
        counts, problems = Counter[str](), Counter[str]()
        for state, problem in link.marks.values_list("state", "problem"):
            counts[state] += 1
            if problem:
                problems[problem] += 1
        failed = counts[PlatformMark.State.REFUSED] + counts[PlatformMark.State.STUCK]
        done = counts[PlatformMark.State.SENT] + counts[PlatformMark.State.CLEARED]
        found.append(ColumnState(link, done, counts[PlatformMark.State.WAITING], failed, [_(one) for one in problems]))
    return found


def unknown_students(competition: Competition, users: set[int]) -> int:
    """The number of graded students whom no connected platform knows."""
    return len(users) - len(_targets_of(competition, users)) if users else 0
