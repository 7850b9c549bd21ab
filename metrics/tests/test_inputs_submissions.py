"""What Bo reads about each input of the list, by number."""

import math
import tracemalloc

import pytest

import metrics
from metrics.tests.hostile import CASES
from metrics.tests.hostile_case import Bomb, Case

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.number)


def problems_of(case: Case) -> list[metrics.Problem]:
    """All problems as a submission; the value is finite where there are none."""
    truth = metrics.prepare(case.metric, case.truth)
    try:
        assert math.isfinite(truth.evaluate(case.data).overall)
    except metrics.SubmissionError as error:
        return error.problems
    return []


def test_no_number_of_the_list_is_left_out() -> None:
    assert {int(case.number.split()[0]) for case in CASES} == set(range(1, 102))
    assert len({case.number for case in CASES}) == len(CASES)


@every_case
def test_a_submission_is_read_as_it_is_meant_or_refused_with_words(case: Case) -> None:
    problems = problems_of(case)
    assert {problem.code for problem in problems} == case.codes
    told = "\n".join(problem.message for problem in problems)
    for words in case.says:
        assert words in told
    if case.line is not None:
        assert case.line in {problem.line for problem in problems}
    for problem in problems:
        assert len(problem.message) < 700
        assert problem.message.isprintable()
        assert "public" not in problem.message.lower()
        assert problem.count >= 1


@every_case
def test_the_first_look_accuses_nobody_wrongly_and_stays_small(case: Case) -> None:
    truth = metrics.prepare(case.metric, case.truth)
    head = case.data[: 1 << 20]
    tracemalloc.start()
    seen = metrics.sniff(head, len(case.data), truth.submission_columns)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert {problem.code for problem in seen} <= case.codes
    assert peak < 20_000_000


def test_nothing_is_ever_unpickled() -> None:  # 23
    for case in CASES:
        if case.number == "23":
            problems_of(case)
    assert not Bomb.exploded


def test_a_bomb_takes_no_memory() -> None:  # 19, 20, 37
    for case in CASES:
        if case.number in ("19", "20"):
            tracemalloc.start()
            problems_of(case)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 50_000_000


def test_a_header_alone_is_a_file_where_ids_may_be_missing() -> None:  # 3
    truth = metrics.prepare("global_average_precision", b"id,y\n1,a\n2,b\n")
    assert truth.evaluate(b"id,y\n").overall == 0.0
    assert metrics.sniff(b"id,y\n", 5, ["id", "y"], may_be_empty=True) == []
    assert [problem.code for problem in metrics.sniff(b"id,y\n", 5, ["id", "y"])] == ["no_rows"]


@pytest.mark.parametrize("separator", [";", "\t", "|"])
@pytest.mark.parametrize("answer", ["1", "0,5"])
def test_rows_with_another_separator_than_the_header_are_told_so(separator: str, answer: str) -> None:
    """A decimal comma makes two cells of such a row: then it is the id that looks strange."""
    truth = metrics.prepare("mae", b"id,y\n1,1\n2,2\n")
    with pytest.raises(metrics.SubmissionError) as caught:
        truth.evaluate(f"id,y\n1{separator}{answer}\n2{separator}{answer}\n".encode())
    name = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}[separator]
    assert f"The rows are separated by {name} and the header by commas" in caught.value.problems[0].message


def test_an_unknown_id_with_a_semicolon_is_no_separator() -> None:
    truth = metrics.prepare("mae", b"id,y\n1,1\n2,2\n")
    with pytest.raises(metrics.SubmissionError) as caught:
        truth.evaluate(b"id,y\nx;1,1\n2,2\n")
    assert "separated" not in str(caught.value)
