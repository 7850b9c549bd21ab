"""A file that a metric refuses names usual metrics that read such values: to Ada in her answers, to Bo in his file."""

import random
from collections.abc import Callable

import pytest

import metrics
from metrics.core.registry import USUAL
from metrics.tests.answer_files import split_table

Cell = Callable[[int, random.Random], str]
LABELS: Cell = lambda i, dice: dice.choice(["cat", "dog", "newt"])  # noqa: E731
NUMBERS: Cell = lambda i, dice: f"{dice.gauss(0, 5):.3f}"  # noqa: E731
ZEROS: Cell = lambda i, dice: dice.choice(["0", "5.5", "7.25"])  # noqa: E731
LISTS: Cell = lambda i, dice: " ".join(dice.sample("abcde", dice.randint(1, 3)))  # noqa: E731
BINARY: Cell = lambda i, dice: dice.choice("01")  # noqa: E731

OF_HOSTS = [
    ("rmse", LABELS, ["Accuracy", "F1"]),
    ("roc_auc", LABELS, ["Accuracy", "F1"]),
    ("log_loss", NUMBERS, ["RMSE", "MAE"]),
    ("rmsle", NUMBERS, ["RMSE", "MAE"]),
    ("mape", ZEROS, ["RMSE", "MAE"]),
    ("mae", LISTS, ["Multi-label F1", "MAP@k"]),
]


@pytest.mark.parametrize(("key", "cell", "named"), OF_HOSTS)
def test_ada_reads_which_metrics_read_her_answers(key: str, cell: Cell, named: list[str]) -> None:
    truth = split_table("id,y", cell)
    report = metrics.check_truth(key, truth, is_quick=True)
    [why] = [finding.why for finding in report.findings if finding.blocking and "read" in finding.why]
    assert all(title in why for title in named)
    titles = {metric.title: metric.key for metric in metrics.catalogue()}
    for title in named:
        assert titles[title] in USUAL
        assert metrics.check_truth(titles[title], truth, is_quick=True).ok


@pytest.mark.parametrize(("key", "is_told"), [("roc_auc", True), ("recall", True), ("binary_f1", False)])
def test_ada_reads_that_an_average_over_classes_reads_her_answers(key: str, is_told: bool) -> None:
    truth = split_table("id,y", LABELS)
    report = metrics.check_truth(key, truth, is_quick=True)
    assert any("average at macro" in finding.why for finding in report.findings) == is_told
    assert not is_told or metrics.check_truth(key, truth, {"average": "macro"}, is_quick=True).ok


@pytest.mark.parametrize("stray", ["x", "", "0,5", "50%"])
def test_some_cells_that_are_written_wrongly_are_no_reason_for_another_metric(stray: str) -> None:
    truth = split_table("id,y", lambda i, dice: stray if i == 5 else f"{dice.gauss(0, 5):.3f}")
    quoted = truth.replace(b"0,5", b'"0,5"')
    assert not any("reads them" in one.why for one in metrics.check_truth("rmse", quoted, is_quick=True).findings)


def refusal(key: str, truth: bytes, value: str) -> str:
    prepared = metrics.prepare(key, truth)
    lines = [f"{name},{value}" for name in prepared.ids.texts]
    with pytest.raises(metrics.SubmissionError) as error:
        prepared.evaluate("\n".join(["id,y", *lines]).encode())
    return str(error.value)


@pytest.mark.parametrize(
    ("key", "cell", "value", "named"),
    [
        ("roc_auc", BINARY, "cat", "Accuracy and F1"),
        ("rmse", NUMBERS, "newt", "Accuracy and F1"),
        ("binary_f1", BINARY, "0.7", "ROC AUC and log loss"),
        ("log_loss", BINARY, "-7.5", "ROC AUC"),
    ],
)
def test_bo_reads_which_metrics_read_his_values_whatever_the_answers_are(
    key: str, cell: Cell, value: str, named: str
) -> None:
    def other(i: int, dice: random.Random) -> str:
        return cell(i, random.Random(i))

    first, second = split_table("id,y", cell), split_table("id,y", other)
    assert first != second
    assert named in refusal(key, first, value)
    assert refusal(key, first, value) == refusal(key, second, value)


@pytest.mark.parametrize("value", ["nan", "50%", "True", "1e400"])
def test_numbers_in_another_writing_are_no_labels(value: str) -> None:
    assert "Accuracy" not in refusal("rmse", split_table("id,y", NUMBERS), value)
