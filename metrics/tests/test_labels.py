"""Metrics of labels and of label sets equal scikit-learn, say what they refuse, and know what each row changes."""

import random
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.preprocessing import MultiLabelBinarizer

import metrics
from metrics.core.figures import Grid
from metrics.tests.answer_files import column, score

SEEDS = range(6)


def labels_of(seed: int, names: Sequence[str] = "abcde", extra: str = "f") -> tuple[list[str], list[str]]:
    """Labels with ties and repeats; some predicted ones occur in no truth. The last seed is one label said always."""
    dice = random.Random(seed)
    count = dice.choice((2, 7, 60, 300))
    truth = [names[0], names[1], *dice.choices(names, weights=range(1, len(names) + 1), k=count)]
    if seed == 5:
        return truth, [names[-1]] * len(truth)
    said = [label if dice.random() < 0.6 else dice.choice([*names, extra]) for label in truth]
    return truth, said


def quietly(function: Callable[..., float], *args: Any, **keywords: Any) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(function(*args, **keywords))


SINGLE: list[tuple[str, dict[str, Any], Callable[..., float], dict[str, Any]]] = [
    ("error_rate", {}, sk.zero_one_loss, {}),
    ("balanced_accuracy", {}, sk.balanced_accuracy_score, {}),
    ("f1", {}, sk.f1_score, {"average": "macro", "zero_division": 0.0}),
    ("f1", {"average": "micro"}, sk.f1_score, {"average": "micro"}),
    ("f1", {"average": "weighted"}, sk.f1_score, {"average": "weighted", "zero_division": 0.0}),
    *(
        (key, {"average": average, **params}, function, {"average": average, "zero_division": 0.0, **params})
        for key, function, params in (
            ("precision", sk.precision_score, {}),
            ("recall", sk.recall_score, {}),
            ("fbeta", sk.fbeta_score, {"beta": 0.5}),
        )
        for average in ("macro", "micro", "weighted")
    ),
    ("matthews_correlation", {}, sk.matthews_corrcoef, {}),
    ("cohen_kappa", {}, sk.cohen_kappa_score, {}),
    ("cohen_kappa", {"weights": "linear"}, sk.cohen_kappa_score, {"weights": "linear"}),
    ("cohen_kappa", {"weights": "quadratic"}, sk.cohen_kappa_score, {"weights": "quadratic"}),
]
every_single = pytest.mark.parametrize(("key", "params", "reference", "theirs"), SINGLE)


@every_single
def test_it_equals_scikit_learn_on_texts(
    key: str, params: dict[str, Any], reference: Callable[..., float], theirs: dict[str, Any]
) -> None:
    for truth, said in map(labels_of, SEEDS):
        expected = quietly(reference, truth, said, **theirs)
        assert score(key, truth, said, **params) == pytest.approx(expected, rel=1e-12, abs=1e-14)


@every_single
def test_it_equals_scikit_learn_on_numbers(
    key: str, params: dict[str, Any], reference: Callable[..., float], theirs: dict[str, Any]
) -> None:
    if theirs.get("weights"):  # all ratings between the lowest and the highest exist
        theirs = {**theirs, "labels": list(range(-1, 5))}
    for seed in SEEDS:
        truth, said = labels_of(seed, ("-1", "0", "1", "2", "3"), "4")
        expected = quietly(reference, *([*map(int, side)] for side in (truth, said)), **theirs)
        value = score(key, truth, said, **params)
        assert value == pytest.approx(expected, rel=1e-12, abs=1e-14)
        assert score(key, truth, [f"{label}.0" for label in said], **params) == value


ONE_LABEL = {"precision": sk.precision_score, "recall": sk.recall_score, "f1": sk.f1_score}


@pytest.mark.parametrize("key", ONE_LABEL)
def test_one_label_alone_has_the_ratio_that_it_has_in_the_average(key: str) -> None:
    for truth, said in map(labels_of, SEEDS):
        expected = ONE_LABEL[key](truth, said, labels=["b"], average=None, zero_division=0.0)[0]
        assert score(key, truth, said, label=" b") == pytest.approx(expected, rel=1e-12, abs=1e-14)
    assert score(key, [1, 2, 2], ["1.0", 2, 1], label="1.00") == score(key, [1, 0, 0], [1, 0, 1], label="1")


@pytest.mark.parametrize("key", ["precision", "recall", "fbeta", "f1"])
def test_ada_is_told_that_a_split_lacks_the_label_that_alone_counts(key: str) -> None:
    truth = b"id,y,Usage\n1,spam,Public\n2,ham,Public\n3,ham,Private\n"
    with pytest.raises(metrics.GroundTruthError, match=r'The private part cannot be scored: none .* "spam"'):
        metrics.prepare(key, truth, {"label": "spam"})
    assert metrics.prepare(key, truth, {"label": "ham"}).evaluate(b"id,y\n1,spam\n2,ham\n3,ham\n").overall == 1.0


def test_precision_of_classes_shows_each_class() -> None:
    told = metrics.explain("precision", column("aab"), column("abb"), {"average": "macro"})
    _, grid = told.figures
    assert isinstance(grid, Grid)
    assert (grid.rows, grid.cells) == (["a", "b"], [[1, 0, 1, 1.0], [1, 1, 0, 0.5]])


def test_a_truth_of_classes_is_offered_precision_and_recall_over_them() -> None:
    fits = {fit.key: fit for fit in metrics.suggest(column("aabbcc" * 5))}
    for key in ("precision", "recall", "fbeta"):
        assert (fits[key].fits, fits[key].params["average"]) == (True, "macro"), fits[key].reason
    fits = {fit.key: fit for fit in metrics.suggest(column("01" * 15))}
    assert fits["precision"].params["average"] == "binary"


def kappa(truth: Sequence[float], said: Sequence[float], cost: Callable[[float, float], float]) -> float:
    """The definition: the cost of what was said per the cost of all pairs of a truth and a prediction."""
    seen = sum(cost(t, p) for t, p in zip(truth, said, strict=True)) / len(truth)
    return 1 - seen / (sum(cost(t, p) for t in truth for p in said) / len(truth) ** 2)


@pytest.mark.parametrize(("weights", "power"), [("linear", 1), ("quadratic", 2)])
@pytest.mark.parametrize("ratings", [(0, 1, 7), (0.25, 0.5, 3), (1e6, 1e6 + 1, 2e6), (0, 1e-3, 1e9)])
def test_weighted_kappa_goes_by_the_number_and_not_by_the_place(
    weights: str, power: int, ratings: tuple[float, ...]
) -> None:
    dice = random.Random(4)
    truth = [*ratings, *dice.choices(ratings, k=40)]
    said = [value if dice.random() < 0.5 else dice.choice(ratings) for value in truth]
    expected = kappa(truth, said, lambda t, p: abs(t - p) ** power)
    assert score("cohen_kappa", truth, said, weights=weights) == pytest.approx(expected, rel=1e-11, abs=1e-13)


def test_a_word_among_ratings_stands_one_above_the_highest() -> None:
    truth = [1, 2, 3, 3]
    word = score("cohen_kappa", truth, [1, 2, 3, "many"], weights="quadratic")
    assert word == score("cohen_kappa", truth, [1, 2, 3, 4], weights="quadratic")


def test_a_rating_too_large_to_be_squared_is_refused() -> None:
    with pytest.raises(metrics.SubmissionError, match="too large"):
        score("cohen_kappa", [1, 2, 3], [1, 2, "1e200"], weights="quadratic")
    with pytest.raises(metrics.SubmissionError, match="too large"):
        score("cohen_kappa", [1, 2, 3], [1, 2, "1e999999999"], weights="linear")
    assert score("cohen_kappa", [1, 2, 3], [1, 2, "1e999999999"]) == pytest.approx(4 / 7)


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_weighted_kappa_knows_numbers_that_floats_take_for_the_same(weights: str) -> None:
    near, far = (
        ["1e16", "1e16", "10000000000000001", "10000000000000003"],
        ["10000000000000003", "1e16", "1e16", "1e16"],
    )
    assert score("cohen_kappa", near, near, weights=weights) == 1.0
    expected = kappa([0, 0, 1, 3], [3, 0, 0, 0], lambda t, p: abs(t - p) ** (1 if weights == "linear" else 2))
    assert score("cohen_kappa", near, far, weights=weights) == pytest.approx(expected, rel=1e-12)


def test_weighted_kappa_never_falls_below_its_scale() -> None:
    ratings = ["0.1", "0.2", "0.30000000000000000001"]
    assert score("cohen_kappa", ratings, ratings[::-1], weights="quadratic") == -1.0


@pytest.mark.parametrize(
    ("ratings", "words"), [(["1e308", "-1e308", "1"], "so far apart"), (["1e-200", "2e-200", "3e-200"], "so close")]
)
def test_ada_is_told_of_ratings_whose_distances_no_float_holds(ratings: list[str], words: str) -> None:
    with pytest.raises(metrics.GroundTruthError, match=words):
        score("cohen_kappa", ratings, ratings, weights="quadratic")
    assert score("cohen_kappa", ratings, ratings) == 1.0


@pytest.mark.parametrize("key", ["cohen_kappa", "matthews_correlation"])
def test_a_truth_of_one_label_is_the_hosts_error(key: str) -> None:
    with pytest.raises(metrics.GroundTruthError, match="all its answers are the same"):
        metrics.prepare(key, column("aaa"))
    with pytest.raises(metrics.GroundTruthError, match="The private part"):
        metrics.prepare(key, b"id,y,Usage\n1,1,Public\n2,2,Public\n3,2,Private\n4,2.0,Private\n")


def test_the_worked_numbers_of_the_pages() -> None:
    assert score("f1", "aaab", "aaaa") == pytest.approx(0.429, abs=5e-4)
    assert score("f1", "aaab", "aaaa", average="weighted") == pytest.approx(0.643, abs=5e-4)
    assert score("f1", "aaab", "aaaa", average="micro") == 0.75
    assert score("balanced_accuracy", "aaab", "aaaa") == 0.5
    assert score("precision", "aaab", "aaaa", average="macro") == 0.375
    assert score("precision", "aaab", "aaaa", average="weighted") == 0.5625
    assert score("recall", "aaab", "aaaa", average="macro") == 0.5
    assert score("fbeta", "aaab", "aaaa", average="macro", beta=2) == 0.46875
    assert score("fbeta", "aaab", "aaaa", average="weighted", beta=2) == 0.703125
    assert score("matthews_correlation", "11100", "11000") == pytest.approx(2 / 3)
    assert score("matthews_correlation", "1100", "0011") == -1.0
    assert score("hamming_loss", ["a b", "c"], ["a", "c b"]) == pytest.approx(1 / 3)
    assert score("exact_match", ["scab rust"], ["scab"]) == 0.0
    assert score("multilabel_f1", ["scab rust"], ["scab"]) == pytest.approx(2 / 3)
    assert score("jaccard", ["scab rust"], ["scab"]) == 0.5


def test_counts_stay_exact_on_many_rows() -> None:
    truth, said = "10" * 100_000, "10" * 99_999 + "01"
    right, wrong = 99_999, 1
    assert score("matthews_correlation", truth, said) == (right**2 - wrong**2) / (right + wrong) ** 2
    assert score("error_rate", truth, said) == 1e-5


def sets_of(seed: int) -> tuple[list[str], list[str]]:
    """Cells with repeats and any order; some are empty, some labels are only predicted."""
    dice = random.Random(seed)
    count = dice.choice((1, 6, 80))
    truth = ["a b", *(" ".join(dice.choices("abcde", k=dice.randint(0, 4))) for _ in range(count))]
    said = [cell if dice.random() < 0.4 else " ".join(dice.choices("abcdef", k=dice.randint(0, 4))) for cell in truth]
    return truth, said


def matrices(truth: list[str], said: list[str], *, of_truth: bool = False) -> tuple[np.ndarray, np.ndarray]:
    true, predicted = ([cell.split() for cell in side] for side in (truth, said))
    binary = MultiLabelBinarizer().fit(true if of_truth else [*true, *predicted])
    return binary.transform(true), binary.transform(predicted)


@pytest.mark.parametrize("average", ["samples", "micro", "macro", "weighted"])
def test_jaccard_equals_scikit_learn(average: str) -> None:
    zero = 1.0 if average == "samples" else 0.0
    for truth, said in map(sets_of, SEEDS):
        expected = quietly(sk.jaccard_score, *matrices(truth, said), average=average, zero_division=zero)
        assert score("jaccard", truth, said, average=average) == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_exact_match_equals_the_subset_accuracy_of_scikit_learn() -> None:
    for truth, said in map(sets_of, SEEDS):
        assert score("exact_match", truth, said) == sk.accuracy_score(*matrices(truth, said))


def test_hamming_loss_equals_scikit_learn_with_the_columns_of_the_truth() -> None:
    for truth, answers in map(sets_of, SEEDS):
        known = set(" ".join(truth).split())
        said = [" ".join(label for label in cell.split() if label in known) for cell in answers]
        expected = sk.hamming_loss(*matrices(truth, said, of_truth=True))
        assert score("hamming_loss", truth, said) == pytest.approx(expected, rel=1e-12)
        assert score("hamming_loss", truth, said, labels=50) == pytest.approx(expected * len(known) / 50, rel=1e-12)


def test_naming_labels_that_nobody_has_does_not_lower_the_hamming_loss() -> None:
    truth = ["a", "b", "a b", "b"]
    honest = score("hamming_loss", truth, ["b", "b", "b", "b"])
    assert score("hamming_loss", truth, ["b " + " ".join(f"x{n}" for n in range(99)), "b", "b", "b"]) > honest
    assert score("hamming_loss", ["a", "a"], ["x y", "z"]) == 2.5


def test_without_labels_the_hamming_loss_has_no_answers() -> None:
    with pytest.raises(metrics.GroundTruthError, match="none of its rows has a label"):
        metrics.prepare("hamming_loss", column(["", ""]))
    assert score("hamming_loss", ["", ""], ["", "a"], labels=4) == 0.125
    with pytest.raises(metrics.GroundTruthError, match="its rows have 3 different labels, more than the 2 there are"):
        metrics.prepare("hamming_loss", column(["a", "b c"]), {"labels": 2})


SETS = ["multilabel_f1", "jaccard", "exact_match"]


@pytest.mark.parametrize("key", SETS)
@pytest.mark.parametrize("average", ["samples", "micro", "macro", "weighted"])
def test_nothing_to_find_and_nothing_found_is_right(key: str, average: str) -> None:
    params = {"average": average} if key != "exact_match" else {}
    assert score(key, ["", ""], ["", ""], **params) == 1.0
    assert score(key, ["", ""], ["a", "a"], **params) == 0.0
    assert score(key, ["a", "a"], ["", ""], **params) == 0.0


@pytest.mark.parametrize("key", [*SETS, "hamming_loss"])
@pytest.mark.parametrize("separator", [None, ";", "and", " "])
def test_order_repeats_and_the_separator_change_nothing(key: str, separator: str | None) -> None:
    between = separator if separator and separator.strip() else "  "
    truth = [["rust", "scab"], ["healthy"], [], ["scab"]]
    said = [["scab", "rust", "rust"], ["rust", "healthy"], ["rust"], ["scab", "scab"]]
    joined = [[f" {between} ".join(cell) for cell in side] for side in (truth, said)]
    plain = [[" ".join(cell) for cell in side] for side in (truth, said)]
    assert score(key, *joined, separator=separator) == score(key, *plain)


def test_one_cell_with_many_labels_costs_no_more_than_its_labels() -> None:
    many = " ".join(f"l{number}" for number in range(9_000))
    truth, said = [many, *["a"] * 300], [many + " z", *(f"a x{row}" for row in range(300))]
    assert score("exact_match", truth, said) == 0.0
    assert score("jaccard", truth, said) == pytest.approx((9000 / 9001 + 150) / 301)
    assert score("jaccard", truth, said, average="micro") == pytest.approx(9300 / 9601)
    assert score("jaccard", truth, said, average="macro") == pytest.approx(9001 / 9302)


def test_sets_are_counted_alike_in_blocks_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, said = sets_of(2)
    for key in ("jaccard", "multilabel_f1"):
        for average in ("samples", "macro"):
            whole = score(key, truth, said, average=average)
            for size in (1, 2, 7):
                monkeypatch.setattr("metrics.numerics.label_sets._BLOCK", size)
                assert score(key, truth, said, average=average) == whole


LABELS = ["error_rate", "balanced_accuracy", "f1", "matthews_correlation", "cohen_kappa"]


@pytest.mark.parametrize("key", LABELS)
def test_an_empty_prediction_is_refused_and_an_empty_truth_too(key: str) -> None:
    with pytest.raises(metrics.SubmissionError, match=r'1 value of "y" is missing: line 3 \(id "1"\)'):
        score(key, "aab", ["a", "", "b"])
    with pytest.raises(metrics.GroundTruthError, match="missing"):
        metrics.prepare(key, column(["a", "", "b"]))


@pytest.mark.parametrize("key", ["f1", "cohen_kappa", "matthews_correlation", "balanced_accuracy"])
def test_the_confusion_matrix_adds_up_and_names_at_most_twelve_labels(key: str) -> None:
    dice = random.Random(1)
    names = [f"l{number:02}" for number in range(30)]
    truth, said = names + dice.choices(names, k=30), dice.choices(names, k=60)
    grid, *_ = metrics.explain(key, column(truth), column(said)).figures
    assert isinstance(grid, Grid)
    assert len(grid.rows) == len(grid.columns) == 12
    assert grid.rows[-1] == "other labels"
    assert sum(sum(map(int, row)) for row in grid.cells) == 60
    assert "19 rarest labels" in grid.note
    assert grid.marked == {(place, place) for place in range(11)}
    small, *_ = metrics.explain(key, column("aabb"), column("abbb")).figures
    assert isinstance(small, Grid)
    assert small.cells == [[1, 1], [0, 2]]


@pytest.mark.parametrize(("key", "value"), [("jaccard", 0.5), ("multilabel_f1", 2 / 3)])
def test_averages_over_labels_show_the_labels(key: str, value: float) -> None:
    told = metrics.explain(key, column(["a b", "b"]), column(["a", "a b"]), {"average": "macro"})
    (grid,) = told.figures
    assert isinstance(grid, Grid)
    assert list(grid.rows) == ["a", "b"]
    assert grid.cells == [[1, 1, 0, value], [1, 0, 1, value]]
    assert told.result.overall == value
    assert not metrics.explain(key, column(["a"]), column(["a"])).figures
