"""A policy tried on a class: competitions, students and files are made from plain data and graded by the services.

The form of a case is in `docs/grading.md`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

from leaderboard.accounts.models import User
from leaderboard.boards.standings import rebuild_standings
from leaderboard.common.clock import database_now
from leaderboard.common.hooks import on
from leaderboard.competitions import hooks as competitions_hooks
from leaderboard.competitions.models import (
    Baseline,
    Competition,
    Course,
    Extension,
    GroundTruth,
    Membership,
    Score,
    Submission,
    Team,
)
from leaderboard.competitions.models.course import make_course
from leaderboard.competitions.services import create_competition

from .course_sheets import course_sheet
from .models import HandPoints, Override, owner_of
from .reading import BadRules, RuleFault
from .services import checked_rules, release_grades, set_grade_rules

FIRST_DEADLINE_DAYS_AGO = 200
# A file at the very deadline is in time.
BEFORE = timedelta(microseconds=1)
_attached: dict[int, set[int]] = {}


class BadCase(Exception):
    """A case that is not in the form of one."""


@on(competitions_hooks.attached_teams)
def attached_in_case(*, competition: Competition) -> set[int]:
    return _attached.get(competition.pk, set())


def marks_of_case(case: Mapping[str, Any]) -> dict[str, float | None]:
    """Student → the mark of the course (None: no mark). Raises `BadRules` and `BadCase`.

    Makes rows for everything: call it in a database, or a transaction, that is thrown away.
    """
    try:
        scheme, people = case["scheme"], case["class"]
        parts = [dict(part) for part in scheme["parts"]]
        rules = {part["competition"]: part.pop("rules") for part in parts}
        made = _CaseClass(people, [part["competition"] for part in parts])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadCase(f"{type(error).__name__}: {error}") from error
    all_rules: list[tuple[Competition | Course, Any]] = [(made.course, {**scheme, "parts": parts})]
    all_rules += [(competition, rules[slug]) for slug, competition in made.competitions.items() if slug in rules]
    _check_rules(all_rules)
    for graded, values in all_rules:
        set_grade_rules(graded=graded, values=values, user=made.host)
    for graded, _values in all_rules[1:]:
        release_grades(graded=graded, user=made.host)
    marks = {row.student.username: row.mark.points for row in course_sheet(made.course).rows}
    return {student: marks.get(student) for student in people["students"]}


def _check_rules(all_rules: Sequence[tuple[Competition | Course, Mapping[str, Any]]]) -> None:
    """Raise `BadRules` with the faults of all rules."""
    faults: list[RuleFault] = []
    for graded, values in all_rules:
        try:
            checked_rules(graded, values)
        except BadRules as error:
            name = "" if isinstance(graded, Course) else f"{graded.slug}: "
            faults += [RuleFault("", f"{name}{fault}") for fault in error.faults]
    if faults:
        raise BadRules(faults)


class _CaseClass:
    """The rows of a class: a course with its competitions, people, teams and files."""

    def __init__(self, people: Mapping[str, Any], first: Sequence[str]) -> None:
        self.numbers = count(1)
        self.now = database_now()
        self.host = User.objects.create(username="host-of-the-case", can_host=True)
        self.course = make_course("Case")
        students = [User(username=student) for student in people["students"]]
        User.objects.bulk_create(students)
        self.users = {user.username: user for user in User.objects.filter(username__in=people["students"])}
        self.baselines = {slug: facts.get("baselines", {}) for slug, facts in people["competitions"].items()}
        self.competitions: dict[str, Competition] = {}
        order = [slug for slug in first if slug in people["competitions"]]
        for slug in dict.fromkeys([*order, *people["competitions"]]):
            self._add_competition(slug, people, people["competitions"][slug])
        self._add_hand_points(people)
        for override in people.get("overrides", ()):
            owner = owner_of(self.competitions[override["competition"]] if "competition" in override else self.course)
            Override.objects.create(
                user=self.users[override["student"]], points=float(override["points"]), reason="case", **owner
            )

    def _add_competition(self, slug: str, people: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
        closes_at = self.now - timedelta(days=FIRST_DEADLINE_DAYS_AGO - len(self.competitions))
        competition = create_competition(
            user=self.host,
            course=self.course,
            slug=slug,
            title=slug,
            overview="-",
            opens_at=closes_at - timedelta(days=1000),
            closes_at=closes_at,
        )
        truth = GroundTruth.objects.create(
            competition=competition,
            number=1,
            metric="accuracy" if facts["higher"] else "error_rate",
            rows=2,
            public_rows=1,
            private_rows=1,
        )
        competition.launched_at = competition.revealed_at = self.now
        competition.ground_truth = truth
        competition.save()
        self.competitions[slug] = competition
        teams = self._add_teams(competition, people)
        self._add_files(competition, truth, teams, facts)
        _attached[competition.pk] = {teams[name].pk for name in people.get("attached", ()) if name in teams}
        if (name := facts.get("disqualified")) in teams:
            Team.objects.filter(pk=teams[name].pk).update(disqualified_at=self.now, disqualified_reason="case")
        rebuild_standings(truth)

    def _add_teams(self, competition: Competition, people: Mapping[str, Any]) -> dict[str, Team]:
        names = dict.fromkeys(people["teams"].values())
        Team.objects.bulk_create(Team(competition=competition, name=name) for name in names)
        teams = {team.name: team for team in competition.teams.all()}
        Membership.objects.bulk_create(
            Membership(competition=competition, user=self.users[student], team=teams[name])
            for student, name in people["teams"].items()
        )
        return teams

    def _add_files(
        self, competition: Competition, truth: GroundTruth, teams: Mapping[str, Team], facts: Mapping[str, Any]
    ) -> None:
        files: list[Submission] = []
        scores: list[Score] = []
        extra = {name: float(minutes) for name, minutes in facts.get("more_time", {}).items()}
        for name, minutes in extra.items():
            until = competition.closes_at + timedelta(minutes=minutes)
            if minutes > 0 and name in teams:
                Extension.objects.create(team=teams[name], closes_at=until, reason="case")
        for name, rows in facts["files"].items():
            deadline = competition.closes_at + timedelta(minutes=max(0.0, extra.get(name, 0.0)))
            for row in rows:
                received_at = competition.closes_at + timedelta(minutes=float(row["minutes"])) - BEFORE
                is_late = received_at >= deadline
                is_final = bool(row.get("final")) and not is_late
                file = self._make_file(
                    competition, received_at, team=teams[name], is_late=is_late, is_selected=is_final
                )
                files.append(file)
                scores += self._make_scores(file, truth, row["public"], row["private"])
        for name, value in facts.get("baselines", {}).items():
            baseline = Baseline.objects.create(competition=competition, name=name)
            file = self._make_file(competition, competition.opens_at, baseline=baseline)
            files.append(file)
            scores += self._make_scores(file, truth, value, value)
        Submission.objects.bulk_create(files, batch_size=500)
        Score.objects.bulk_create(scores, batch_size=500)

    def _make_file(self, competition: Competition, received_at: datetime, **facts: Any) -> Submission:
        number = next(self.numbers)
        return Submission(
            pk=UUID(int=number),
            competition=competition,
            file_name="case.csv",
            file_key="case",
            sha256=f"{number:064x}",
            size=1,
            received_at=received_at,
            upload_key=str(number),
            status=Submission.Status.SCORED,
            finished_at=received_at,
            **facts,
        )

    def _make_scores(self, file: Submission, truth: GroundTruth, public: str, private: str) -> Iterator[Score]:
        for split, value in (("public", public), ("private", private)):
            yield Score(submission=file, ground_truth=truth, split=split, value=float(value), metric_version="case")

    def _add_hand_points(self, people: Mapping[str, Any]) -> None:
        """Points by hand are known in the course and in each of its competitions."""
        owners: list[dict[str, Competition | Course]] = [{"course": self.course}]
        owners += [{"competition": competition} for competition in self.competitions.values()]
        HandPoints.objects.bulk_create(
            (
                HandPoints(user=self.users[student], name=name, points=float(points), **owner)
                for name, given in people.get("by_hand", {}).items()
                for student, points in given.items()
                for owner in owners
            ),
            batch_size=500,
        )
