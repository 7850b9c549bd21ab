"""Agreement with the truth beyond chance; with quadratic weights the measure for ratings.

$$\\kappa = 1 - \\frac{\\sum_{i,j} w_{ij}\\,O_{ij}}{\\sum_{i,j} w_{ij}\\,E_{ij}} \\qquad
E_{ij} = \\frac{t_i\\,p_j}{n}$$

$O_{ij}$ rows are truly $i$ and predicted $j$; $t_i$ rows are truly $i$, $p_j$ are predicted $j$. The weights say how
bad a confusion is:

- `none` (default): every wrong row costs 1;
- `linear`: $w_{ij} = |x_i - x_j|$;
- `quadratic`: $w_{ij} = (x_i - x_j)^2$, the "quadratic weighted kappa" of rating competitions.

Where every true label is a plain number, $x$ is that number, as if every rating between the lowest and the highest
existed: taking 1 for 4 costs 9 even if no row has 2 or 3. Kaggle's definition has all ratings from min to max and
divides the weights by $(N - 1)^2$, which cancels. scikit-learn counts only labels that occur: the truth `1 2 4 4`
against `1 2 2 4` has 0.68 by value (here) and 0.8 by place (there); without gaps both agree. A prediction that is no
number stands one above the highest. Other labels are ordered by alphabet, and $x$ is the place among the labels of
the truth and the predictions.

1 is perfect; one answer everywhere gives 0; answers that differ more than by chance are negative, to -1. A part of the
truth with one label only cannot be scored. With `linear` and `quadratic`, numbers beyond 1e100 are refused.

Source: Cohen 1960 and 1968; *Hewlett Foundation: Automated Essay Scoring* 2012, *APTOS* and *PetFinder* 2019. Equals
scikit-learn's `cohen_kappa_score` where there are no gaps.
"""

from collections.abc import Sequence

import numpy as np

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, Rules, WholeColumn, ratio
from .core.messages import Message
from .numerics.contingency import Weights, by_chance, confusion_matrix, cross, distances, one_label, too_large
from .numerics.sums import exact_sum
from .reading.columns import Cells
from .reading.label_kinds import Label
from .reading.number_kinds import LARGEST, TOO_LARGE


def rows(truth: Coded, prediction: Coded, *, weights: Weights = "none") -> Contributions:
    """The cost of each row, and the mean cost of its true label against all predictions."""
    found = cross(truth, prediction)
    chance = by_chance(found, found.predicted, weights) / found.rows
    return Contributions(np.column_stack([distances(found, weights), chance[found.true]]), found.of_row)


def total(sums: np.ndarray) -> float:
    cost, chance = sums
    return ratio(chance - cost, chance)


def score(truth: Coded, prediction: Coded, *, weights: Weights = "none") -> float:
    """Kappa from sums that were not rounded row by row."""
    found = cross(truth, prediction)
    cost, chance = distances(found, weights) * found.counts, by_chance(found, found.predicted, weights) * found.truly
    expected = exact_sum(chance)
    # Costs are rounded, so the worst possible file could fall below -1 by the last digit.
    return max(-1.0, float((expected - exact_sum(cost) * found.rows) / expected)) if expected else 0.0


def influence(truth: Coded, prediction: Coded, *, weights: Weights) -> np.ndarray:
    """The derivative of kappa by the weight of each row; it depends only on the row's cell of the confusion matrix."""
    found = cross(truth, prediction)
    cost = distances(found, weights) / found.rows
    true = by_chance(found, found.predicted, weights)[found.true] / found.rows**2
    said = by_chance(found, found.truly, weights)[found.said] / found.rows**2
    chance = float(true @ found.counts)
    if not chance:
        return np.zeros(found.rows)
    share = float(cost @ found.counts) / chance
    return ((share * (true + said - chance / found.rows) - cost) / chance)[found.of_row]


def unscorable(truth: Coded, *, weights: Weights) -> str:
    if (same := one_label(truth)) or weights == "none":
        return same
    if len(too_large(truth)):
        return Message("its ratings are so far apart that their distances are no finite numbers.")
    found = cross(truth, truth)
    chance = (by_chance(found, found.truly, weights) * found.truly).sum()
    return "" if chance else Message("its ratings are so close together that their distances are 0.")


def verify(columns: Sequence[Cells], prediction: Coded, *, weights: Weights) -> None:
    """Refuse numbers whose distances would not be finite, whether or not the truth's labels are numbers."""
    if weights != "none" and len(places := too_large(prediction)):
        columns[0].refuse("too_large_values", TOO_LARGE, places, {"bound": f"{LARGEST:g}"})


cohen_kappa = Metric(
    title="Cohen's kappa",
    group="Labels",
    direction="maximize",
    worst=-1.0,
    truth=Label(),
    computation=WholeColumn(
        rows=rows,
        total=total,
        score=score,
        parts=("cost", "by_chance"),
        last_line="1 − {cost} / {by_chance}",
        influence=influence,
    ),
    rules=Rules(verify=verify, unscorable=unscorable),
    figures=confusion_matrix,
    example=Example(
        truth="id,rating\n1,1\n2,2\n3,3\n4,4\n5,4\n6,1\n",
        submission="id,rating\n1,1\n2,3\n3,3\n4,4\n5,2\n6,1\n",
        score=0.7058823529411765,
        params={"weights": "quadratic"},
    ),
)
