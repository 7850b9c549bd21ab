"""The home page: an introduction for visitors; for accounts their competitions, and tasks for hosts. The page of a
course, with the same lists."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.contrib import messages
from django.db.models import Count, Exists, OuterRef, Q
from django.db.models.functions import TruncDate
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from leaderboard.accounts.models import User
from leaderboard.boards import queries as boards
from leaderboard.boards import team_ranks
from leaderboard.boards.rows import Placing
from leaderboard.classroom import courses
from leaderboard.common import folders
from leaderboard.common.access import SiteAudience, open_page_to
from leaderboard.common.charts import small_bars
from leaderboard.common.queries import count_rows, only_row
from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.competitions.course_access import CourseAudience, CourseContext, open_course_to
from leaderboard.competitions.models import Competition, Course, Membership, Submission, Team
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.services import CannotHost
from leaderboard.grades.models import Grade, GradeRelease, SavedRules
from leaderboard.grades.rules import CourseScheme
from leaderboard.grades.services import released_grades
from leaderboard.notifications.queries import latest_notices
from leaderboard.submissions import allowances

HERO_ROWS = 5
OPEN_SHOWN = 3
MOVEMENTS_SHOWN = 2
ACTIVITY_DAYS = 14
HOSTED_SHOWN = 12
CLOSES_SOON = timedelta(days=4)


@open_page_to(SiteAudience.ANYONE)
def home(request: HttpRequest) -> HttpResponse:
    at = timezone.now()
    if request.user.is_anonymous:
        return render(request, "site/home_visitor.html", _visitor_context(at))
    user = signed_in_user(request.user)
    teams = my_teams(user, at)
    hosted = hosted_competitions(user, at)
    joined = {one.competition.pk for one in teams} | {one.competition.pk for one in hosted}
    enterable, listed = _open_to(user, at, joined)
    context = {
        "running": _under_courses(_with_movement([one for one in teams if one.is_running]), teams),
        "enterable": enterable,
        "over": [one for one in reversed(teams) if not one.is_running],
        "hosted": _under_courses(hosted, hosted)[:HOSTED_SHOWN],
        "news": latest_notices(user, at),
        "tasks": [task for one in hosted for task in one.tasks],
        "open": [(one, one.state(at)) for one in listed[:OPEN_SHOWN]],
    }
    return render(request, "site/home.html", context)


Shown = TypeVar("Shown", "MyTeam", "HostedCompetition")


def _under_courses(shown: Sequence[Shown], all_of_person: Sequence[Shown]) -> list[Shown]:
    """The competitions of courses of which a person has several, under their course; before them the others."""
    counts = Counter(one.competition.course_id for one in all_of_person)
    grouped: dict[int, list[Shown]] = defaultdict(list)
    for one in shown:
        grouped[one.competition.course_id if counts[one.competition.course_id] > 1 else 0].append(one)
    ordered = list(grouped.pop(0, []))
    for first, *rest in grouped.values():
        ordered += [replace(first, heading=first.competition.course), *rest]
    return ordered


# --- visitors ---------------------------------------------------------------------------------------------------


def _open(at: datetime) -> Any:
    """Competitions that can be joined, nearest deadline first."""
    found = Competition.objects.outside_bin().filter(
        launched_at__isnull=False, closes_at__gt=at, archive__archived_at=None
    )
    return found.select_related("ground_truth", "limits").order_by("closes_at", "slug")


def _open_to(user: User, at: datetime, joined: Collection[int]) -> tuple[list[Any], list[Any]]:
    """(competitions that a person enters from a class list, listed ones that are open to everybody); one query."""
    found = _open(at).exclude(pk__in=joined).annotate(is_mine=courses.is_on_list(user))
    found = found.filter(Q(is_mine=True) | Q(admission__is_listed=True)).order_by("-is_mine", "closes_at", "slug")
    shown = list(found[: HOSTED_SHOWN + OPEN_SHOWN])
    return [one for one in shown if one.is_mine], [one for one in shown if not one.is_mine]


def _visitor_context(at: datetime) -> dict[str, Any]:
    listed = list(_open(at).filter(admission__is_listed=True)[: 4 * OPEN_SHOWN])
    live = [one for one in listed if one.opens_at <= at and one.ground_truth is not None and not one.board_is_hidden]
    shown = next((one for one in live if one.is_demo), live[0] if live else None)
    board = boards.board_page(shown, Split.PUBLIC, at=at) if shown else None
    rows = [row for row in board.rows if not row.is_baseline][:HERO_ROWS] if board else []
    is_new = not listed and not User.objects.exists()
    return {
        "shown": shown if rows else None,
        "rows": rows,
        "total": board.total if board else 0,
        "open": [(one, one.state(at)) for one in listed[:OPEN_SHOWN]],
        "is_new": is_new,
        "command": folders.COMMAND,
    }


# --- students ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MyTeam:
    """One team of the viewer, with the names of its other members."""

    membership: Membership
    placing: Placing | None
    allowance: allowances.AttemptAllowance
    mates: list[str]
    at: datetime
    moved: int = 0
    """Ranks gained since yesterday; negative when lost."""
    heading: Course | None = None
    """The course of this competition and the following ones, where a person has several of it."""

    @property
    def competition(self) -> Competition:
        return self.membership.competition

    @property
    def state(self) -> str:
        """The competition's state as in `PageContext.state`."""
        state = self.competition.state(self.at)
        if state in ("closed", "revealed") and self.at < self.allowance.closes_at:
            return "live"
        return "closed" if state == "revealed" and self.membership.team.is_awaited else state

    @property
    def is_running(self) -> bool:
        return self.state in ("live", "upcoming")

    @property
    def may_submit(self) -> bool:
        is_out = self.membership.team.disqualified_at is not None
        return self.state == "live" and not is_out and self.competition.limits.paused_at is None

    @property
    def passed(self) -> float:
        """The share of the team's time that has passed, 0–1."""
        whole = self.allowance.closes_at - self.competition.opens_at
        return round(min(1.0, max(0.0, (self.at - self.competition.opens_at) / whole)), 3)


def my_teams(user: User, at: datetime) -> list[MyTeam]:
    """The teams of a person, nearest deadline first."""
    related = ("competition__ground_truth", "competition__board", "competition__limits")
    found = Membership.objects.filter(
        user=user, competition__launched_at__isnull=False, competition__archive__binned_at=None
    )
    held = list(found.select_related("team", *related))
    if not held:
        return []
    teams = {one.team_id: one.competition for one in held}
    placings = team_ranks.placings_now({one.team: one.competition for one in held}, at)
    allowed = allowances.allowances_of_teams(teams, at)
    mates: dict[int, list[str]] = defaultdict(list)
    others = Membership.objects.filter(team__in=list(teams)).exclude(user=user)
    for team_id, name in others.values_list("team_id", "user__username"):
        mates[team_id].append(name)
    return [
        MyTeam(one, placings.get(one.team_id), allowed[one.team_id], mates[one.team_id], at)
        for one in sorted(held, key=lambda one: allowed[one.team_id].closes_at)
    ]


def _with_movement(teams: list[MyTeam]) -> list[MyTeam]:
    """The teams, the first `MOVEMENTS_SHOWN` with ranks gained since yesterday, which cost a query each."""
    return [
        replace(one, moved=_ranks_gained(one)) if place < MOVEMENTS_SHOWN else one for place, one in enumerate(teams)
    ]


def _ranks_gained(one: MyTeam) -> int:
    ground_truth = one.competition.ground_truth
    if one.placing is None or ground_truth is None or one.state != "live":
        return 0
    earlier = boards.earlier_ranks(ground_truth, one.at).get(one.membership.team_id)
    return earlier - one.placing.rank if earlier else 0


# --- hosts ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HostTask:
    """Something for a host to do: title, competition (`second`), and the button that leads there."""

    icon: str
    title: str
    second: str
    button: str
    address: str


@dataclass(frozen=True)
class HostedCompetition:
    """A competition that the viewer hosts or assists in, with its figures for the list."""

    competition: Competition
    state: str
    activity: Sequence[int]
    """Submissions on each of the last days, today last."""
    teams: int
    tasks: Sequence[HostTask]
    heading: Course | None = None
    """The course of this competition and the following ones, where a person has several of it."""

    @property
    def bars(self) -> SafeString:
        counts = ", ".join(map(str, self.activity))
        return small_bars(
            self.activity,
            _("Submissions on each of the last %(days)d days: %(counts)s") % {"days": ACTIVITY_DAYS, "counts": counts},
        )


def _tasks_of(competition: Any, state: str, at: datetime) -> list[HostTask]:
    """The tasks of a host now. The competition must be annotated with `failed_count` and `idle_count`."""

    def task(icon: str, title: str, button: str, page: str, query: str = "") -> HostTask:
        return HostTask(icon, title, competition.title, button, reverse(page, args=[competition.slug]) + query)

    found = []
    if competition.candidate_id is not None:
        found.append(task("target", _("Corrected answers are pending"), _("Review"), "host_truth"))
    if number := competition.failed_count:
        words = ngettext("%(number)s submission failed", "%(number)s submissions failed", number)
        found.append(task("alert", words % {"number": number}, _("View"), "host_submissions", "?status=failed"))
    if state == "draft":
        found.append(task("settings", _("Not launched yet"), _("Finish setup"), "host_setup"))
    elif state == "live" and competition.closes_at - at < CLOSES_SOON and (number := competition.idle_count):
        words = ngettext("%(number)s team has no valid submission", "%(number)s teams have no valid submission", number)
        found.append(task("people", words % {"number": number}, _("Remind them"), "host_announcements"))
    elif state == "closed":
        found.append(task("board", _("The final ranking is not open yet"), _("Review"), "host_reveal"))
    return found


def hosted_competitions(user: User, at: datetime, only: Collection[int] | None = None) -> list[HostedCompetition]:
    """The competitions that a person hosts or assists in, with figures and tasks; for operators also the demo.

    `only`: these competitions, which the person may see, also archived ones.
    """
    own = Q(hosts=user) | Q(assistants=user)
    if user.is_superuser:
        own |= Q(is_demo=True)
    mine = Competition.objects.outside_bin()
    mine = mine.filter(own, archive__archived_at=None) if only is None else mine.filter(pk__in=only)
    scored = Submission.objects.filter(team=OuterRef("pk"), status=Submission.Status.SCORED)
    idle = Team.objects.filter(competition=OuterRef("pk"), disqualified_at=None).filter(~Exists(scored))
    failed = Submission.objects.filter(competition=OuterRef("pk"), status=Submission.Status.FAILED)
    held = list(
        mine.distinct()
        .with_roles_of(user)
        .select_related("ground_truth", "limits")
        .annotate(
            team_count=count_rows(Team.objects.filter(competition=OuterRef("pk")), "competition"),
            idle_count=count_rows(idle, "competition"),
            failed_count=count_rows(failed, "competition"),
        )
        .order_by("-opens_at", "slug")
    )
    if not held:
        return []
    activity = _daily_submissions([one.pk for one in held], at)
    found = []
    for one in held:
        teams: int = getattr(one, "team_count", 0)
        state, is_host = one.state(at), getattr(one, "is_own", False) or user.is_superuser
        tasks = _tasks_of(one, state, at) if is_host else []
        found.append(HostedCompetition(one, state, activity[one.pk], teams, tasks))
    return found


def _daily_submissions(keys: Sequence[int], at: datetime) -> dict[int, list[int]]:
    """Competition → submissions of teams on each of the last days, today last."""
    days: dict[int, list[int]] = defaultdict(lambda: [0] * ACTIVITY_DAYS)
    first = at.date() - timedelta(days=ACTIVITY_DAYS - 1)
    since = at - timedelta(days=ACTIVITY_DAYS)
    files = Submission.objects.filter(competition__in=keys, received_at__gte=since).order_by()
    for key, day, number in (
        files.annotate(day=TruncDate("received_at")).values_list("competition", "day").annotate(number=Count("team"))
    ):
        place = (day - first).days
        if 0 <= place < ACTIVITY_DAYS:
            days[key][place] = number
    return days


# --- a course -----------------------------------------------------------------------------------------------------


@open_course_to(CourseAudience.MEMBERS)
def course(request: HttpRequest, course_context: CourseContext) -> HttpResponse:
    """The competitions of a course: for hosts and assistants all, for students the launched ones."""
    user, at = signed_in_user(course_context.user), course_context.at
    of_course = {one.pk for one in course_context.competitions}
    runs = {one.pk for one in course_context.run}
    teams = {one.competition.pk: one for one in my_teams(user, at)} if of_course - runs else {}
    grades = released_grades(user, of_course - runs)
    is_graded = GradeRelease.exists_for_students("course")
    rules = only_row(SavedRules.objects.filter(course=course_context.course).annotate(is_graded=is_graded))
    launched = [one for one in course_context.competitions if one.launched_at and one.pk not in runs]
    is_outside = any(one.pk not in teams for one in launched)
    enterable = {one.pk for one in courses.open_from_list(user, at)} if is_outside else set()
    context: dict[str, Any] = {
        "course": course_context.course,
        "hosted": hosted_competitions(user, at, runs) if runs else [],
        "is_host": course_context.admits(CourseAudience.HOSTS),
        "is_grader": course_context.admits(CourseAudience.GRADERS) and len(of_course) > 1,
        "newest": course_context.run[0] if runs else None,
        "slack": _slack_left(course_context, rules.values, grades) if launched and rules else None,
        "is_graded": rules is not None and rules.is_graded,
        "lines": [
            {
                "competition": one,
                "state": one.state(at),
                "team": teams.get(one.pk),
                "points": str(grades[one.pk]) if one.pk in grades else "",
                "enters_from_list": one.pk in enterable,
            }
            for one in launched
        ],
    }
    return render(request, "site/course.html", context)


def _slack_left(
    course_context: CourseContext, values: Mapping[str, Any], grades: Mapping[int, Grade]
) -> dict[str, Any] | None:
    """The late periods that the course leaves a student, and where released grades used some; None without such."""
    slack = CourseScheme.from_values(values).slack
    if slack is None:
        return None
    titles = {one.pk: one.title for one in course_context.competitions}
    used = [{"title": titles[pk], "number": grade.slack} for pk, grade in grades.items() if grade.slack]
    left = slack.periods - sum(grade.slack for grade in grades.values())
    return {"left": max(0, left), "periods": slack.periods, "used": used}


@open_course_to(CourseAudience.HOSTS)
def course_add(request: HttpRequest, course_context: CourseContext) -> HttpResponse:
    """Make a draft in the course, with the people and limits of its newest competition."""
    if request.method != "POST":
        return see_other("course", slug=course_context.course.slug)
    try:
        draft = courses.new_competition_in(course=course_context.course, user=signed_in_user(course_context.user))
    except CannotHost as error:
        messages.error(request, error.message)
        return see_other("course", slug=course_context.course.slug)
    messages.success(request, _("Hosts, assistants and limits are taken over. Add the files."))
    return see_other("host_setup", slug=draft.slug)
