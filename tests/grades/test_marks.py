"""Points follow from scores by the same rules for everybody, and the reasons add up."""

from __future__ import annotations

import json
import re

import pytest
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.grades import marks as marks_module
from leaderboard.grades.marks import GradableFile, MarkingScale, TeamWork
from leaderboard.grades.rules import Anchor, BadRules, GradeStep, GradingMethod, GradingRules, anchors_of
from tests.common.languages import CODE, second_language

FINITE = st.floats(-1e300, 1e300)
METHODS = st.sampled_from(list(GradingMethod))
TWO = (Anchor("Baseline A 0.8", 0.8, 60), Anchor("B 0.9", 0.9, 90))


@st.composite
def grading_cases(draw: st.DrawFn) -> tuple[GradingRules, MarkingScale]:
    """Rules with what they are applied to: anchors in order, a class of scores, either direction."""
    method = draw(METHODS)
    higher = draw(st.booleans())
    points = sorted(draw(st.lists(st.floats(0, 100), min_size=1, max_size=5)))
    scores = sorted(draw(st.lists(FINITE, min_size=len(points), max_size=len(points), unique=True)), reverse=not higher)
    if method == GradingMethod.PERCENTILE:
        steps = tuple(GradeStep(value, top=draw(st.floats(0.1, 100))) for value in points)
    else:
        steps = tuple(GradeStep(value, score=score) for value, score in zip(points, scores, strict=True))
    rules = GradingRules(
        method=method,
        steps=() if method == GradingMethod.PARTICIPATION else steps,
        minimum=draw(st.floats(0, 100)),
        decimals=draw(st.integers(0, 3)),
        participation_points=draw(st.floats(0, 100)),
        participation_files=draw(st.integers(1, 5)),
        late_percent=draw(st.floats(0, 100)),
    )
    anchors = anchors_of(rules, {}, higher_is_better=higher)
    return rules, MarkingScale(anchors, tuple(draw(st.lists(FINITE, max_size=8))), higher, "private")


@given(grading_cases(), FINITE, FINITE, st.integers(0, 30), st.integers(0, 6))
def test_a_better_score_never_gives_fewer_points(
    case: tuple[GradingRules, MarkingScale], one: float, other: float, days: int, valid: int
) -> None:
    rules, field = case
    worse, better = (other, one) if field.is_better(one, other) else (one, other)
    low, high = (
        marks_module.mark_team(rules, field, TeamWork((GradableFile(value, days),), valid)).points
        for value in (worse, better)
    )
    assert low is not None
    assert high is not None
    assert low <= high


@given(st.lists(FINITE, max_size=8), st.booleans(), FINITE)
def test_as_many_are_better_as_a_comparison_with_each_says(values: list[float], higher: bool, own: float) -> None:
    field = MarkingScale(values=(*values, *values[:2]), higher_is_better=higher)
    for value in (own, *values):
        assert field.number_better(value) == sum(field.is_better(other, value) for other in field.values)


@given(grading_cases(), FINITE, st.integers(0, 40), st.integers(0, 6))
def test_points_lie_between_the_fewest_and_the_most_and_are_the_same_each_time(
    case: tuple[GradingRules, MarkingScale], value: float, days: int, valid: int
) -> None:
    rules, field = case
    mark = marks_module.mark_team(rules, field, TeamWork((GradableFile(value, days),), valid))
    assert mark == marks_module.mark_team(rules, field, TeamWork((GradableFile(value, days),), valid))
    assert mark.points is not None
    # Rounding may go below a fewest that has more decimals than the points.
    assert rules.minimum - 0.5 * 10**-rules.decimals <= mark.points <= rules.max_points


@given(grading_cases(), FINITE, st.integers(0, 30), st.integers(0, 30))
def test_a_later_file_never_gives_more_points(
    case: tuple[GradingRules, MarkingScale], value: float, days: int, more: int
) -> None:
    rules, field = case
    early, late = (
        marks_module.mark_team(rules, field, TeamWork((GradableFile(value, d),))).points for d in (days, days + more)
    )
    assert early is not None
    assert late is not None
    assert late <= early


@given(grading_cases(), st.lists(st.builds(GradableFile, FINITE, st.integers(0, 9)), min_size=1, max_size=4), FINITE)
def test_one_more_file_never_costs_points(
    case: tuple[GradingRules, MarkingScale], files: list[GradableFile], value: float
) -> None:
    rules, field = case
    before = marks_module.mark_team(rules, field, TeamWork(tuple(files))).points
    after = marks_module.mark_team(rules, field, TeamWork((*files, GradableFile(value, 3)))).points
    assert before is not None
    assert after is not None
    assert before <= after


@given(grading_cases())
def test_rules_come_back_from_json_as_they_were(case: tuple[GradingRules, MarkingScale]) -> None:
    assert GradingRules.from_values(case[0].as_json()) == case[0]


def linear(**changes: object) -> GradingRules:
    values = {"steps": [{"points": 60, "baseline": "Baseline A"}, {"points": 90, "baseline": "B"}], **changes}
    return GradingRules.from_values(values)


def marked(
    rules: GradingRules, *files: GradableFile, valid: int = 1, values: tuple[float, ...] = ()
) -> marks_module.Mark:
    return marks_module.mark_team(rules, MarkingScale(TWO, values, board="private"), TeamWork(files, valid))


def test_bo_reads_how_his_points_came_about() -> None:
    mark = marked(linear(late_percent=10), GradableFile(0.871, 1))
    assert mark.points == 73.2
    assert mark.explanation == (
        "private score 0.871 is between Baseline A 0.8 (60) and B 0.9 (90): 81.3; "
        "1 day late, 10 % off: 73.17; rounded to 73.2"
    )


def output(mark: marks_module.Mark) -> tuple[float | None, str]:
    return mark.points, mark.explanation


@pytest.mark.parametrize(
    ("value", "points", "words"),
    [
        (0.79, 0, "private score 0.790 is below Baseline A 0.8: 0"),
        (0.8, 60, "private score 0.800 is between Baseline A 0.8 (60) and B 0.9 (90): 60"),
        (0.9, 90, "private score 0.900 reaches B 0.9: 90"),
        (0.99, 90, "private score 0.990 reaches B 0.9: 90"),
    ],
)
def test_linear_rules_end_at_their_baselines(value: float, points: float, words: str) -> None:
    assert output(marked(linear(), GradableFile(value))) == (points, words)


def test_thresholds_give_the_points_of_the_best_baseline_reached() -> None:
    rules = linear(method="thresholds")
    assert output(marked(rules, GradableFile(0.85))) == (60, "private score 0.850 reaches Baseline A 0.8: 60")
    assert marked(rules, GradableFile(0.7)).points == 0


def test_where_lower_is_better_the_smaller_score_gets_more() -> None:
    rules = GradingRules.from_values({"steps": [{"points": 100, "score": 1.0}, {"points": 50, "score": 3.0}]})
    field = MarkingScale(anchors_of(rules, {}, higher_is_better=False), higher_is_better=False)
    marks = [
        marks_module.mark_team(rules, field, TeamWork((GradableFile(value),))).points
        for value in (0.5, 1.0, 2.0, 3.0, 3.1)
    ]
    assert marks == [100, 100, 75, 50, 0]


def test_of_fifty_teams_five_are_in_the_top_tenth_and_equal_scores_get_equal_points() -> None:
    rules = GradingRules.from_values(
        {"method": "percentile", "steps": [{"points": 100, "top": 10}, {"points": 70, "top": 100}]}
    )
    values = tuple(float(number) for number in range(50))
    points = [marked(rules, GradableFile(value), values=values).points for value in values]
    assert points == [70] * 45 + [100] * 5
    tied = (9.0, 9.0, *values[:8])
    assert output(marked(rules, GradableFile(9.0), values=tied)) == (
        100,
        "private score 9.000, 0 of 10 teams did better: top 10 % → 100 points",
    )


def test_whoever_is_first_of_three_is_in_the_top_tenth() -> None:
    rules = GradingRules.from_values({"method": "percentile", "steps": [{"points": 100, "top": 10}]})
    assert marked(rules, GradableFile(3.0), values=(1.0, 2.0, 3.0)).points == 100
    assert marked(rules, GradableFile(2.0), values=(1.0, 2.0, 3.0)).points == 0


def test_taking_part_is_worth_something_from_the_number_of_files_on() -> None:
    rules = GradingRules.from_values({"method": "participation", "participation_points": 20, "participation_files": 2})
    assert output(marked(rules, GradableFile(0.1), valid=2)) == (20, "2 valid submissions, +20: 20")
    assert output(marked(rules, GradableFile(0.1), valid=1)) == (
        0,
        "1 valid submission on time; participation points need 2",
    )


def test_of_a_file_in_time_and_a_late_one_the_better_mark_counts() -> None:
    rules = linear(late_percent=10)
    assert marked(rules, GradableFile(0.8), GradableFile(0.9, 1)).points == 81
    assert marked(rules, GradableFile(0.89), GradableFile(0.9, 1)).points == 87


def test_a_better_file_that_came_too_late_to_give_more_is_spoken_of() -> None:
    words = marked(linear(late_percent=10), GradableFile(0.89), GradableFile(0.95, 1), GradableFile(0.7, 2)).explanation
    assert "B 0.9 (90): 87; a late submission with private score 0.950 and 10 % off gives only 81" in words
    assert "0.7" not in words, "a worse file explains nothing"
    only_there = linear(method="participation", steps=[], late_percent=10, participation_points=5)
    assert "late" not in marked(only_there, GradableFile(0.89), GradableFile(0.95, 1)).explanation


def test_a_file_ten_days_late_is_worth_nothing_and_never_less() -> None:
    assert marked(linear(late_percent=20), GradableFile(0.9, 10)).points == 0


def test_the_fewest_and_the_most_points_are_said_where_they_bind() -> None:
    assert marked(linear(minimum=25), GradableFile(0.1)).explanation.endswith("minimum of 25 for a scored submission")
    more = linear(participation_points=20)
    assert (
        marked(more, GradableFile(0.95)).explanation
        == "private score 0.950 reaches B 0.9: 90; 1 valid submission, +20: 110; limited to the maximum of 100"
    )


def test_without_a_file_there_is_no_grade_or_zero_as_the_host_chose() -> None:
    assert output(marked(linear())) == (None, "No scored submission, so no grade")
    assert output(marked(linear(none_is_zero=True))) == (0, "No scored submission: 0")


def test_a_disqualified_team_gets_zero_with_the_reason_whatever_it_scored() -> None:
    work = TeamWork((GradableFile(0.95),), 3, disqualified="shared files")
    assert output(marks_module.mark_team(linear(minimum=30), MarkingScale(TWO), work)) == (
        0,
        "Disqualified: 0 (shared files)",
    )


def test_halves_are_rounded_up_as_people_do() -> None:
    rules = GradingRules.from_values({"steps": [{"points": 72.45, "score": 0.5}]})
    field = MarkingScale(anchors_of(rules, {}, higher_is_better=True))
    assert marks_module.mark_team(rules, field, TeamWork((GradableFile(0.5),))).points == 72.5


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({}, "Add at least one row with a score and its points"),
        ({"method": "astrology", "steps": [{"points": 1, "score": 1}]}, "Choose how scores"),
        ({"steps": [{"points": 101, "score": 1}]}, "Row with 101 points: points must be between 0"),
        ({"steps": [{"points": 1}]}, "Row with 1 points: choose a baseline or enter a score"),
        (
            {"steps": [{"points": 1, "score": 1, "baseline": "A"}]},
            "Row with 1 points: choose a baseline or enter a score",
        ),
        ({"steps": [{"points": 1, "score": float("nan")}]}, "Row with 1 points: the score must be an ordinary number"),
        ({"method": "percentile", "steps": [{"points": 1, "top": 0}]}, "Row with 1 points: enter a share"),
        ({"steps": [{"points": 1, "score": n} for n in range(13)]}, "Use at most 12 rows"),
        ({"method": "participation", "max_points": 0}, "The maximum must be above 0 and no more than"),
        ({"method": "participation", "max_points": float("inf")}, "ordinary numbers"),
        ({"method": "participation", "minimum": 101}, "minimum must be between 0"),
        (
            {"method": "participation", "participation_points": -1},
            "Participation points must be between 0 and the maximum",
        ),
        ({"method": "participation", "participation_files": 0}, "between 1 and 1000"),
        ({"method": "participation", "late_percent": 101}, "A late day must cost between 0 and 100 percent"),
        ({"method": "participation", "decimals": 4}, "Decimal places must be between 0 and 3"),
    ],
)
def test_rules_that_cannot_grade_say_why(values: dict[str, object], fault: str) -> None:
    with pytest.raises(BadRules, match=re.escape(fault)):
        GradingRules.from_values(values)


def test_a_baseline_without_a_score_is_named() -> None:
    with pytest.raises(BadRules, match="“B” no longer exists"):
        anchors_of(linear(), {"Baseline A": 0.8, "B": None}, higher_is_better=True)


def test_a_better_baseline_that_is_worth_less_is_refused() -> None:
    with pytest.raises(BadRules, match=r"Baseline A 0\.950 \(60\) is better than B 0\.900 \(90\)"):
        anchors_of(linear(), {"Baseline A": 0.95, "B": 0.9}, higher_is_better=True)
    with pytest.raises(BadRules, match="have the same score"):
        anchors_of(linear(), {"Baseline A": 0.9, "B": 0.9}, higher_is_better=True)


@given(grading_cases(), FINITE, st.integers(0, 40), st.integers(0, 6))
def test_a_kept_reason_says_what_it_said(
    case: tuple[GradingRules, MarkingScale], value: float, days: int, valid: int
) -> None:
    rules, field = case
    mark = marks_module.mark_team(rules, field, TeamWork((GradableFile(value, days),), valid))
    stored = json.loads(json.dumps([reason.as_json() for reason in mark.reasons]))
    assert [str(marks_module.Reason.from_json(one)) for one in stored] == [str(reason) for reason in mark.reasons]


@pytest.mark.parametrize(
    ("work", "rules"),
    [
        (TeamWork((GradableFile(0.1, 2),), 1), linear(late_percent=10, participation_points=5, minimum=10)),
        (TeamWork((GradableFile(0.95),), 0), linear(participation_points=5)),
        (TeamWork((GradableFile(0.89), GradableFile(0.95, 1)), 1), linear(late_percent=10)),
        (TeamWork((GradableFile(0.853),), 3), linear(participation_points=20, decimals=0)),
        (TeamWork((GradableFile(0.853, 1),), 3), linear(method="thresholds", late_percent=10)),
        (
            TeamWork((GradableFile(0.7),), 0),
            GradingRules.from_values({"method": "percentile", "steps": [{"points": 70, "top": 100}]}),
        ),
        (TeamWork(), linear(none_is_zero=True)),
        (TeamWork(), linear()),
        (TeamWork(disqualified=""), linear()),
    ],
)
def test_every_reason_is_said_in_the_language_of_its_reader(work: TeamWork, rules: GradingRules) -> None:
    mark = marks_module.mark_team(rules, MarkingScale(TWO, (0.7,), board="private"), work)
    assert mark.reasons
    with second_language(), translation.override(CODE):
        for reason in mark.reasons:
            assert "⟦" in str(reason), reason
