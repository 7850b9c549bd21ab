"""Numbers 1 to 101 of the list through the site's doors: what Bo sees, what it costs, and what nobody sees."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from django.utils.html import escape

import metrics
from leaderboard.accounts.models import User
from leaderboard.common.storage import path_of
from leaderboard.competitions.models import Competition, Score, Submission
from leaderboard.submissions import score, submit_conditions
from metrics.tests.hostile import SECTIONS
from metrics.tests.hostile_case import DAYS, DICE, LARGE, MOMENTS, NAMES, NUMBERS, PADDED, TEXTS, WORDS, Case
from tests.conftest import enter, make_competition
from tests.inputs.doors import DOORS, Door, attempts_used

pytestmark = pytest.mark.thorough

CANARY = "47110815"
"""In every true answer that can hold it."""

TRUTHS: dict[tuple[bytes, str], str] = {
    (truth, "rmse"): f"{CANARY}.5" for truth in (NUMBERS, PADDED, NAMES, LARGE, DAYS, MOMENTS, b"id,y\n1,1\n0,2\n")
}
TRUTHS |= {(truth, "accuracy"): f"{CANARY} cat" for truth in (WORDS, TEXTS)}
TRUTHS[TEXTS, "word_jaccard"] = f"=cmd {CANARY}"
FOUR = b"id,y\n1,0\n2,1\n3,0\n4,1\n"
FOR_FOUR = {
    "95": b"id,y\n1,0.5\n2,1\n3,0\n4,1\n",
    "96": b"id,y\n1,1.5\n2,-0.1\n3,0\n4,1\n",
    "96 percent": b"id,y\n1,23.6\n2,91\n3,12\n4,60\n",
    "97": b"id,y\n1,3\n2,3\n3,3\n4,3\n",
}

GROUPS: dict[tuple[bytes, str], list[Case]] = {}
for case in (case for section in SECTIONS.values() for case in section):
    GROUPS.setdefault((FOUR if case.truth == DICE else case.truth, case.metric), []).append(case)


def truth_with_parts(truth: bytes, metric: str) -> str:
    """The same ids with answers that nobody may see, in both parts."""
    header, *rows = truth.decode().splitlines()
    answer = TRUTHS.get((truth, metric))
    lines = [
        f"{row if answer is None else row.rpartition(',')[0] + ',' + answer + 'x' * (metric != 'rmse') * (n % 2)},"
        f"{'Public' if n < len(rows) / 2 else 'Private'}"
        for n, row in enumerate(rows)
    ]
    # No two files are alike, so that what is stored of one is never taken for another.
    return "\n".join([f"{header},Usage", *lines, *([""] * len(metric))])


@pytest.fixture(params=GROUPS, ids=lambda group: f"{group[1]} {group[0][5:12]!r}")
def group(request: pytest.FixtureRequest) -> tuple[bytes, str]:
    found: tuple[bytes, str] = request.param
    return found


@pytest.fixture
def competition(group: tuple[bytes, str], ada: User, bo: User, monkeypatch: pytest.MonkeyPatch) -> Competition:
    monkeypatch.setattr(submit_conditions, "FREE_FILES_PER_DAY", 1000)
    truth, metric = group
    made = make_competition(ada, truth=truth_with_parts(truth, metric), metric=metric, daily_attempts=1000)
    enter(made, bo)
    return made


@pytest.fixture
def truth(competition: Competition) -> metrics.Truth:
    ground_truth = competition.ground_truth
    assert ground_truth is not None
    return metrics.prepare(ground_truth.metric, path_of(ground_truth.file_key), ground_truth.params)


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest, competition: Competition, bo: User) -> Door:
    return DOORS[request.param](bo)


def cases_of(group: tuple[bytes, str]) -> Iterator[tuple[Case, bytes]]:
    for case in GROUPS[group]:
        yield case, FOR_FOUR.get(case.number, case.data)


@pytest.mark.attack("archives that unpack to anything")
def test_a_file_is_scored_or_refused_in_words_that_help(
    door: Door, group: tuple[bytes, str], truth: metrics.Truth, bo: User
) -> None:
    used = 0
    for case, data in cases_of(group):
        answer = door.send(data)
        if answer.submission is None:  # 1: the page itself says so
            assert (case.number, answer.status) == ("1", 422)
            assert "empty (0 bytes)" in answer.words
            continue
        assert answer.status in (201, 303), case.number
        score.score_one(answer.submission.pk)
        submission = Submission.objects.get(pk=answer.submission.pk)
        said_to_user = door.said_to_user(submission)
        assert submission.status == ("invalid" if case.codes else "scored"), case.number
        used += not case.codes
        assert attempts_used(bo) == used, case.number
        if case.codes:
            assert CANARY not in said_to_user + answer.words, case.number
            _is_explained(case, submission, said_to_user)
        else:
            _has_the_score_of_home(truth, data, submission)
    assert not Submission.objects.filter(status="pending").exists()


def _is_explained(case: Case, submission: Submission, said_to_user: str) -> None:
    assert {problem["code"] for problem in submission.problems} == case.codes, case.number
    assert case.line is None or case.line in {problem["line"] for problem in submission.problems}, case.number
    is_page = said_to_user.lstrip().startswith("<!")
    for words in case.says:
        written = escape(words) if is_page else json.dumps(words, ensure_ascii=False)[1:-1]
        assert written in said_to_user, case.number
    for problem in submission.problems:
        assert problem["count"] >= 1
        quoted = problem["message"].split('"')[1::2]
        assert all(len(value) <= 41 or "\\" in value for value in quoted), case.number
        assert problem["message"].isprintable()
    if is_page:
        assert "No attempt used." in said_to_user, case.number
        assert "<img src=x" not in said_to_user
        assert not any(mark in said_to_user for mark in "\x1b\u202e\u200b"), case.number
    assert "Private" not in "".join(problem["message"] for problem in submission.problems), case.number


def _has_the_score_of_home(truth: metrics.Truth, data: bytes, submission: Submission) -> None:
    home = truth.evaluate(data)
    scores = dict(Score.objects.filter(submission=submission).values_list("split", "value"))
    assert scores == {"public": home.public, "private": home.private}
