"""A teacher who rebuilds a past competition finds its grader among the metrics, digit for digit."""

import random
from pathlib import Path

import pytest

import metrics
from metrics.tests.graders import GRADERS, NOT_COVERED, Files, Grader

COVERED = [competition for grader in GRADERS for competition in grader.competitions]
PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "coverage.md"


def csv_of(header: list[str], rows: list[list[str]]) -> bytes:
    lines = [f"r{number}," + ",".join(row) for number, row in enumerate(rows)]
    return "\n".join(["id," + ",".join(header), *lines, ""]).encode()


def scored(grader: Grader, files: Files) -> float:
    header, truth, sent, answers = files
    return metrics.evaluate(grader.key, csv_of(header, truth), csv_of(sent, answers), grader.params).overall


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("grader", GRADERS, ids=lambda grader: f"{grader.key}: {grader.what}")
def test_a_metric_gives_what_the_grader_of_the_competition_gave(grader: Grader, seed: int) -> None:
    files = grader.make(random.Random(seed))
    expected = grader.grade(files[1], files[3])
    assert scored(grader, files) == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_at_least_nine_in_ten_of_the_list_are_covered() -> None:
    assert len(set(COVERED)) == len(COVERED)
    assert not set(COVERED) & set(NOT_COVERED)
    assert len(COVERED) + len(NOT_COVERED) >= 80
    assert len(COVERED) / (len(COVERED) + len(NOT_COVERED)) >= 0.9


def row_of(grader: Grader) -> str:
    params = "".join(f" `{name}={value}`" for name, value in grader.params.items())
    return f"| {grader.what} | `{grader.key}`{params} | {', '.join(grader.competitions)} |"


def test_the_page_says_the_same() -> None:
    page = PAGE.read_text()
    assert [row_of(grader) for grader in GRADERS if row_of(grader) not in page] == []
    assert [name for name, why in NOT_COVERED.items() if f"| {name} | {why} |" not in page] == []
    assert page.count("\n| ") == len(GRADERS) + len(NOT_COVERED) + 2
