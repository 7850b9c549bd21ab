"""Points follow from scores by the same rules for everybody, and the reasons add up."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.grades import marks as marks_module
from leaderboard.grades.marks import Field, LateFile, Mark, Person, ScoreScale
from leaderboard.grades.reasons import Reason
from leaderboard.grades.rules import GradeRules
from tests.common.languages import CODE, second_language

TWO = [[{"baseline": "A"}, 60], [{"baseline": "B"}, 90]]
BASELINES = {"A": Fraction("0.8"), "B": Fraction("0.9")}
REPORT = {"name": "Report", "of": "by_hand"}
SCORES = st.decimals(0, 2, places=3).map(Fraction)


def rules(*terms: dict[str, Any], **more: Any) -> GradeRules:
    named = [{"name": f"Term {number}", **term} for number, term in enumerate(terms)]
    return GradeRules.from_values({"terms": named, **more}, higher_is_better=True)


def marked(
    rules: GradeRules,
    score: Any = None,
    *others: Any,
    late: dict[int, Any] | None = None,
    slack: int = 0,
    **person: Any,
) -> Mark:
    """The mark of team 1 with a score in time, in a class with these other scores."""
    scores = dict(enumerate((score, *others), start=1))
    values = {team: Fraction(str(value)) for team, value in scores.items() if value is not None}
    terms = (*rules.terms, *rules.factors)
    keys = {("pets", term.board, term.until) for term in terms} | {("pets", "private", None)}
    fields = {
        key: Field(values, higher_is_better=True, baselines=BASELINES, files={1: 3}, board=key[1]) for key in keys
    }
    scale = ScoreScale("pets", fields, largest_team=3)
    files = [
        LateFile(period, dict.fromkeys(("public", "private"), Fraction(str(value))))
        for period, value in (late or {}).items()
    ]
    someone = Person(teams={"pets": 1}, late=files, **person)
    return marks_module.compute_mark(rules, scale, someone, slack=slack, slack_total=slack)


def output(mark: Mark) -> tuple[float | None, str]:
    return mark.points, mark.explanation


BETWEEN = "between “A” 0.800 (60 points) and “B” 0.900 (90 points)"
LINE = rules({"of": "score", "line": TWO})
DAYS = {"every_hours": 24, "off": [10, 20, 30], "then": "add"}


@given(SCORES, SCORES, st.lists(SCORES, max_size=5))
def test_a_better_score_never_gives_fewer_points(one: Fraction, other: Fraction, others: list[Fraction]) -> None:
    worse, better = sorted((one, other))
    steps = [[{"top": 50}, 95], [{"class": "mean"}, 40]]
    policy = rules({"of": "score", "line": [*TWO, [{"class": "best"}, 100]], "steps": steps, "below": 10})
    low, high = (marked(policy, score, *others).points or 0 for score in (worse, better))
    # A team that is the best of the class itself moves the last anchor, but never below what the worse score gave.
    assert low <= high


@given(SCORES, st.lists(SCORES, min_size=1, max_size=4), SCORES)
def test_one_more_late_submission_never_costs_points(score: Fraction, late: list[Fraction], more: Fraction) -> None:
    policy = rules({"of": "score", "line": TWO}, late=DAYS)
    files = dict(enumerate(late, start=1))
    before = marked(policy, score, late=files).points or 0
    assert (marked(policy, score, late={**files, len(late) + 1: more}).points or 0) >= before


@given(SCORES, st.integers(1, 9), st.integers(0, 9), st.integers(0, 9))
def test_more_late_days_left_never_cost_points_and_as_few_are_used_as_help(
    score: Fraction, period: int, slack: int, more: int
) -> None:
    policy = rules({"of": "score", "line": TWO}, late=DAYS)
    few, many = (marked(policy, late={period: score}, slack=left) for left in (slack, slack + more))
    assert (few.points or 0) <= (many.points or 0)
    assert few.slack <= min(slack, period)
    if few.slack:
        assert (marked(policy, late={period: score}, slack=few.slack - 1).points or 0) < (few.points or 0)


@pytest.mark.parametrize(
    ("mark", "points", "words"),
    [
        (marked(LINE, "0.79"), 0, "Private score 0.790 doesn't reach “A” 0.800: 0 points."),
        (
            marked(LINE, "0.8"),
            60,
            f"Private score 0.800 lies {BETWEEN}: 60 points.",
        ),
        (marked(LINE, "0.95"), 90, "Private score 0.950 reaches “B” 0.900: 90 points."),
        (
            marked(rules({"of": "place", "line": [[1, 8], ["last", 2]]}), "0.8", "0.9", "0.7"),
            5,
            "Place 2 of 3 teams: 5 points.",
        ),
        (
            marked(rules({"of": "baselines", "board": "public", "line": [[0, 0], ["last", 10]]}), "0.85"),
            5,
            "1 of 2 baselines reached on the public board: 5 points.",
        ),
        (
            marked(rules({"of": "score", "steps": [[{"top": 50}, 2]]}), "0.9", "0.8"),
            2,
            "Among the best 50 % of the teams: 2 points.",
        ),
        (
            marked(rules({"of": "score", "steps": [[{"baseline": "A", "better_by": "0.05"}, 70]]}), "0.9"),
            70,
            "Private score 0.900 reaches “A” +0.05 0.850: 70 points.",
        ),
        (marked(rules({"of": "files", "steps": [[3, 1]]}), "0.9"), 1, "3 submissions scored in time: 1 point."),
        (
            marked(rules({"of": "score", "line": TWO}, REPORT), "0.8", by_hand={"Report": 31}),
            91,
            "Private score 0.800 lies between “A” 0.800 (60 points) and “B” 0.900 (90 points): 60 points. "
            "Report, given by hand: 31 points. Together 91.",
        ),
        (
            marked(
                rules({"of": "score", "line": TWO}, factors=[{"name": "Code", "of": "attached", "steps": [[1, 100]]}]),
                "0.9",
            ),
            0,
            "Private score 0.900 reaches “B” 0.900: 90 points. No work attached: 0 % of these points, 0.",
        ),
        (
            marked(rules({"of": "score", "line": TWO}, late=DAYS), late={3: "0.9"}, slack=2),
            81,
            "Private score 0.900 reaches “B” 0.900: 90 points. 3 days late, 2 of your late days used (0 left). "
            "1 day late: 10 % off, 81.",
        ),
        (
            marked(rules({"of": "score", "line": TWO}, late=DAYS), "0.85", late={9: "0.9"}),
            75,
            "Private score 0.850 lies between “A” 0.800 (60 points) and “B” 0.900 (90 points): 75 points. "
            "A later submission with a better score would give only 9.",
        ),
        (
            marked(rules({"of": "score", "line": TWO}, out_of=80), "0.9"),
            80,
            "Private score 0.900 reaches “B” 0.900: 90 points. At most 80.",
        ),
        (
            marked(LINE, "0.8333"),
            70,
            f"Private score 0.833 lies {BETWEEN}: 69.99 points. Rounded to 70.",
        ),
        (marked(LINE, "0.9", disqualified="Shared a file."), 0, "Disqualified: 0 (Shared a file.)."),
        (marked(LINE), None, "No scored submission, so no grade."),
        (marked(rules({"of": "score", "line": TWO}, no_file="zero")), 0, "No scored submission: 0."),
        (marked(LINE, has_joined=False), None, "Hasn't joined, so no grade."),
    ],
)
def test_bo_reads_how_his_points_came_about(mark: Mark, points: float | None, words: str) -> None:
    assert output(mark) == (points, words)


def test_half_points_are_rounded_up_whatever_their_binary_value() -> None:
    half = rules({"of": "by_hand", "name": "Talk"}, decimals=2)
    assert marked(half, "0.5", by_hand={"Talk": Fraction("0.285")}).points == 0.29
    assert marks_module.round_points(0.285, 2) == 0.29


def test_scores_that_would_look_alike_are_written_with_more_digits() -> None:
    assert "Private score 0.79996 doesn't reach “A” 0.80000" in marked(LINE, "0.79996").explanation


def test_reasons_come_back_from_json_as_they_were() -> None:
    for reason in marked(rules({"of": "score", "line": TWO}, late=DAYS), late={3: "0.85"}, slack=1).reasons:
        stored = json.loads(json.dumps(reason.as_json()))
        assert str(Reason.from_json(stored)) == str(reason)


def test_bo_reads_his_reasons_in_his_language() -> None:
    mark = marked(rules({"of": "score", "line": TWO}, late=DAYS), "0.7", late={3: "0.85"}, slack=1)
    with second_language(), translation.override(CODE):
        for reason in mark.reasons:
            assert "⟦" in str(reason), reason
