"""Grades: rules, what everybody would get and why, the release to students."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from .. import grading, ranking
from ..models import (
    AuditEntry,
    Competition,
    Deed,
    Grade,
    GradeRelease,
    GradeRules,
    GroundTruth,
    Membership,
    RosterEntry,
    Score,
    Split,
    Standing,
    Submission,
    User,
    extended_to,
)
from ..models.clock import database_now
from ..ranking.standings import final_standings
from .boards import baseline_scores, baseline_scores_under
from .setting_up import CannotHost

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Student:
    """Somebody who gets a grade, by every name that a learning platform may know them under."""

    name: str
    username: str = ""
    email: str = ""
    student_id: str = ""
    sis_user_id: str = ""
    login: str = ""
    section: str = ""
    first_name: str = ""
    last_name: str = ""
    is_listed: bool = False
    """Whether the names are the teacher's own, from the roster, and not what the person chose."""
    user_id: int | None = None
    team_id: int | None = None
    team: str = ""
    has_joined: bool = True
    disqualified: str | None = None
    """The reason, where the team is out."""
    valid: int = 0
    """Scored files of the team that came in time, where they were asked for."""


@dataclass(frozen=True)
class GradeRow:
    """A student with the mark. `released` is what the student was told; None where nothing was."""

    student: Student
    mark: grading.Mark
    released: grading.Mark | None = None

    @property
    def final(self) -> grading.Mark:
        """What files for other platforms say: what was released, before that what would be."""
        return self.released or self.mark

    @property
    def is_changed(self) -> bool:
        return self.released is not None and self.released.points != self.mark.points


@dataclass(frozen=True)
class GradeSheet:
    """Everybody's mark by rules that are saved, or only proposed. With `faults` nobody has one."""

    rules: grading.Rules
    is_saved: bool
    split: Split
    rows: tuple[GradeRow, ...] = ()
    faults: tuple[str, ...] = ()
    release: GradeRelease | None = None

    @property
    def is_ready(self) -> bool:
        """Whether the marks may leave the page."""
        return self.is_saved and not self.faults


# --- rules ------------------------------------------------------------------------------------------------------


def grade_rules(competition: Competition) -> tuple[grading.Rules, bool]:
    """The rules of a competition, and whether somebody saved them; otherwise what we propose."""
    held = GradeRules.objects.filter(competition=competition).first()
    if held is not None:
        return grading.Rules.of(held.values), True
    scores = baseline_scores(competition.ground_truth, Split.PUBLIC)
    return proposed_rules(competition, scores), False


def proposed_rules(competition: Competition, scores: Mapping[str, float]) -> grading.Rules:
    """Linear between the worst baseline and the best where there are two, else by shares of the teams."""
    ruler = competition.ground_truth
    if ruler is not None and len(set(scores.values())) >= 2:
        names = sorted(scores, key=lambda name: ranking.sign_of(ruler) * scores[name])
        ends = (grading.Step(60.0, baseline=names[-1]), grading.Step(100.0, baseline=names[0]))
        return grading.Rules(steps=ends, title=competition.title)
    shares = ((10.0, 100.0), (25.0, 90.0), (50.0, 80.0), (100.0, 70.0))
    steps = tuple(grading.Step(points, top=top) for top, points in shares)
    return grading.Rules(method=grading.Method.PERCENTILE, steps=steps, title=competition.title)


def set_grade_rules(*, competition: Competition, values: Mapping[str, Any], user: User | None) -> grading.Rules:
    """Replace the rules; what was released stays as it was told. Raises `CannotHost` with every fault."""
    try:
        rules = grading.Rules.of(values)
    except grading.BadRules as error:
        raise CannotHost(_("These rules cannot grade."), error.faults) from error
    with transaction.atomic():
        Competition.objects.select_for_update().get(pk=competition.pk)
        held = GradeRules.objects.filter(competition=competition).first()
        before = held.values if held else {}
        if before == rules.as_json():
            return rules
        GradeRules.objects.update_or_create(
            competition=competition, defaults={"values": rules.as_json(), "changed_at": database_now()}
        )
        differing = [name for name, value in rules.as_json().items() if before.get(name) != value]
        AuditEntry.append(
            Deed.GRADE_RULES_CHANGED,
            user=user,
            competition=competition,
            before={name: before[name] for name in differing if name in before},
            after={name: rules.as_json()[name] for name in differing},
        )
    return rules


# --- what everybody would get -----------------------------------------------------------------------------------


def deciding_split(competition: Competition, at: datetime) -> Split:
    """Private scores decide once the deadline has passed, as a rehearsal shows; before that grades are a look at the
    public ones."""
    is_over = at >= competition.closes_at or competition.rehearsed_at is not None
    return Split.PRIVATE if is_over else Split.PUBLIC


def grade_sheet(competition: Competition, *, at: datetime, ground_truth: GroundTruth | None = None) -> GradeSheet:
    """Everybody's mark as it would be now. With `ground_truth`, as it would be under another one. For hosts alone."""
    return grade_sheets(competition, [ground_truth or competition.ground_truth], at=at)[0]


def grade_sheets(
    competition: Competition, rulers: Sequence[GroundTruth | None], *, at: datetime
) -> tuple[GradeSheet, ...]:
    """One sheet per ruler, of the same students by the same rules, each in the same order."""
    rules, is_saved = grade_rules(competition)
    release, told = _told(competition)
    sheet = GradeSheet(rules, is_saved, deciding_split(competition, at), release=release)
    people = students(competition, with_valid=rules.participation_points > 0)
    names = any(step.baseline for step in rules.steps)
    baselines = baseline_scores_under(rulers, sheet.split) if names else {}
    return tuple(_under(ruler, sheet, competition, people, told, baselines) for ruler in rulers)


def _under(
    ruler: GroundTruth | None,
    sheet: GradeSheet,
    competition: Competition,
    people: Sequence[Student],
    told: Mapping[int, grading.Mark],
    baselines: Mapping[int, Mapping[str, float]],
) -> GradeSheet:
    if ruler is None:
        return replace(sheet, faults=(_("Publish a ground truth first; grades follow from scores."),))
    ruler.competition = competition
    try:
        field, files = _field_and_files(competition, ruler, sheet.rules, sheet.split, baselines.get(ruler.pk, {}))
    except grading.BadRules as error:
        return replace(sheet, faults=tuple(error.faults))
    rows = [
        GradeRow(student, _mark(sheet.rules, field, student, files), told.get(student.user_id or 0))
        for student in people
    ]
    return replace(sheet, rows=tuple(rows))


def _mark(
    rules: grading.Rules, field: grading.Field, student: Student, files: Mapping[int, list[grading.File]]
) -> grading.Mark:
    may_decide = tuple(files.get(student.team_id or 0, ()))
    work = grading.Work(may_decide, student.valid, student.disqualified)
    mark = grading.mark(rules, field, work)
    if student.has_joined:
        return mark
    # One sentence: who never joined has no file either.
    return replace(mark, reasons=(_("Never joined, so no grade") if mark.points is None else _("Never joined → 0"),))


def _told(competition: Competition) -> tuple[GradeRelease | None, dict[int, grading.Mark]]:
    """What students were told last, if that was not withdrawn, in one query."""
    newest = GradeRelease.objects.filter(competition=competition).order_by("-number").values("pk")[:1]
    grades = list(Grade.objects.filter(release=Subquery(newest), release__withdrawn_at=None).select_related("release"))
    release = grades[0].release if grades else None
    return release, {grade.user_id: grading.Mark(grade.points, tuple(grade.reasons)) for grade in grades}


def _field_and_files(
    competition: Competition,
    ruler: GroundTruth,
    rules: grading.Rules,
    split: Split,
    baselines: Mapping[str, float],
) -> tuple[grading.Field, dict[int, list[grading.File]]]:
    """What marks are given against, and the files of each team that may decide."""
    higher = ranking.sign_of(ruler) < 0
    anchors = grading.anchors_of(rules, baselines, higher_is_better=higher)
    values = dict(_deciding(ruler, split))
    board = _("private") if split == Split.PRIVATE else _("public")
    files = {team: [grading.File(value)] for team, value in values.items()}
    if rules.late_percent is not None:
        for team, late in _late_files(competition, ruler, split).items():
            files[team] = files.get(team, []) + late
    return grading.Field(anchors, tuple(values.values()), higher, board), files


def _deciding(ruler: GroundTruth, split: Split) -> Iterator[tuple[int, float]]:
    """Each team with its exact value on a split; from the board where that shows it, because computing takes longer."""
    competition = ruler.competition
    is_current = competition.ground_truth_id == ruler.pk
    is_shown = competition.board_is_exact if split == Split.PUBLIC else competition.revealed_at is not None
    # After the reveal both boards show the finals, which is not each team's best public score.
    if is_current and is_shown and (split == Split.PRIVATE or competition.revealed_at is None):
        yield from Standing.objects.filter(ground_truth=ruler, split=split).values_list("team_id", "value")
    elif split == Split.PUBLIC:
        yield from ranking.best_values(ruler, split).items()
    else:
        yield from ((best.team_id, best.value) for its, best in final_standings(ruler) if its == split)


def _late_files(competition: Competition, ruler: GroundTruth, split: Split) -> dict[int, list[grading.File]]:
    """Team → of each day after the deadline the file with the best public score, so that nobody gets a better grade by
    trying what the private rows say. Days are counted from the deadline that the team has."""
    late = Score.objects.filter(
        ground_truth=ruler,
        submission__team__isnull=False,
        submission__is_late=True,
        submission__hidden_at=None,
        submission__status=Submission.Status.SCORED,
    ).annotate(extended_to=extended_to("submission__team"))
    rows = late.values_list(
        "submission__team", "submission", "submission__received_at", "extended_to", "split", "value"
    )
    scores: dict[tuple[int, Any, int], dict[str, float]] = defaultdict(dict)
    for team, submission, received_at, granted, its, value in rows:
        assert team is not None
        late_by = received_at - max(competition.closes_at, granted or competition.closes_at)
        scores[team, submission, max(1, -(-late_by // DAY))][its] = value
    sign = ranking.sign_of(ruler)
    chosen: dict[tuple[int, int], tuple[tuple[float, str], float]] = {}
    for (team, submission, day), both in scores.items():
        order = (sign * both[Split.PUBLIC], str(submission))
        if (team, day) not in chosen or order < chosen[team, day][0]:
            chosen[team, day] = (order, both[split])
    found: dict[int, list[grading.File]] = defaultdict(list)
    for (team, day), (_order, value) in chosen.items():
        found[team].append(grading.File(value, day))
    return found


def students(competition: Competition, *, with_valid: bool = False) -> list[Student]:
    """Everybody who gets a grade, by name: members of teams, and the class as the roster has it."""
    memberships = Membership.objects.filter(competition=competition).select_related("user", "team")
    if with_valid:
        memberships = memberships.annotate(valid=_valid_files("team"))
    listed = {entry.user_id or -entry.pk: entry for entry in RosterEntry.objects.filter(competition=competition)}
    found = [_member(one, listed.pop(one.user_id, None)) for one in memberships]
    found += [_absent(entry) for entry in listed.values() if entry.left_at is None]
    if competition.rehearsed_at is not None:
        found += _made_up(competition, with_valid=with_valid)
    return sorted(found, key=lambda student: (student.name.casefold(), student.username))


def _member(one: Membership, entry: RosterEntry | None) -> Student:
    """A member of a team. The names of the roster count more than those that a person chose."""
    user = one.user
    student = Student(
        name=user.get_full_name() or user.username,
        username=user.username,
        email=user.email,
        first_name=user.first_name,
        last_name=user.last_name,
        user_id=one.user_id,
        team_id=one.team_id,
        team=one.team.name,
        disqualified=one.team.disqualified_reason if one.team.disqualified_at else None,
        valid=getattr(one, "valid", 0),
    )
    return student if entry is None else replace(student, **_listed(entry, student.name, student.email))


def _absent(entry: RosterEntry) -> Student:
    """Somebody of the class who is in no team."""
    return Student(has_joined=entry.user_id is not None, user_id=entry.user_id, **_listed(entry, str(entry), ""))


def _listed(entry: RosterEntry, name: str, email: str) -> dict[str, Any]:
    """What the roster says of a person; what it does not say is left out or as given."""
    facts = {key: getattr(entry, key) for key in ("student_id", "sis_user_id", "login", "section")}
    named = {"first_name": "", "last_name": ""} if entry.name else {}
    return {**facts, **named, "name": entry.name or name, "email": entry.email or email, "is_listed": True}


def _made_up(competition: Competition, *, with_valid: bool) -> list[Student]:
    """Of a rehearsal: nobody has an account, so each team stands for a student."""
    teams = competition.teams.filter(is_rehearsal=True)
    if with_valid:
        teams = teams.annotate(valid=_valid_files("pk"))
    return [Student(name=team.name, team_id=team.pk, team=team.name, valid=getattr(team, "valid", 0)) for team in teams]


def _valid_files(team: str) -> Coalesce:
    """For a query that names the team so: how many of its files were scored and came in time."""
    files = Submission.objects.filter(
        team=OuterRef(team), status=Submission.Status.SCORED, is_late=False, hidden_at=None
    )
    return Coalesce(Subquery(files.order_by().values("team").annotate(number=Count("pk")).values("number")), 0)
