"""Which metrics fit Ada's answers, and what files that know nothing score under them."""

import csv
import dataclasses
import io
import json
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import pytest

import metrics
from metrics.checks.baselines import ReferenceScore
from metrics.checks.suggest import SuggestedMetric
from metrics.tests.answer_files import split_table, table

LABELS = ("scab", "rust", "healthy", "complex")
SETS = table("id,y", lambda i, dice: " ".join(dice.sample(LABELS, dice.randint(0, 3))))


def mask(i: int, dice: random.Random) -> str:
    return " ".join(f"{1000 * run + dice.randint(1, 400)} {dice.randint(1, 90)}" for run in range(dice.randint(0, 4)))


def sentence(i: int, dice: random.Random) -> str:
    return " ".join("".join(dice.choices("abcdefgh", k=5)) for _ in range(dice.randint(5, 20)))


FILES: list[tuple[str, bytes, list[str], str]] = [
    (
        "0 and 1",
        table("id,y", lambda i, dice: dice.choice("01")),
        ["roc_auc", "log_loss", "binary_f1"],
        "mean_haversine",
    ),
    ("classes", table("id,y", lambda i, dice: dice.choice(LABELS)), ["accuracy", "f1", "cohen_kappa"], "rmse"),
    ("levels", table("id,y", lambda i, dice: dice.choice("01234")), ["cohen_kappa", "accuracy", "rmse"], "binary_f1"),
    ("numbers", table("id,y", lambda i, dice: f"{dice.gauss(0, 5):.4f}"), ["rmse", "mae", "r2"], "rmsle"),
    ("prices", table("id,y", lambda i, dice: f"{dice.lognormvariate(8, 3):.2f}"), ["rmsle", "rmse"], "roc_auc"),
    ("label sets", SETS, ["multilabel_f1", "map_at_k"], "accuracy"),
    ("masks", table("id,y", mask), ["dice", "iou"], "accuracy"),
    ("texts", table("id,y", sentence), ["word_jaccard"], "rmse"),
    ("phrases", table("id,y", lambda i, dice: f"a survey|census {dice.randint(0, 99)}"), ["multilabel_f1"], "rmse"),
    (
        "0/1 columns",
        table("id,a,b", lambda i, dice: f"{dice.choice('01')},{dice.choice('01')}"),
        ["columnwise_roc_auc"],
        "rmse",
    ),
    (
        "one-hot",
        table("id,a,b,c", lambda i, dice: dice.choice(["1,0,0", "0,1,0", "0,0,1"])),
        ["multiclass_log_loss"],
        "mae",
    ),
    (
        "columns",
        table("id,a,b", lambda i, dice: f"{dice.random()},{-dice.random()}"),
        ["columnwise_rmse"],
        "columnwise_rmsle",
    ),
    (
        "places",
        table("id,latitude,longitude", lambda i, dice: f"{dice.random()},{dice.random()}"),
        ["mean_haversine"],
        "rmse",
    ),
    (
        "times",
        table("id,time,event", lambda i, dice: f"{dice.randint(1, 99)},{dice.choice('01')}"),
        ["survival_concordance"],
        "rmse",
    ),
    (
        "weights",
        table("id,y,sample_weight", lambda i, dice: f"{dice.random()},{dice.random()}"),
        ["weighted_mae"],
        "rmse",
    ),
]


@pytest.mark.parametrize(("data", "first", "unfit"), [file[1:] for file in FILES], ids=[file[0] for file in FILES])
def test_the_usual_metrics_come_first_and_each_says_why(data: bytes, first: list[str], unfit: str) -> None:
    found = metrics.suggest(data)
    assert {fit.key for fit in found} == {metric.key for metric in metrics.catalogue()}
    known = [key for key in first if key in {fit.key for fit in found}]
    best = [fit.key for fit in found if fit.fits and fit.is_usual]
    assert [key for key in best if key in known][: len(known)] == known
    assert set(known) <= set(best[:8])
    assert best[0] == known[0]
    assert all(fit.reason for fit in found)
    assert not next(fit for fit in found if fit.key == unfit).fits
    places = [fit.fits for fit in found]
    assert places == sorted(places, reverse=True)
    json.dumps([dataclasses.asdict(fit) for fit in found])


@pytest.mark.parametrize("data", [file[1] for file in FILES[::4]], ids=[file[0] for file in FILES[::4]])
def test_what_fits_passes_the_check_and_what_does_not_fit_fails_it(data: bytes) -> None:
    # What a composite is made of nobody can suggest.
    offered = [fit for fit in metrics.suggest(data) if not metrics.get(fit.key).is_composite]
    for fit in offered[::7]:
        assert metrics.check_truth(fit.key, data, fit.params, is_quick=True).ok == fit.fits, (fit.key, fit.reason)


def test_a_composite_is_not_suggested_and_can_be_chosen() -> None:
    data = b"id,pond,label\n1,a,cat\n2,b,dog\n3,a,dog\n4,b,cat\n"
    fits = {fit.key: fit for fit in metrics.suggest(data)}
    assert not fits["composite_score"].fits
    assert not fits["composite_error"].fits
    assert metrics.check_truth("composite_score", data, {"parts": "1 accuracy pond; 2 f1 label"}).ok


def test_columns_named_like_a_role_play_it() -> None:
    data = table("id,y,Sample_Weight", lambda i, dice: f"{dice.random()},{dice.random()}")
    fit = next(fit for fit in metrics.suggest(data) if fit.key == "weighted_mae")
    assert fit.fits
    assert fit.params["weight"] == "Sample_Weight"
    assert "weight from “Sample_Weight”" in fit.reason


def first_of(data: bytes, sample: bytes | None = None) -> SuggestedMetric:
    return metrics.suggest(data, sample)[0]


def test_a_further_column_is_no_weight_without_a_sign() -> None:
    data = table("id,price,visits", lambda i, dice: f"{dice.random():.4f},{dice.randint(1, 99)}")
    assert not any(fit.fits for fit in metrics.suggest(data, b"id,price\n1,0.5\n"))
    fits = {fit.key: fit for fit in metrics.suggest(data)}
    assert "2 columns of numbers (“price”, “visits”)" in fits["columnwise_rmse"].reason
    assert not fits["weighted_mae"].fits
    assert first_of(data).key == "columnwise_rmse"
    apart = table("id,bought,visits", lambda i, dice: f"{dice.choice('01')},{dice.randint(1, 9999)}")
    fits = {fit.key: fit for fit in metrics.suggest(apart)}
    assert (fits["columnwise_rmse"].fits, fits["columnwise_rmse"].is_usual) == (True, False)
    assert "some of 0 and 1 and some of other numbers (“bought”, “visits”)" in fits["columnwise_rmse"].reason


def test_a_time_and_an_event_are_known_by_other_names() -> None:
    data = table("id,duration,status", lambda i, dice: f"{dice.randint(1, 900)},{dice.choice('01')}")
    found = first_of(data)
    assert (found.key, found.fits, found.is_usual) == ("survival_concordance", True, True)
    turned = table("id,status,duration", lambda i, dice: f"{dice.choice('01')},{dice.randint(1, 900)}")
    assert first_of(turned).key != "survival_concordance"  # it would take the one for the other


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (lambda i, dice: f'"{dice.randint(0, 9)},{dice.randint(10, 99)}"', "a decimal comma"),
        (lambda i, dice: f"{dice.randint(0, 99)}%", "a percent sign"),
        (lambda i, dice: f'"{dice.randint(1, 9)}.{dice.randint(100, 999)},50"', "marks between the thousands"),
        (lambda i, dice: f'"{dice.randint(1, 9)},{dice.randint(100, 999)}.50"', "marks between the thousands"),
        (lambda i, dice: f"${dice.randint(1, 9999)}.50", "a currency"),
        (lambda i, dice: f"{dice.randint(1, 9999)} €", "a currency"),
        (lambda i, dice: f"{dice.randint(1, 90)}.5 kg", "a unit"),
        (lambda i, dice: f"{dice.randint(1, 999)}k", "a unit"),
        (lambda i, dice: f"CHF {dice.randint(1, 9999)}", "a unit"),
        (lambda i, dice: f"~{dice.randint(1, 999)}", "a unit"),
        (lambda i, dice: f"{dice.randint(1, 999)} ± 2", "a unit"),
        (lambda i, dice: f"{dice.randint(1, 9)}'{dice.randint(100, 999)}.5", "other marks"),
        (lambda i, dice: f'"{dice.randint(1, 9)},{dice.randint(10, 99)},{dice.randint(100, 999)}"', "other marks"),
        (lambda i, dice: f"({dice.randint(1, 9)}.{dice.randint(10, 99)})" if i % 3 else "2.50", "other marks"),
        (lambda i, dice: f"\u2212{dice.randint(1, 999)}", "other marks"),
    ],
)
def test_numbers_in_another_notation_are_no_labels(cell: Callable[[int, random.Random], str], words: str) -> None:
    data = table("id,y", cell)
    assert first_of(data).key == "rmse", "whose check says how numbers are written"
    assert metrics.check_truth("rmse", data, is_quick=True).findings[0].code in ("not_a_number", "decimal_comma")
    fits = {fit.key: fit for fit in metrics.suggest(data)}
    assert f"numbers with {words}" in fits["rmse"].reason
    assert (fits["rmse"].fits, fits["rmse"].nearly_fits) == (False, True)
    assert not fits["accuracy"].is_usual
    assert f"though they are numbers with {words}" in fits["accuracy"].reason


@pytest.mark.parametrize("between", [" ", ",", ";"])
@pytest.mark.parametrize("digits", [2, 3])
def test_lists_of_numbers_are_no_numbers_in_another_notation(between: str, digits: int) -> None:
    numbers = [str(10 ** (digits - 1) + 7 * place) for place in range(9)]
    data = table("id,y", lambda i, dice: f'"{between.join(dice.sample(numbers, dice.choice([1, 3, 4])))}"')
    assert first_of(data).key in ("map_at_k", "multilabel_f1")


def test_a_few_percentages_may_be_names_of_classes() -> None:
    assert first_of(table("id,y", lambda i, dice: dice.choice(["0%", "50%", "100%"]))).key == "accuracy"


def test_the_same_number_in_each_row_is_called_so() -> None:
    assert "the same number in each row" in first_of(table("id,y", lambda i, dice: "3")).reason


@pytest.mark.parametrize(
    ("cell", "line", "first", "words"),
    [
        (lambda i, dice: "x" if i == 15 else dice.choice("01"), 17, "roc_auc", "0 and 1"),
        (lambda i, dice: "1,5".join('""') if i == 7 else f"{dice.gauss(0, 5):.3f}", 9, "rmse", "different numbers"),
        (lambda i, dice: "NA" if i % 12 == 5 else f"{dice.gauss(0, 5):.3f}", 7, "rmse", "different numbers"),
    ],
)
def test_a_few_odd_cells_make_no_labels_of_numbers(
    cell: Callable[[int, random.Random], str], line: int, first: str, words: str
) -> None:
    data = table("id,y", cell)
    found = first_of(data)
    assert (found.key, found.fits, found.nearly_fits, found.is_usual) == (first, False, True, True)
    assert f"{words}, all but " in found.reason
    assert f"(line {line} is " in found.reason
    report = metrics.check_truth(first, data, is_quick=True)
    assert not report.ok
    assert report.findings[0].line == line
    as_labels = next(fit for fit in metrics.suggest(data) if fit.key == "accuracy")
    assert as_labels.fits
    assert not as_labels.nearly_fits


@pytest.mark.parametrize(
    ("cell", "first"),
    [
        (lambda dice: dice.choice(["cat", "dog", "newt"]), "accuracy"),
        (lambda dice: dice.choice("01"), "roc_auc"),
        (lambda dice: f"{dice.gauss(0, 5):.3f}", "rmse"),
    ],
)
def test_an_answer_that_somebody_forgot_makes_no_texts_of_all(cell: Callable[[random.Random], str], first: str) -> None:
    data = table("id,y", lambda i, dice: "" if i == 15 else cell(dice))
    found = first_of(data)
    assert (found.key, found.fits, found.nearly_fits) == (first, False, True)
    assert "all but 1 cell (line 17 is empty)" in found.reason
    assert metrics.check_truth(first, data, is_quick=True).findings[0].code == "missing_value"


def test_many_empty_cells_are_what_is_meant() -> None:
    found = first_of(table("id,y", lambda i, dice: "" if i % 3 else f"{dice.randint(1, 900)}"))
    assert found.fits
    assert "all but" not in found.reason


@pytest.mark.parametrize(
    "cell",
    [
        lambda i, dice: dice.choice("0123456789X"),
        lambda i, dice: "cat" if i != 5 else "7",
        lambda i, dice: f"{dice.randint(1, 9999)}" if i % 2 else f"A{dice.randint(1, 9999)}",
    ],
)
def test_labels_of_digits_and_letters_stay_labels(cell: Callable[[int, random.Random], str]) -> None:
    fits = metrics.suggest(table("id,y", cell))
    assert fits[0].fits
    assert not any(fit.nearly_fits for fit in fits)
    assert "all but" not in fits[0].reason


def test_a_sample_submission_narrows_the_choice() -> None:
    data = table("id,y", lambda i, dice: dice.choice("01"))
    fits = {fit.key: fit for fit in metrics.suggest(data, b"id,y\n1,0.5\n2,0.25\n")}
    assert fits["log_loss"].fits
    assert not fits["binary_f1"].fits
    assert "neither 0 nor 1" in fits["binary_f1"].reason
    fits = {fit.key: fit for fit in metrics.suggest(data, b"id,p_0,p_1\n1,0.5,0.5\n")}
    assert not fits["log_loss"].fits
    assert '"y" is missing' in fits["log_loss"].reason


def test_faults_of_ids_and_split_do_not_hide_which_metrics_fit() -> None:
    data = b"id,y,Usage\n" + b"".join(b"%d,%d,%s\n" % (i // 2, i % 2, [b"Public", b"Hidden"][i % 2]) for i in range(40))
    assert metrics.suggest(data)[0].key == "roc_auc"


def test_a_file_that_is_no_table_fits_nothing() -> None:
    for data in (b"", b"\x89PNG\r\n\x1a\n", b"id;y\n1;2\n"):
        with pytest.raises(metrics.GroundTruthError):
            metrics.suggest(data)
    assert not any(fit.fits for fit in metrics.suggest(b"id\n1\n2\n"))


def test_a_column_of_groups_is_no_answer() -> None:
    data = table("id,patient,y", lambda i, dice: f"p{i // 4},{dice.choice('01')}")
    assert metrics.suggest(data, group="patient")[0].key == "roc_auc"
    assert not next(fit for fit in metrics.suggest(data) if fit.key == "roc_auc").fits


@pytest.mark.thorough
def test_a_long_file_is_judged_by_some_of_its_rows() -> None:
    data = b"id,y,Usage\n" + b"".join(
        b"%d,%d,%s\n" % (i * 7919 % 1000003, i % 3 == 0, [b"Public", b"Private"][i % 2]) for i in range(300_000)
    )
    start = time.process_time()
    assert metrics.suggest(data)[0].key == "roc_auc"
    assert time.process_time() - start < 10


# --- files that know nothing ------------------------------------------------------------------------------------


def files_of(key: str, data: bytes, **params: Any) -> dict[str, ReferenceScore]:
    report = metrics.check_truth(key, data, params)
    assert report.ok
    json.dumps(dataclasses.asdict(report))
    return {one.name: one for one in report.baselines}


def cells_of(data: bytes, part: str) -> list[str]:
    return [row["y"] for row in csv.DictReader(io.StringIO(data.decode())) if row["Usage"] == part]


def test_constants_score_what_they_score_by_hand() -> None:
    data = split_table("id,y", lambda i, dice: f"{dice.lognormvariate(0, 1):.3f}")
    found = files_of("mae", data)
    everything = [float(cell) for part in ("Public", "Private") for cell in cells_of(data, part)]
    for name, answer in (("Mean", statistics.fmean(everything)), ("Median", statistics.median(everything))):
        for part in ("Public", "Private"):
            by_hand = statistics.fmean(abs(float(cell) - answer) for cell in cells_of(data, part))
            assert found[name].values[part.lower()]["value"] == pytest.approx(by_hand, rel=1e-9)
    assert found["Perfect file"].values["private"]["value"] == 0.0
    assert found["Sample submission"].says == '"0.0"'
    error = found["Mean"].values["public"]["standard_error"]
    assert error is not None
    gaps = [abs(float(cell) - statistics.fmean(everything)) for cell in cells_of(data, "Public")]
    assert error == pytest.approx(statistics.stdev(gaps) / len(gaps) ** 0.5, rel=0.2)


def test_the_most_frequent_answer_and_nothing_at_all_are_tried_where_they_may_be() -> None:
    data = split_table("id,y", lambda i, dice: dice.choice(["cat", "cat", "dog"]))
    found = files_of("accuracy", data)
    public = cells_of(data, "Public")
    assert list(found) == ["Sample submission = most frequent answer", "Random answers", "Perfect file"]
    constant = found["Sample submission = most frequent answer"]
    assert constant.says == '"cat"'
    assert constant.values["public"]["value"] == public.count("cat") / len(public)
    sets = files_of("multilabel_f1", split_table("id,y", lambda i, dice: " ".join(dice.sample(LABELS, 2))))
    assert {"Nothing", "Most frequent words"} <= set(sets)
    assert sets["Nothing"].values["private"]["value"] == 0.0


def test_any_constant_is_one_line_where_it_makes_no_difference() -> None:
    found = files_of("roc_auc", split_table("id,y", lambda i, dice: dice.choice("01")))
    assert list(found) == ["Any constant", "Random answers", "Perfect file"]
    assert found["Any constant"].values["public"]["value"] == 0.5


def test_the_share_of_ones_is_the_best_constant_of_the_log_loss() -> None:
    found = files_of("log_loss", split_table("id,y", lambda i, dice: "1" if dice.random() < 0.2 else "0"))
    constants = {name: one.values["private"]["value"] for name, one in found.items() if one.is_constant}
    assert min(constants, key=lambda name: constants[name] or 0.0) == "Mean"


@pytest.mark.thorough
@pytest.mark.parametrize("metric", metrics.catalogue(), ids=lambda metric: metric.key)
def test_every_metric_has_a_random_and_a_perfect_file(metric: metrics.Metric) -> None:
    from metrics.tests.worlds import world

    report = metrics.check_truth(metric.key, world(metric, 2).truth_csv())
    found = {one.name: one for one in report.baselines}
    assert any(one.is_constant for one in report.baselines)
    assert found["Perfect file"].values["public"]["value"] == metric.best
    assert "Random answers" in found
    assert report.measured_rows == 30
    assert report == metrics.check_truth(metric.key, world(metric, 2).truth_csv())


def test_more_rows_make_smaller_differences_mean_something() -> None:
    few, many = (
        metrics.check_truth("accuracy", split_table("id,y", lambda i, dice: dice.choice(LABELS), rows)).apart
        for rows in (90, 9000)
    )
    assert set(few) == set(many) == {"public", "private"}
    assert few["public"] > few["private"] > many["public"] > many["private"]
    # Two files, each right on 3 of 4 rows or by chance, err apart on a third of the rows, and differ there with
    # probability 2·p·(1−p).
    right = 0.75 + 0.25 / 4
    by_hand = 1.96 * (2 * right * (1 - right) / 3 / 6000) ** 0.5
    assert many["private"] == pytest.approx(by_hand, rel=0.15)


def test_a_large_truth_is_measured_on_some_of_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metrics.checks.baselines.MOST_ROWS", 3000)
    report = metrics.check_truth("accuracy", split_table("id,y", lambda i, dice: dice.choice(LABELS), 9000))
    assert (report.rows, report.measured_rows) == (9000, 3000)
    assert report.baselines[-1].values["private"]["value"] == 1.0
    # What is said about all rows is drawn from the doubts on some.
    assert report.apart["private"] == pytest.approx(1.96 * (2 * 0.8125 * 0.1875 / 3 / 6000) ** 0.5, rel=0.15)


def test_one_answer_for_all_is_told_to_be_the_best() -> None:
    data = split_table("id,y", lambda i, dice: "cat" if i % 3 == 0 else dice.choice(LABELS))
    found = {finding.code: finding for finding in metrics.check_truth("accuracy", data).findings}
    assert '"cat"' in found["constant_is_best"].message
    assert "public" in found["constant_is_best"].message
    assert not found["constant_is_best"].blocking


@pytest.mark.thorough
def test_numbers_of_a_hundred_thousand_digits_are_no_mask_and_no_crash() -> None:  # 36
    for digits in (19, 5_000, 60_000):
        fits = metrics.suggest(b"id,y\n" + b"".join(b"%d,%s 1\n" % (i, b"9" * digits) for i in range(4)))
        assert not next(fit for fit in fits if fit.key == "dice").fits
