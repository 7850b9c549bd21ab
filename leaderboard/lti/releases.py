"""Released grades as marks of learning platforms, and their state on the page of a release."""

from __future__ import annotations

from django.urls import reverse

from leaderboard.common.hooks import on
from leaderboard.competitions.models import Competition
from leaderboard.grades import hooks
from leaderboard.grades.hooks import GradeColumn, GradeColumns
from leaderboard.grades.models import GradeRelease
from leaderboard.grades.reasons import Reason
from leaderboard.grades.rules import GradeRules

from .marks import WantedMark, column_states, take_back_marks, unknown_students, want_marks
from .models import PlatformMark


@on(hooks.released)
def want_released_marks(*, release: GradeRelease) -> None:
    """Want the points of a release in the columns, and no mark of students who have none in it."""
    competition = release.competition
    if competition is None or not competition.lti_links.exists():
        return
    marks = {
        grade.user_id: WantedMark(
            grade.user_id, grade.points, " ".join(str(Reason.from_json(reason)) for reason in grade.reasons)
        )
        for grade in release.grades.all()
    }
    marked = PlatformMark.objects.filter(link__competition=competition).values_list("user_id", flat=True)
    gone = [WantedMark(user, None) for user in set(marked) - set(marks)]
    out_of = float(GradeRules.from_values(release.rules).out_of)
    want_marks(competition=competition, marks=[*marks.values(), *gone], out_of=out_of)


@on(hooks.withdrawn)
def take_withdrawn_marks_back(*, release: GradeRelease) -> None:
    if release.competition is not None:
        take_back_marks(competition=release.competition)


@on(hooks.grade_columns)
def columns_of(*, competition: Competition, release: GradeRelease | None) -> GradeColumns | None:
    states = column_states(competition)
    if not states:
        return None
    columns = [
        GradeColumn(
            f"{state.link.platform} · {state.link}",
            state.sent,
            state.waiting,
            state.refused,
            state.problems,
            reverse("host_send_again", args=[competition.slug, state.link.pk]),
        )
        for state in states
    ]
    graded = release.grades.exclude(points=None).values_list("user_id", flat=True) if release else ()
    return GradeColumns(columns, unknown_students(competition, set(graded)))
