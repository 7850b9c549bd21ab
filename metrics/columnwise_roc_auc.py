"""Mean over target columns of the area under the ROC curve.

The truth has one 0/1 column per label, the submission one score under the same name; any finite numbers will do. With
$o_l$ pairs of a 1 above a 0 in column $l$, $e_l$ pairs with equal scores and $n_l$ pairs in all,

$$\\mathrm{AUC} = \\frac{1}{L} \\sum_{l=1}^{L} \\frac{o_l + \\tfrac12 e_l}{n_l}$$

That is `roc_auc` for each column by itself, then the plain mean: a column with three 1s counts as much as one with
3,000.

- Constant scores give 0.5. Columns with areas of 1 and 0.5 give 0.75. With one column this is `roc_auc`.
- A column with one class only in a split has no area: such a truth is refused at publication. With `skip` the column
  is left out of that split, and only a split without any usable column is refused.
- `average` `weighted`: the mean by the 1s of each column; `micro`: one area of all cells of all columns together.

Source: Toxic Comment Classification 2018, RANZCR CLiP 2021; with `skip` BirdCLEF 2024, where columns without a 1 were
left out. Equals scikit-learn's `roc_auc_score` with `average="macro"`.
"""

import numpy as np

from .core.contract import ByParameters, Example, Metric, Rules, WholeColumn
from .core.figures import Figure
from .numerics.averages import (
    Skip,
    Unscored,
    added_over,
    counted_columns,
    mean_of_columns,
    missing_class,
    table_of_columns,
)
from .numerics.class_areas import ColumnAverage, of_columns
from .numerics.ranks import roc_area, roc_influence, wins
from .reading.number_kinds import Binary, RankedScore


def share(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    ordered, pairs = wins(truth, prediction).T
    return ordered / max(1.0, float(pairs.sum()))


def rows(truth: np.ndarray, prediction: np.ndarray, *, skip: Skip = False) -> np.ndarray:
    return added_over(truth, prediction, counted_columns(truth, skip), share)[:, None]


def total(sums: np.ndarray, *, unscored: Unscored = None) -> float:
    return float(sums[0])


def areas(truth: np.ndarray, prediction: np.ndarray, skip: bool) -> dict[int, float]:
    """The area of each averaged column, by column index."""
    places = counted_columns(truth, skip)
    return {place: roc_area(truth[:, place], prediction[:, place]) for place in places}


def score(truth: np.ndarray, prediction: np.ndarray, *, skip: Skip = False) -> float:
    return mean_of_columns(list(areas(truth, prediction, skip).values()))


def influence(truth: np.ndarray, prediction: np.ndarray, *, skip: Skip) -> np.ndarray:
    return added_over(truth, prediction, counted_columns(truth, skip), roc_influence)


def figures(truth: np.ndarray, prediction: np.ndarray, *, skip: Skip) -> list[Figure]:
    return table_of_columns(truth, areas(truth, prediction, skip), "AUC")


def adapted(*, average: ColumnAverage = "macro") -> Metric:
    return columnwise_roc_auc if average == "macro" else of_columns(columnwise_roc_auc)


columnwise_roc_auc = Metric(
    title="Column-wise ROC AUC",
    group="Probabilities",
    direction="maximize",
    worst=0.0,
    truth=Binary(many=True),
    submission=RankedScore(many=True),
    computation=WholeColumn(
        rows=rows,
        total=total,
        score=score,
        parts=("area",),
        last_line="{area}",
        influence=influence,
    ),
    rules=Rules(unscorable=missing_class),
    by_parameters=ByParameters(metric=adapted),
    figures=figures,
    example=Example(
        truth="id,rust,scab\n1,0,1\n2,0,0\n3,1,0\n4,1,1\n",
        submission="id,rust,scab\n1,0.1,0.9\n2,0.4,0.3\n3,0.35,0.2\n4,0.8,0.5\n",
        score=0.875,
    ),
)
