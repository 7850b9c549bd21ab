"""Marks wanted in the columns of platforms: by a release of grades, in its transaction. `sending.py` sends them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from django.db import transaction
from django.db.models import Count
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import gettext as _

from leaderboard.classroom.models import RosterEntry
from leaderboard.common.clock import database_now
from leaderboard.common.hooks import on
from leaderboard.common.queries import locked_by_key
from leaderboard.competitions.models import Competition
from leaderboard.competitions.wake_ups import wake_workers_after_commit
from leaderboard.grades import hooks
from leaderboard.grades.hooks import GradeColumn, GradeColumns
from leaderboard.grades.models import GradeRelease
from leaderboard.grades.reasons import Reason
from leaderboard.grades.rules import GradeRules

from .launching import ASK_PLATFORMS
from .models import LtiLink, PlatformMark, Seat

MAX_COMMENT = 1000
CHANGED = ["subject", "points", "comment", "out_of", "number", "state", "tries", "problem"]
TIMES = ["wanted_at", "next_at", "last_stamp"]
State = PlatformMark.State


@on(hooks.released)
def want_released_marks(*, release: GradeRelease) -> None:
    """Want the points of a release in the columns, and no mark of students who have none in it."""
    competition = release.competition
    if competition is None or not competition.lti_links.exists():
        return
    marks = _no_marks(competition)
    for grade in release.grades.all():
        marks[grade.user_id] = grade.points, " ".join(str(Reason.from_json(reason)) for reason in grade.reasons)
    want_marks(competition=competition, marks=marks, out_of=float(GradeRules.from_values(release.rules).out_of))


@on(hooks.withdrawn)
def take_marks_back(*, release: GradeRelease) -> None:
    if competition := release.competition:
        want_marks(competition=competition, marks=_no_marks(competition), out_of=1.0)


def _no_marks(competition: Competition) -> dict[int, tuple[float | None, str]]:
    """A wish to take back each mark that somebody has in a column."""
    marked = PlatformMark.objects.filter(link__competition=competition).values_list("user", flat=True)
    return {user: (None, "") for user in marked}


def want_marks(*, competition: Competition, marks: Mapping[int, tuple[float | None, str]], out_of: float) -> None:
    """Write the marks (user → points and comment; None takes a mark back) that differ from what a platform has.

    Call it in the transaction of the release. Marks in columns of courses that a student has left are taken back.
    """
    seats, rows = _seats_of(competition, marks), defaultdict[int, list[PlatformMark]](list)
    stored = PlatformMark.objects.select_for_update(of=("self",)).filter(link__competition=competition, user__in=marks)
    for row in stored.order_by("pk"):
        rows[row.user_id].append(row)
    changed, now = list[PlatformMark](), database_now()
    for user, (points, comment) in marks.items():
        seat = seats.get(user)
        if seat and points is not None and all(row.link_id != seat.link_id for row in rows[user]):
            rows[user].append(PlatformMark(link_id=seat.link_id, user_id=user, number=0))
        # Two activities may share a column, so a student's times grow over all of their marks in the competition.
        stamp = max((row.last_stamp for row in rows[user]), default=0)
        for row in rows[user]:
            is_left = seat is not None and row.link_id != seat.link_id
            if _want(row, None if is_left else points, "" if is_left else comment[:MAX_COMMENT], out_of):
                row.subject = seat.subject if seat and not is_left else row.subject
                row.last_stamp, row.wanted_at, row.next_at = stamp, now, now
                changed.append(row)
    PlatformMark.objects.bulk_create([row for row in changed if row.pk is None], batch_size=500)
    PlatformMark.objects.bulk_update([row for row in changed if row.number > 1], [*CHANGED, *TIMES], batch_size=200)
    if changed:
        wake_workers_after_commit(ASK_PLATFORMS)


def _want(mark: PlatformMark, points: float | None, comment: str, out_of: float) -> bool:
    """Change what is wanted; False if the platform has it already, or it waits for its turn."""
    wanted = (points, comment, out_of) if points is not None else (None, mark.comment, mark.out_of)
    is_settled = mark.state in (State.SENT, State.CLEARED, State.WAITING)
    if is_settled and wanted == (mark.points, mark.comment, mark.out_of):
        return False
    mark.points, mark.comment, mark.out_of = wanted
    mark.number, mark.tries, mark.problem, mark.state = mark.number + 1, 0, "", State.WAITING
    if mark.is_in_platform:  # changed and changed back before it was sent
        mark.state = State.CLEARED if points is None else State.SENT
    return True


def _seats_of(competition: Competition, users: Mapping[int, object] | set[int]) -> dict[int, Seat]:
    """User → the column for their mark and their subject at the platform; people unknown to platforms are left out."""
    links = {
        link.pk: link
        for link in LtiLink.objects.filter(competition=competition).select_related("deployment")
        if link.lineitems_url or link.claimed_lineitem or link.lineitem
    }
    seats = {seat.user_id: seat for seat in Seat.objects.filter(link__in=links, user__in=users)}
    listed = RosterEntry.objects.filter(course=competition.course_id, user__in=set(users) - set(seats))
    for user, name in listed.exclude(lms_user="").values_list("user", "lms_user"):
        platform, _colon, subject = name.partition(":")
        link = next((link for link in links.values() if str(link.deployment.platform_id) == platform), None)
        if link is not None and user is not None:
            seats[user] = Seat(link=link, user_id=user, subject=subject)
    return seats


@transaction.atomic
def send_again(*, link: LtiLink) -> int:
    """Send the refused and stuck marks of a column again; returns how many."""
    again = PlatformMark.objects.filter(link=link, state__in=[State.REFUSED, State.STUCK])
    number = locked_by_key(again).update(state=State.WAITING, tries=0, problem="", wanted_at=Now(), next_at=Now())
    if number:
        LtiLink.objects.filter(pk=link.pk).update(lineitem="", out_of=None)
        wake_workers_after_commit(ASK_PLATFORMS)
    return number


@on(hooks.grade_columns)
def grade_columns(*, competition: Competition, release: GradeRelease | None) -> GradeColumns | None:
    """How many marks of each column are sent, wait, or were refused, and why."""
    links = LtiLink.objects.filter(competition=competition).select_related("deployment__platform")
    if not links:
        return None
    graded = release.grades.exclude(points=None).values_list("user", flat=True) if release else []
    missing = set(graded) - set(_seats_of(competition, set(graded)))
    return GradeColumns([_column_state(link, competition) for link in links], len(missing))


def _column_state(link: LtiLink, competition: Competition) -> GradeColumn:
    counts, problems = Counter[str](), set[str]()
    for state, problem, number in link.marks.order_by().values_list("state", "problem").annotate(Count("pk")):
        counts[state] += number
        problems |= {_(problem)} if problem else set()
    if counts[State.WAITING] and not link.platform.is_on:
        problems.add(_("The platform is switched off."))
    return GradeColumn(
        f"{link.platform} · {link}",
        sent=counts[State.SENT] + counts[State.CLEARED],
        waiting=counts[State.WAITING],
        refused=counts[State.REFUSED] + counts[State.STUCK],
        problems=sorted(problems),
        address=reverse("host_send_again", args=[competition.slug, link.pk]),
    )
