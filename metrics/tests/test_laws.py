"""Laws that every metric file obeys, found by themselves: a new file is under them without a line here."""

import dataclasses
import json
import math
import random
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import metrics
from metrics.core.contract import chosen
from metrics.reading import label_kinds, number_kinds
from metrics.tests.worlds import World, world

CATALOGUE = metrics.catalogue()
every_metric = pytest.mark.parametrize("metric", CATALOGUE, ids=lambda metric: metric.key)
SEEDS = range(3)  # in one test each, because thousands of tests cost more than what they look at


def example_of(metric: metrics.Metric) -> tuple[bytes, bytes]:
    return metric.example.truth.encode(), metric.example.submission.encode()


def score_of(metric: metrics.Metric, found: World, dice: random.Random | None = None) -> metrics.Result:
    return metrics.evaluate(metric.key, found.truth_csv(dice), found.submission_csv(dice))


@cache
def scored(key: str, seed: int) -> metrics.Result:
    """The result of the world that most laws look at."""
    metric = metrics.get(key)
    return score_of(metric, world(metric, seed))


def test_no_metric_file_escapes_the_laws() -> None:
    library = Path(metrics.__file__).parent
    paths = [*library.glob("*.py"), *library.glob("special/*.py")]
    files = [path.stem for path in paths if not path.name.startswith("_")]
    assert sorted(files) == sorted(metric.key for metric in CATALOGUE)
    assert len(files) >= 16


@every_metric
def test_the_worked_example_is_right(metric: metrics.Metric) -> None:
    truth, submission = example_of(metric)
    assert metrics.evaluate(metric.key, truth, submission, metric.example.params).overall == metric.example.score
    assert metrics.score(metric.key, truth, submission, **metric.example.params).overall == metric.example.score


@every_metric
def test_a_perfect_file_gets_the_best_value_on_both_splits(metric: metrics.Metric) -> None:
    for seed in SEEDS:
        truth = metrics.prepare(metric.key, world(metric, seed).truth_csv())
        result = truth.evaluate(truth.perfect_submission())
        assert (seed, result.overall, result.public, result.private) == (seed, *(metric.best,) * 3)


GROUPS = {
    "Numbers",
    "Labels",
    "Probabilities",
    "Rankings",
    "Text",
    "Masks and boxes",
    "Clusterings",
    "Survival",
    "Composite",
}


def beaten(metric: metrics.Metric, value: float) -> bool:
    """Whether a value is better than the metric's best."""
    return value > metric.best if metric.direction == "maximize" else value < metric.best


@every_metric
def test_nothing_beats_the_best_value(metric: metrics.Metric) -> None:
    for seed in SEEDS:
        result = scored(metric.key, seed)
        for value in (result.overall, result.public, result.private):
            assert value is not None, seed
            assert not beaten(metric, value), seed


ENDS = [
    ("smape", {}, 200.0, "id,y\n1,1\n2,1\n", "id,y\n1,-3\n2,0\n"),
    ("smape", {"scale": 1}, 1.0, "id,y\n1,1\n2,1\n", "id,y\n1,-3\n2,0\n"),
    ("levenshtein", {"normalised": True}, 1.0, "id,t\n1,ab\n2,c\n", "id,t\n1,xy\n2,zz\n"),
    ("mean_angular_error", {}, math.pi, "id,azimuth,zenith\n1,0,1\n2,1,1\n", None),
    ("mean_angular_error", {"unit": "degrees"}, 180.0, "id,azimuth,zenith\n1,0,30\n2,1,30\n", None),
    ("mean_haversine", {"radius": 2}, 2 * math.pi, "id,lat,lon\n1,0,0\n2,90,0\n", "id,lat,lon\n1,0,180\n2,-90,0\n"),
]


@pytest.mark.parametrize(("key", "params", "worst", "truth", "opposite"), ENDS)
def test_the_scale_ends_where_the_metric_says(
    key: str, params: dict[str, Any], worst: float, truth: str, opposite: str | None
) -> None:
    assert metrics.get(key).worst_with(metrics.clean_params(key, params)) == worst
    if opposite is not None:
        result = metrics.prepare(key, truth.encode(), params).evaluate(opposite.encode(), uncertainty=True)
        assert result.overall == pytest.approx(worst, rel=1e-12)
        assert result.uncertainty["overall"].high == pytest.approx(worst, rel=1e-12)


def test_the_law_of_the_best_value_can_fail() -> None:
    accuracy = metrics.get("accuracy")
    assert beaten(accuracy, 1.0000000000000002)
    assert beaten(metrics.get("rmse"), -1e-300)
    understated = dataclasses.replace(accuracy, best=0.5)
    truth, _ = example_of(understated)
    assert beaten(understated, metrics.score("accuracy", truth, truth).overall)


@every_metric
def test_row_order_is_irrelevant_to_the_last_bit(metric: metrics.Metric) -> None:
    for seed in SEEDS:
        found = world(metric, seed, rows=120)
        results = [score_of(metric, found, random.Random(shuffle)) for shuffle in range(4)]
        assert len({(one.overall, one.public, one.private) for one in results}) == 1, seed


@every_metric
def test_the_result_is_a_finite_plain_float(metric: metrics.Metric) -> None:
    for seed in SEEDS:
        result = scored(metric.key, seed)
        for value in (result.overall, result.public, result.private):
            assert type(value) is float, seed
            assert math.isfinite(value), seed
        assert json.loads(json.dumps(result.as_dict())) == result.as_dict()


@every_metric
def test_inputs_stay_untouched(metric: metrics.Metric) -> None:
    found = world(metric, 7)
    truth, submission = (
        pd.DataFrame(rows, columns=list(header))
        for rows, header in ((found.truth, found.header), (found.submission, found.submission_header))
    )
    before = truth.copy(deep=True), submission.copy(deep=True)
    prepared = metrics.prepare(metric.key, truth)
    first = prepared.evaluate(submission)
    assert prepared.evaluate(submission) == first
    assert truth.equals(before[0])
    assert submission.equals(before[1])
    assert first.overall == score_of(metric, found).overall


@every_metric
def test_sums_over_parts_add_up_to_the_whole(metric: metrics.Metric) -> None:
    if metric.computation.is_whole:
        return  # its rows are ranked, paired or weighed within a split
    for seed in SEEDS:
        parts = scored(metric.key, seed).parts
        for name, value in parts.get("overall", {}).items():
            assert value == pytest.approx(parts["public"][name] + parts["private"][name], rel=1e-12), seed


@every_metric
def test_each_split_is_scored_as_if_it_were_alone(metric: metrics.Metric) -> None:
    found = world(metric, 5)
    result = score_of(metric, found)
    for split, value in (("Public", result.public), ("Private", result.private)):
        rows = {row[0] for row in found.truth if row[-1] == split}
        alone = World(
            found.header[:-1],
            [row[:-1] for row in found.truth if row[0] in rows],
            found.submission_header,
            [row for row in found.submission if row[0] in rows],
        )
        assert score_of(metric, alone).overall == value
        assert score_of(metric, alone).public is None


@every_metric
def test_it_documents_itself_and_its_parameters(metric: metrics.Metric) -> None:
    assert metric.summary.endswith((".", "label."))
    assert len(metric.summary) <= 100
    assert metric.description
    assert re.search(r"\$\$.+?\$\$", metric.description, re.DOTALL)
    assert metric.columns
    assert re.search(r"^(Source|Equals)\b", metric.description, re.MULTILINE), "where does it come from?"
    assert metric.direction in ("maximize", "minimize")
    assert metric.group in GROUPS
    worst = metric.worst_with(metrics.clean_params(metric.key, {}))
    assert worst is None or beaten(metric, 2 * metric.best - worst)
    for parameter in metric.parameters:
        assert parameter.help.endswith("."), parameter.name
        assert json.loads(json.dumps(parameter.default)) == parameter.default
    defaults = metrics.clean_params(metric.key, {})
    assert metric.best_with(defaults) == metric.best
    assert defaults == {parameter.name: parameter.default for parameter in metric.parameters}
    as_form = {name: "" if value is None else str(value) for name, value in defaults.items()}
    assert metrics.clean_params(metric.key, as_form) == defaults


@every_metric
def test_it_shows_how_the_worked_example_adds_up(metric: metrics.Metric) -> None:
    told = metrics.explain(metric.key, *example_of(metric), metric.example.params)
    assert told.result.overall == metric.example.score
    assert told.contributions or told.figures, "a metric is never a mystery"
    assert len(told.rows) == told.result.rows
    for row, contributed in zip(told.rows, told.contributions, strict=bool(told.contributions)):
        assert len(row) == len(told.header)
        assert len(contributed) == len(told.parts)
    for place, part in enumerate(told.parts):
        assert told.sums[part] == pytest.approx(sum(row[place] for row in told.contributions), rel=1e-12)
    if metric.computation.rows is not None and metric.computation.total is not None:
        default = metrics.explain(metric.key, *example_of(metric), {})
        assert default.last_line, "how do the sums become the score?"
        assert "{" not in default.last_line + default.worked


@every_metric
def test_the_score_of_a_whole_column_is_what_its_rows_add_up_to(metric: metrics.Metric) -> None:
    if metric.computation.score is None or metric.computation.total is None:
        return
    for seed in SEEDS:
        found = world(metric, seed)
        result = scored(metric.key, seed)
        told = metrics.explain(metric.key, found.truth_csv(), found.submission_csv())
        added = metric.computation.total(
            np.array(list(told.sums.values())), **chosen(metric.computation.total, result.params)
        )
        assert added is None or added == pytest.approx(result.overall, rel=1e-12, abs=1e-15), seed


@pytest.mark.thorough
@every_metric
def test_the_uncertainty_holds_the_value_and_knows_no_row_order(metric: metrics.Metric) -> None:
    for seed in SEEDS:
        uncertainty_is_sound(metric, world(metric, seed, rows=60))


def uncertainty_is_sound(metric: metrics.Metric, found: World) -> None:
    results = []
    for shuffle in (None, 1, 2):
        dice = random.Random(shuffle) if shuffle else None
        truth = metrics.prepare(metric.key, found.truth_csv(dice))
        results.append(truth.evaluate(found.submission_csv(dice), uncertainty=True))
    for split in ("public", "private", "overall"):
        first, *others = (result.uncertainty[split] for result in results)
        value = getattr(results[0], split)
        assert first.low <= value <= first.high
        assert first.standard_error is not None
        assert math.isfinite(first.standard_error)
        assert not beaten(metric, first.high if metric.direction == "maximize" else first.low)
        for other in others:
            assert (other.standard_error, other.low, other.high) == (first.standard_error, first.low, first.high)
            assert other.replicates.tolist() == first.replicates.tolist()


@every_metric
def test_a_file_is_neither_better_nor_worse_than_itself(metric: metrics.Metric) -> None:
    found = world(metric, 4)
    truth = metrics.prepare(metric.key, found.truth_csv())
    ours, best = (
        truth.evaluate(file, uncertainty=True) for file in (found.submission_csv(), truth.perfect_submission())
    )
    assert metrics.compare(ours, ours).probability == 0.5
    assert metrics.compare(best, ours).probability >= 0.5
    there, back = metrics.compare(best, ours, "private"), metrics.compare(ours, best, "private")
    assert there.difference == -back.difference
    assert there.probability == pytest.approx(1 - back.probability)


@every_metric
def test_its_file_is_short(metric: metrics.Metric) -> None:
    assert 20 <= len(metric.source_path.read_text().splitlines()) <= 120
    assert metric.source_path.stem == metric.key


# Answers that are only 0 or 1 are no secret words: a message may name a digit for other reasons.
TEXTS = (label_kinds.Label, label_kinds.LabelSet, label_kinds.Words, label_kinds.LabelOrNone)
WITH_WORDS = [
    metric
    for metric in metrics.catalogue()
    if isinstance(metric.truth, (*TEXTS, number_kinds.Number)) and not metric.truth.many
]


@pytest.mark.parametrize("metric", WITH_WORDS, ids=lambda metric: metric.key)
def test_no_message_quotes_a_truth_value_or_a_split(metric: metrics.Metric) -> None:
    found = world(metric, 3)
    secret = "canary"
    position = 1
    truth = [list(row) for row in found.truth]
    if isinstance(metric.truth, number_kinds.Number):
        secret = "0.918273"
    for number, row in enumerate(truth):
        # Some answers stay, because a part whose answers are all the same may be nothing to score.
        row[position] = secret if number % 3 else row[position]
    prepared = metrics.prepare(metric.key, World(found.header, truth, (), []).truth_csv())
    broken = [
        ",".join(found.submission_header) + "\n" + "id1,\nid1,x y z\n",
        ",".join(found.submission_header) + "\n" + "".join(f"{row[0]},?,?,?\n" for row in truth),
        ",".join(found.submission_header) + "\n" + "".join(f"{row[0]},\n" for row in truth),
        "nothing\n",
    ]
    for text in broken:
        try:
            prepared.evaluate(text.encode())
        except metrics.SubmissionError as error:
            told = json.dumps([problem.as_dict() for problem in error.problems]).lower()
            assert secret not in told
            assert "public" not in told
            assert "private" not in told


@every_metric
def test_the_sample_is_valid_and_the_same_in_each_row(metric: metrics.Metric) -> None:
    truth = metrics.prepare(metric.key, world(metric, 11).truth_csv())
    sample = truth.sample_submission()
    assert math.isfinite(truth.evaluate(sample).overall)
    head, *lines = sample.decode().splitlines()
    assert head == ",".join(truth.submission_columns)
    assert len({line.partition(",")[2] for line in lines}) == 1
    assert len(lines) == truth.rows


@pytest.mark.thorough
@every_metric
def test_the_self_test_of_a_good_truth_passes(metric: metrics.Metric) -> None:
    report = metrics.check_truth(metric.key, world(metric, 2).truth_csv())
    assert report.ok
    assert report.self_test["passed"]
    assert (report.rows, report.public_rows, report.private_rows, report.ignored_rows) == (40, 10, 20, 10)
    json.dumps(dataclasses.asdict(report))


def test_the_catalogue_is_read_without_heavy_libraries() -> None:
    code = (
        "import sys, metrics\n"
        "for m in metrics.catalogue(): m.parameters, m.version, m.description, m.confirmation({})\n"
        "metrics.sniff(b'id,y\\n', 5, ['id', 'y'])\n"
        "print([n for n in ('pandas', 'pyarrow', 'scipy', 'sklearn') if n in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_metric_loads_scikit_learn_to_score() -> None:
    code = (
        "import sys, metrics\n"
        "for m in metrics.catalogue(): metrics.score(m.key, m.example.truth.encode(), m.example.submission.encode())\n"
        "print([n for n in ('pandas', 'scipy', 'sklearn') if n in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_shop_window_shows_what_exists() -> None:
    assert all(hasattr(metrics, name) for name in metrics.__all__)
    assert len(set(metrics.__all__)) == len(metrics.__all__)


def test_an_unknown_metric_is_told() -> None:
    with pytest.raises(metrics.UnknownMetric, match="nonsense") as caught:
        metrics.get("nonsense")
    assert isinstance(caught.value, KeyError)


PARAMETERS: list[tuple[str, dict[str, object], str]] = [
    ("fbeta", {"beta": "0"}, "over 0"),
    ("fbeta", {"beta": "x"}, "finite number"),
    ("fbeta", {"beta": "nan"}, "finite number"),
    ("fbeta", {"gamma": 1}, "no such parameter"),
    ("multilabel_f1", {"average": "mean"}, "not one of"),
    ("thresholded_f1", {"count": "1.5"}, "whole number"),
    ("thresholded_f1", {"count": "-1"}, "at least 0"),
    ("word_jaccard", {"lowercase": "perhaps"}, "true nor false"),
    ("log_loss", {"clip": 0.7}, "at most 0.5"),
]


@pytest.mark.parametrize(("key", "given", "words"), PARAMETERS)
def test_ada_is_told_which_parameter_is_wrong(key: str, given: dict[str, object], words: str) -> None:
    with pytest.raises(metrics.ParameterError) as caught:
        metrics.clean_params(key, given)
    assert list(caught.value.errors) == list(given)
    assert words in caught.value.errors[next(iter(given))]


@every_metric
def test_no_number_leaves_the_range_of_its_parameter(metric: metrics.Metric) -> None:
    for one in metric.parameters:
        beyond = (one.minimum, -1, "at least|over"), (one.maximum, 1, "at most")
        for end, step, words in ((end, step, words) for end, step, words in beyond if end is not None):
            with pytest.raises(metrics.ParameterError, match=f"Must be ({words}) "):
                metrics.clean_params(metric.key, {one.name: end + step})


def test_parameters_come_as_texts_from_forms() -> None:
    assert metrics.clean_params("thresholded_f1", {"threshold": "0.25", "count": "3", "average": "micro"}) == {
        "threshold": 0.25,
        "count": 3,
        "average": "micro",
    }
    assert metrics.clean_params("word_jaccard", {"lowercase": "off"}) == {"lowercase": False}
    assert metrics.clean_params("binary_f1", {"positive": "0"}) == {"positive": 0}


def test_only_the_reading_that_can_be_gamed_needs_a_confirmation() -> None:
    metric = metrics.get("coleridge_fbeta")
    assert metric.confirmation({}) == ""
    assert "repeating" in metric.confirmation({"matching": "per_prediction"})


def test_the_exact_sum_knows_no_order() -> None:
    from metrics.numerics.sums import exact_sum

    dice = np.random.default_rng(3)
    check: Callable[[np.ndarray], float] = lambda values: float(exact_sum(values))  # noqa: E731
    for scale in (1.0, 1e300, 5e-324, 1e-310):
        values = dice.normal(size=500) * np.exp(dice.normal(size=500) * 20).clip(1e-30, 1e5) * scale
        assert check(values) == math.fsum(values) == check(values[::-1])
    assert check(np.array([1e308, 1e-308, -1e308])) == 1e-308
    assert check(np.array([5e-324] * 3)) == 1.5e-323
    assert check(np.zeros(0)) == 0.0
