"""Rules are read exactly, come back as they were, and are refused at the row where they contradict themselves."""

from __future__ import annotations

import json
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.grades.reading import BadRules, number_json, parse_number
from leaderboard.grades.rules import CourseScheme, GradeRules
from tests.grades.test_cases import random_rules

TERM = {"name": "Score", "of": "score", "line": [[{"score": "0.5"}, 50], [{"score": 1}, 100]]}


@given(st.integers(0, 2**32))
def test_rules_come_back_from_json_as_they_were(seed: int) -> None:
    rules = GradeRules.from_values(random_rules(Random(seed)))
    assert GradeRules.from_values(json.loads(json.dumps(rules.as_json()))) == rules


@given(st.fractions(-10_000, 10_000, max_denominator=10_000))
def test_numbers_come_back_from_their_texts_to_the_last_digit(number: Fraction) -> None:
    assert parse_number(number_json(number)) == number


NO_NUMBERS = ["", "a", "1/0", "1e999999999", "nan", "inf", "--1", "1 000", True, None, [1], "9" * 50]


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_other_texts_are_no_numbers(text: Any) -> None:
    with pytest.raises(ValueError, match="enter a number"):
        parse_number(text)


@pytest.mark.parametrize(
    ("changes", "where", "words"),
    [
        ({"out_of": 0}, "", "full mark must be above 0"),
        ({"cap": 50}, "", "cap can't be below"),
        ({"least": 120}, "", "minimum must be between"),
        ({"decimals": 4}, "", "Decimal places"),
        ({"terms": []}, "", "Add at least one term"),
        ({"terms": [{"of": "score", "line": TERM["line"]}]}, "terms.0", "give it a name"),
        ({"terms": [{"name": "Score", "of": "score"}]}, "terms.0", "at least one row"),
        ({"terms": [{**TERM, "of": "luck"}]}, "terms.0", "choose one of"),
        ({"terms": [{**TERM, "line": [["half", 5]]}]}, "terms.0.line.0", "enter a number"),
        ({"terms": [{**TERM, "line": [[{"score": 1}, 5], [{"score": 2}, 4]]}]}, "terms.0.line.1", "row 2 is better"),
        ({"terms": [{**TERM, "line": [[{"score": 1}, 5], [{"score": 1}, 4]]}]}, "terms.0.line.1", "the same place"),
        ({"terms": [{**TERM, "line": [[{"top": 10}, 5]]}]}, "terms.0.line.0", "choose “the value”"),
        ({"terms": [{**TERM, "steps": [[{"top": 0}, 5]]}]}, "terms.0.steps.0", "above 0 and up to 100"),
        (
            {"terms": [{"name": "P", "of": "place", "line": [[1, 5], [9, 8]]}]},
            "terms.0.line.1",
            "row 1 is better than row 2",
        ),
        (
            {"terms": [{**TERM, "steps": [[{"baseline": "B", "better_by": 1}, 5], [{"baseline": "B"}, 9]]}]},
            "terms.0.steps.1",
            "row 1 is better than row 2",
        ),
        ({"terms": [{"name": "R", "of": "by_hand"}, {"name": "R", "of": "by_hand"}]}, "", "the same name"),
        ({"factors": [{**TERM, "below": -1}]}, "factors.0", "can't be negative"),
        ({"late": {"off": [20, 10]}}, "late", "can't cost less"),
        ({"late": {"off": [], "every_hours": 24}}, "late", "first late period costs"),
        ({"late": {"off": [10], "every_hours": 0}}, "late", "longer than 0 hours"),
        ({"late": {"off": [110]}}, "late", "more than 100 percent"),
        ({"colour": "red"}, "", "no part of the rules"),
    ],
)
def test_rules_that_contradict_themselves_are_refused_at_the_row(changes: Any, where: str, words: str) -> None:
    with pytest.raises(BadRules) as refused:
        GradeRules.from_values({"terms": [TERM], **changes}, higher_is_better=True)
    assert [(fault.where, words in fault.text) for fault in refused.value.faults] == [(where, True)]


def test_where_lower_is_better_the_smaller_score_gets_more() -> None:
    falling = {"terms": [{**TERM, "line": [[{"score": 1}, 50], [{"score": "0.5"}, 100]]}]}
    GradeRules.from_values(falling, higher_is_better=False)
    with pytest.raises(BadRules):
        GradeRules.from_values(falling, higher_is_better=True)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"parts": []}, "Add at least one competition"),
        ({"parts": [{"competition": "a", "weight": 1}] * 2}, "choose each competition once"),
        ({"parts": [{"competition": "a", "weight": -1}]}, "can't be negative"),
        ({"drop_lowest": 1}, "Fewer competitions"),
        ({"cap": 5, "out_of": 10}, "cap can't be below"),
        ({"plus": [{**TERM}]}, "choose a competition"),
        ({"slack": {"periods": -1}}, "can't be negative"),
    ],
)
def test_a_course_that_contradicts_itself_is_refused(changes: Any, words: str) -> None:
    with pytest.raises(BadRules, match=words):
        CourseScheme.from_values({"parts": [{"competition": "a", "weight": 10}], **changes})


@pytest.mark.parametrize(
    ("term", "depends_on_class", "reads_private"),
    [
        ({"of": "score", "line": [[{"baseline": "Weak"}, 60], [{"score": "0.9"}, 90]]}, False, True),
        ({"of": "score", "board": "public", "line": [[{"score": "0.9"}, 90]]}, False, False),
        ({"of": "score", "line": [[{"class": "best"}, 100]]}, True, True),
        ({"of": "score", "steps": [[{"top": 10}, 100]]}, True, True),
        ({"of": "place", "line": [["last", 60], [1, 100]]}, True, True),
        ({"of": "baselines", "line": [[0, 0], ["last", 100]]}, False, True),
        ({"of": "files", "line": [[0, 0], ["last", 5]]}, True, False),
        ({"of": "by_hand"}, False, False),
    ],
)
def test_rules_tell_what_moves_the_points_of_a_preview(
    term: dict[str, Any], depends_on_class: bool, reads_private: bool
) -> None:
    rules = GradeRules.from_values({"terms": [{"name": "Term", **term}]})
    assert (rules.depends_on_class, rules.reads_private) == (depends_on_class, reads_private)
