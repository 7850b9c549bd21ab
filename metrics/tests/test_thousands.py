"""Points between thousands are refused or told, and three decimals are not mistaken for them."""

import random
from collections.abc import Sequence

import pytest

import metrics

WHOLE = ["1010", "2500", "12345", "980", "90", "1250"]


def file_of(cells: Sequence[str]) -> bytes:
    return ("id,y\n" + "".join(f"r{place},{cell}\n" for place, cell in enumerate(cells))).encode()


def german(number: str) -> str:
    return f"{int(number):,}".replace(",", ".")


@pytest.mark.parametrize("key", ["rmse", "mae", "r2", "spearman", "mape", "huber", "columnwise_rmse"])
def test_points_between_thousands_are_refused_with_what_to_write(key: str) -> None:
    prepared = metrics.prepare(key, file_of(WHOLE))
    with pytest.raises(metrics.SubmissionError) as refused:
        prepared.evaluate(file_of(list(map(german, WHOLE))))
    (problem,) = refused.value.problems
    assert (problem.code, problem.line, problem.count) == ("not_a_number", 2, 4)
    assert "write 1010, not 1.010" in problem.message


@pytest.mark.parametrize(
    "cells",
    [
        ["1.010", "2.500", "12.345", "1.980", "3.090", "1.250"],
        ["250.000", "300.000", "125.000", "180.000", "310.000", "90.000"],
        ["1010", "2500", "12.345", "980", "90", "1.250"],
        ["-1.010", "2.500", "12.345", "-980", "90", "1.250"],
    ],
)
def test_points_that_may_be_decimal_are_told(cells: list[str]) -> None:
    prepared = metrics.prepare("rmse", file_of(WHOLE))
    try:
        (note,) = prepared.evaluate(file_of(cells)).warnings
    except metrics.SubmissionError as refused:
        (note,) = refused.problems
    assert "1010" in note.message


@pytest.mark.parametrize(
    "cells",
    [
        ["1.010", "0.500", "2.125", "3.000", "1.250", "4.750"],
        ["1.01", "2.5", "12.345", "980.0", "90.0", "1.25"],
        ["1010", "2500", "12345", "980", "90", "1250"],
        ["1.010e3", "2.500e3", "1.2e5", "980", "90", "1.250"],
        ["1.0", "2.0", "3.0", "4.0", "5.0", "6.0"],
        ["01.010", "2.500", "12.345", "980", "90", "1.250"],
    ],
)
def test_other_decimals_are_read_in_silence(cells: list[str]) -> None:
    assert metrics.prepare("rmse", file_of(WHOLE)).evaluate(file_of(cells)).warnings == ()


@pytest.mark.parametrize("key", ["rmse", "mae", "spearman", "roc_auc"])
@pytest.mark.parametrize("cells", [["250.000", "12.345", "1.250"] * 2, ["1.234", "2.345", "980", "90", "17", "3.456"]])
def test_three_decimals_beside_fractions_are_never_read_without_a_word(key: str, cells: list[str]) -> None:
    truth = ["0", "1"] * 3 if key == "roc_auc" else ["250123.5", "12345.25", "1250.5", "9.5", "7.25", "1.5"]
    (note,) = metrics.prepare(key, file_of(truth)).evaluate(file_of(cells)).warnings
    assert "1.010 is read as 1.01" in note.message


def test_probabilities_with_three_decimals_are_read_in_silence() -> None:
    for key in ("log_loss", "brier", "roc_auc"):
        assert metrics.evaluate(key, file_of("0101"), file_of(["0.125", "1.000", "0.500", "0.750"])).warnings == ()


def test_three_decimals_of_fractions_are_only_noted() -> None:
    dice = random.Random(1)
    truth = [f"{dice.gauss(200, 30):.2f}" for _ in range(50)]
    cells = [f"{float(cell) + dice.gauss(0, 5):.3f}" for cell in truth]
    assert all(one.is_note for one in metrics.prepare("rmse", file_of(truth)).evaluate(file_of(cells)).warnings)


def test_a_host_is_asked_about_points_between_thousands() -> None:
    for cells in (list(map(german, WHOLE)), ["1.010", "2.500", "3.125", "7.500"], ["1.234", "980", "90"] * 2):
        found = metrics.check_truth("rmse", file_of(cells)).findings
        assert [(one.code, one.blocking) for one in found if one.code == "thousands"] == [("thousands", False)]
    coded = ["-999" if place == 3 else f"{1 + place / 7:.3f}" for place in range(20)]
    for cells in (WHOLE, coded, ["0.125", "2.500", "3.125", "7.500"]):
        assert "thousands" not in {one.code for one in metrics.check_truth("rmse", file_of(cells)).findings}
