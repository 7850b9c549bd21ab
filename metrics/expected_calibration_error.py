"""Expected calibration error (ECE): how far probabilities are from what comes true.

The rows are put into bins $B_1 \\dots B_m$ by their probability. With $\\bar p_b$ the mean probability of a bin and
$\\bar y_b$ the share of its rows whose answer is 1,

$$\\mathrm{ECE} = \\sum_{b=1}^{m} \\frac{|B_b|}{n}\\,|\\bar p_b - \\bar y_b|$$

0 is perfect, 1 the worst. It says nothing of how well rows are told apart: predicting the share of 1s everywhere has an
ECE of 0. So rank by `log_loss` or `brier`, and show this beside it. With few rows or many bins it is above 0 by chance.

- `bins` are of equal width, 10 by default: from 0 to 0.1, above 0.1 to 0.2, and so on; empty ones do not count.
- `norm` `max` is the largest gap of a bin (MCE).
- `classes` `top` is for more classes: the truth has labels (or a 0/1 column per class) and a submission a probability
  for each class, in columns named like the labels. The probability of a row is that of its likeliest class (ties: the
  first), and its answer is 1 if that is the true one.

Source: Naeini, Cooper and Hauskrecht 2015; Guo, Pleiss, Sun and Weinberger 2017 (`top`).
"""

from dataclasses import replace
from typing import Annotated, Literal

import numpy as np

from .core.contract import ByParameters, Example, Metric, Rules, SubmissionFormat, WholeColumn
from .core.figures import Curve, Figure, Grid
from .core.parameters import Range
from .numerics.sums import exact_sum, group_sums
from .reading.class_columns import Classes, ClassProbabilities, OneClass, certain, class_names
from .reading.number_kinds import Binary, Probability

Bins = Annotated[int, Range(1, 1000), "The number of bins."]
Norm = Annotated[Literal["mean", "max"], "mean: the bins' mean gap by their rows (ECE); max: the largest gap (MCE)."]
Kind = Annotated[Literal["binary", "top"], "binary: answers 0 and 1; top: of several classes the likeliest."]


def likeliest(truth: np.ndarray | Classes, prediction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Answers and probabilities; of several classes whether the likeliest is right, and its probability."""
    if not isinstance(truth, Classes):
        return truth, prediction
    return (prediction.argmax(axis=1) == truth.codes).astype(np.float64), prediction.max(axis=1)


def binned(answers: np.ndarray, said: np.ndarray, bins: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The bin of each row, and for each bin its rows and the sum of their gaps."""
    places = np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], said, side="left")
    return places, np.bincount(places, minlength=bins), group_sums(said - answers, places, bins)


def score(truth: np.ndarray | Classes, prediction: np.ndarray, *, bins: Bins = 10, norm: Norm = "mean") -> float:
    _, counts, gaps = binned(*likeliest(truth, prediction), bins)
    if norm == "max":
        return float((np.abs(gaps) / np.maximum(counts, 1)).max())
    return float(exact_sum(np.abs(gaps)) / int(counts.sum()))


def influence(truth: np.ndarray | Classes, prediction: np.ndarray, *, bins: Bins, norm: Norm) -> np.ndarray:
    answers, said = likeliest(truth, prediction)
    places, counts, gaps = binned(answers, said, bins)
    own = np.sign(gaps)[places] * (said - answers)
    if norm == "mean":
        return (own - np.abs(gaps).sum() / len(said)) / len(said)
    means = np.abs(gaps) / np.maximum(counts, 1)
    worst = int(means.argmax())
    return np.where(places == worst, own - means[worst], 0.0) / counts[worst]


def figures(truth: np.ndarray | Classes, prediction: np.ndarray, *, bins: Bins) -> list[Figure]:
    answers, said = likeliest(truth, prediction)
    places, counts, _ = binned(answers, said, bins)
    used = np.flatnonzero(counts)
    means = [np.bincount(places, values, minlength=bins)[used] / counts[used] for values in (said, answers)]
    cells = np.column_stack([counts[used], *means, np.abs(means[0] - means[1])]).tolist()
    names = [f"{place / bins:g} to {(place + 1) / bins:g}" for place in used.tolist()]
    points = list(zip(means[0].tolist(), means[1].tolist(), strict=True))
    note = "On the line from corner to corner probabilities come true."
    curve = Curve("Reliability", "mean probability", "share of 1s", points, diagonal=True, filled=False, note=note)
    return [curve, Grid("Each bin", names, ["rows", "mean probability", "share of 1s", "gap"], cells, corner="bin")]


def adapted(*, classes: Kind = "binary") -> Metric:
    metric, rules = expected_calibration_error, Rules(perfect=certain)
    if classes == "binary":
        return metric
    return replace(
        metric, truth=OneClass(), submission=ClassProbabilities(), format=SubmissionFormat(class_names), rules=rules
    )


expected_calibration_error = Metric(
    title="Expected calibration error",
    group="Probabilities",
    direction="minimize",
    worst=1.0,
    truth=Binary(),
    submission=Probability(),
    computation=WholeColumn(score=score, influence=influence),
    by_parameters=ByParameters(metric=adapted),
    figures=figures,
    example=Example(
        truth="id,y\n1,0\n2,1\n3,1\n4,1\n",
        submission="id,y\n1,0.25\n2,0.25\n3,0.75\n4,0.75\n",
        score=0.25,
    ),
)
