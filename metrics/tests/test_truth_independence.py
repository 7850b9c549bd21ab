"""What a student reads of a file follows from the file alone: never from the answers, and never from the split."""

import csv
import dataclasses
import io
import random
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

import metrics
from metrics.core.registry import built_in
from metrics.tests.worlds import World, world

pytestmark = pytest.mark.thorough

BUILT_IN = tuple(built_in().values())
NUMBERS = [metric for metric in BUILT_IN if metric.group == "Numbers" and not metric.truth.many]
LARGE = ("1e308", "-1.7e308", "1.3408e154", "1e150", "1.0001e100", "1e100", "-1e100", "9e99")
SMALL = ("0", "-0.0", "5e-324", "5.6e-309", "1e-300", "1e-101", "1e-100", "1e-51", "1e-50", "-1e-200")
NUMBER = re.compile(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?")
RUN = re.compile(r"(.)\1+")
HOSTILE = (
    "",
    " ",
    "nan",
    "NA",
    "inf",
    "1e400",
    "-",
    "0,5",
    "true",
    "?",
    "a b",
    "a|b",
    "1 1",
    "é\u0301",
    "=1",
    "0.5 1 2 3 4",
)
CELLS = (*LARGE, *SMALL, *HOSTILE, "1", "0.5", "2", "x", "scab", "healthy 0.5", "1e999999999", "0.5 0 0 1e9 1e9")
EXTREME_ANSWERS = ("1e100", "1e-50", "-1e100", "3", "1e-30", "2e99", "7", "-1e-50")
OTHER_PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "tweedie_deviance": [{"power": 1}, {"power": 2}, {"power": 2.5}, {"power": 3}],
    "rmsle": [{"offset": 0}],
    "columnwise_rmsle": [{"offset": 0}],
    "laplace_log_likelihood": [{"sigma_minimum": 1e-9, "error_maximum": None}],
    "log_mae_by_group": [{"floor": 1e-9}],
    "smape": [{"offset": -3}],
}


def settings(metric: metrics.Metric) -> Iterator[dict[str, Any]]:
    """Each choice of each parameter, one at a time, and what else changes the reading of numbers."""
    yield {}
    for parameter in metric.parameters:
        for choice in (True, False) if parameter.kind == "bool" else parameter.choices:
            if choice != parameter.default:
                yield {parameter.name: choice}
    yield from OTHER_PARAMETERS.get(metric.key, [])


def printed(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([header, *rows])
    return out.getvalue().encode()


def truths(metric: metrics.Metric, params: dict[str, Any], dice: random.Random) -> tuple[World, list[metrics.Truth]]:
    """Truths with the same ids and columns and other splits, answers and orders."""
    one, other = world(metric, 1), world(metric, 2)
    ids = [row[0] for row in one.truth]
    width = len(one.header) - 2
    extreme = [[dice.choice(EXTREME_ANSWERS).lstrip("-" * (dice.random() < 0.5)) for _ in range(width)] for _ in ids]
    found = list(prepared(metric, one.truth_csv(), params))
    for answers in ([row[1:-1] for row in one.truth][::-1], [row[1:-1] for row in other.truth], extreme):
        usage = dice.sample([row[-1] for row in one.truth], len(ids))
        rows = [[name, *cells, used] for name, cells, used in zip(ids, answers, usage, strict=True)]
        found += prepared(metric, printed(one.header, dice.sample(rows, len(rows))), params)
    return one, [truth for truth in found if truth.submission_columns == found[0].submission_columns]


def prepared(metric: metrics.Metric, truth: bytes, params: dict[str, Any]) -> list[metrics.Truth]:
    """The truth, if the host could publish it."""
    try:
        return [metrics.prepare(metric.key, truth, params)]
    except metrics.GroundTruthError:
        return []


def with_samples_alike(some: Sequence[metrics.Truth]) -> list[list[metrics.Truth]]:
    """The truths whose sample submissions, which are public, have labels of the same form."""
    found: dict[tuple[str, ...], list[metrics.Truth]] = {}
    for truth in some:
        found.setdefault(tuple(map(form_of, truth.constant_prediction)), []).append(truth)
    return list(found.values())


def form_of(label: str) -> str:
    """A label by its type, leading zeros, case and odd marks."""
    if NUMBER.fullmatch(label):
        return f"{len(label)} digits" if label.startswith("0") else "whole" if label.isdigit() else "number"
    sorts = ["A" if letter.isupper() else "a" if letter.isalpha() else letter for letter in label]
    return RUN.sub(r"\1", "".join(sorts))


def files(found: World, some: Sequence[metrics.Truth], dice: random.Random) -> Iterator[bytes]:
    """Whatever a student may send: honest, extreme and hostile cells, and the answers of one of the truths alone."""
    header = some[0].submission_columns
    ids = [row[0] for row in found.truth]
    yield found.submission_csv()
    yield from (truth.perfect_submission() for truth in some)
    yield some[0].sample_submission()
    for pool in (LARGE, SMALL, ("1e100", "-1e100", "0"), HOSTILE, CELLS):
        yield printed(header, [[name, *(dice.choice(pool) for _ in header[1:])] for name in ids])
    yield from simple_files(found, header, dice)


def simple_files(found: World, header: Sequence[str], dice: random.Random) -> Iterator[bytes]:
    ids = [row[0] for row in found.truth]
    for cell in ("1e100", "-1e100", "1e-100", "1e308", "5e-324", "0", "1", "zebra"):
        yield printed(header, [[name, *[cell] * (len(header) - 1)] for name in ids])
    honest = [row for row in csv.reader(io.StringIO(found.submission_csv().decode()))][1:]
    for cell in (*dice.sample(CELLS, 4), "1e308"):  # one bad row among honest ones
        rows = [[*row] for row in honest]
        rows[dice.randrange(len(rows))][1] = cell
        yield printed(header, rows)
    yield printed(header, honest[: len(honest) // 2])
    yield printed(header, [*honest[3:], *honest[:2], ["nobody", *honest[0][1:]], honest[5]])
    yield printed(header, [])


def read_by(truth: metrics.Truth, file: bytes) -> tuple[object, ...]:
    """All that the student is told, the score itself apart."""
    try:
        found = truth.evaluate(file)
    except metrics.SubmissionError as error:
        return "invalid", [problem.as_dict() for problem in error.problems]
    except metrics.MetricFailed:
        return ("failed",)
    return "scored", [value.problem for value in found.secondary]


def checked_by(truth: metrics.Truth, file: bytes) -> tuple[object, ...]:
    try:
        truth.check(file)
    except metrics.SubmissionError as error:
        return "invalid", [problem.as_dict() for problem in error.problems]
    return "scored", [""] * len(truth.secondary)


every_metric = pytest.mark.parametrize("metric", BUILT_IN, ids=lambda metric: metric.key)


@every_metric
@pytest.mark.attack("finding answers, weights or ignored rows by what a file is refused for")
def test_what_bo_reads_of_a_file_is_the_same_under_any_answers_and_any_split(metric: metrics.Metric) -> None:
    dice = random.Random(metric.key)
    found, some = truths(metric, {}, dice)
    assert max(map(len, with_samples_alike(some))) >= 2
    for file in dice.sample(list(files(found, some, dice)), 8):
        for alike in with_samples_alike(some):
            the_same_is_read(alike, file)


@pytest.mark.long
@every_metric
def test_what_bo_reads_is_the_same_with_all_parameters(metric: metrics.Metric) -> None:
    dice = random.Random(f"{metric.key} all")
    for params in settings(metric):
        found, some = truths(metric, params, dice)
        for file in files(found, some, dice) if len(some) > 1 else ():  # some parameters need other answers
            for alike in with_samples_alike(some):
                the_same_is_read(alike, file)


@pytest.mark.parametrize("params", [{"power": 1}, {"power": 2}, {"power": 2.5}, {"power": 3}])
def test_what_bo_reads_is_the_same_at_each_power(params: dict[str, Any]) -> None:
    dice = random.Random(3)
    ids = [f"r{number}" for number in range(8)]
    some = []
    for cells in ("1e-100 3 1e100 2 1e-30 5 7 1", "4 1e90 6 1e-90 2 1 9 8"):
        usage = dice.sample(["Public", "Private", "Ignored", "Public"] * 2, 8)
        rows = list(zip(ids, cells.split(), usage, strict=True))
        some.append(metrics.prepare("tweedie_deviance", printed(("id", "y", "Usage"), rows), params))
    for pool in (LARGE, SMALL, ("1e-100", "5e-324", "1e100"), CELLS) * 3:
        the_same_is_read(some, printed(("id", "y"), [[name, dice.choice(pool).lstrip("-")] for name in ids]))


def the_same_is_read(some: Sequence[metrics.Truth], file: bytes) -> None:
    first, *others = (read_by(truth, file) for truth in some)
    assert first[0] != "failed", (some[0].params, file[:300])
    for told in others:
        assert told == first, (some[0].params, file[:300])
    # What is refused is refused before anything is measured, by a check as by submitting.
    assert checked_by(some[-1], file)[0] == first[0], (some[0].params, file[:300])
    if first[0] == "invalid":
        assert checked_by(some[-1], file) == first


@pytest.mark.parametrize("main", ["pearson", "kendall_tau", "mae"])
@pytest.mark.attack("finding answers, weights or ignored rows by what a file is refused for")
def test_what_secondary_metrics_say_of_a_file_is_the_same_under_any_answers(main: str) -> None:
    dice = random.Random(main)
    metric = metrics.get(main)
    beside: list[tuple[str, dict[str, Any]]] = [
        (one.key, {}) for one in NUMBERS if not one.roles and one.truth.columns == 1 and one.key != main
    ]
    answers = [["3", "1", "1e-40", "1e90", "2", "5", "0.5", "7"], ["8", "1e-49", "2e99", "6", "1", "4", "9e9", "2"]]
    usage = ["Public", "Private", "Ignored", "Public", "Private", "Public", "Private", "Ignored"]
    ids = [f"r{number}" for number in range(8)]
    some = []
    for cells in answers:
        rows = list(zip(ids, cells, dice.sample(usage, 8), strict=True))
        some.append(metrics.prepare(main, printed(("id", "y", "Usage"), rows), secondary=beside))
    for _ in range(60):
        pool = dice.choice((LARGE, SMALL, (*SMALL, "1", "2", "3"), CELLS))
        file = printed(("id", "y"), [[name, dice.choice(pool)] for name in ids])
        first, second = (read_by(truth, file) for truth in some)
        assert first == second, (metric.key, file)


def test_how_many_rows_a_secondary_metric_misses_does_not_tell_which_are_ignored() -> None:
    some = [
        metrics.prepare("global_average_precision", text.encode(), secondary=[("exact_match", {})])
        for text in (
            "id,y,Usage\n1,a,Public\n2,b,Private\n3,c,Ignored\n4,d,Ignored\n",
            "id,y,Usage\n1,d,Ignored\n2,a,Private\n3,b,Public\n4,c,Public\n",
        )
    ]
    first, second = (read_by(truth, b"id,y\n1,a 0.5\n2,b 1\n") for truth in some)
    assert first == second
    assert "2 ids missing" in str(first)


def test_a_score_that_is_no_finite_number_all_the_same_fails_and_names_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = metrics.prepare("rmse", b"id,y,Usage\n1,1,Public\n2,2,Private\n")
    computation = dataclasses.replace(truth.metric.computation, total=lambda sums: float("inf"))
    endless = dataclasses.replace(truth.metric, computation=computation)
    monkeypatch.setattr(truth, "metric", endless)
    file = b"id,y\n1,7\n2,8\n"
    with pytest.raises(metrics.MetricFailed) as caught:
        truth.evaluate(file)
    assert str(caught.value) == "The metric rmse gave no finite number."
    assert caught.value.host_details == ""
    assert truth.check(file) == ()


def test_a_file_that_can_be_read_is_not_blamed_for_the_memory_that_measuring_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def measure(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("metrics.core.truth.score_prediction", measure)
    truth = metrics.prepare("f1", b"id,y\n1,a\n2,b\n")
    assert read_by(truth, b"id,y\n1,a\n2,b\n") == ("failed",)


@pytest.mark.attack("the order of the truth's rows, by the ids that a file is told to miss")
def test_the_order_in_which_missing_ids_are_named_is_not_that_of_the_truth() -> None:
    """A truth may be sorted by its answers."""
    rows = [["12", "a"], ["7", "b"], ["3", "a"], ["100", "b"], ["5", "a"], ["44", "b"]]
    forwards, backwards = (metrics.prepare("accuracy", printed(("id", "y"), some)) for some in (rows, rows[::-1]))
    for file in (b"id,y\n7,a\n", b"id,y\n", b"id,y\n07,a\n0005,b\n1e2,a\n"):
        assert read_by(forwards, file) == read_by(backwards, file)
