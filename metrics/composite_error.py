"""Weighted mean or sum of built-in metrics over named columns; lower is better.

Each part is written on a line of its own (or after a semicolon): its weight, a metric of this catalogue, the columns
that it reads, and its parameters:

    0.3 wape age
    0.7 wape score

With $v_i$ the value of part $i$ and $w_i$ its weight, `combine` = `mean` (default) gives

$$C = \\frac{\\sum_i w_i\\,v_i}{\\sum_i |w_i|}$$

and `combine` = `sum` the numerator alone. Each part is computed on the whole split, as if it were the only metric.

- Without columns a part reads all target columns; `*` in their place stands for the mean over them, each read by
  itself. Names with spaces are written in quotation marks.
- A column that plays a role in a part, such as `weight=w`, is no target. Truth columns that no part reads are not
  scored, and a submission does not have them.
- A metric of which lower values are better has a weight above 0; one of which higher values are better, such as
  `r2`, a weight below 0.
- Several parts may read one column. A submission has each of their columns once, in the order of the parts.
- The best value is that of parts which all have their best.

Source: weighted sums of errors on Kaggle: TReNDS Neuroimaging 2020 (`wape` of five columns, weights 0.3 and four times
0.175).
"""

from __future__ import annotations

from functools import partial
from typing import Annotated

import numpy as np

from .core.contract import ByParameters, Example, Metric, WholeColumn
from .core.figures import Figure
from .numerics.columnwise import Unscored
from .numerics.composite import (
    LONG,
    Combine,
    PartArrays,
    best_of,
    combined,
    has_influence,
    influence_of,
    parts_of,
    ready,
    table_of_parts,
    values_of,
)
from .numerics.composite_columns import columns_of_parts

DIRECTION, DEFAULT = "minimize", "1 mae *"


Parts = Annotated[
    str,
    LONG,
    partial(parts_of, direction=DIRECTION),
    "One part per line: weight, metric, columns and parameters, such as 0.5 pinball price quantile=0.9.",
]


def score(
    truth: PartArrays,
    prediction: PartArrays,
    *,
    parts: Parts = DEFAULT,
    combine: Combine = "mean",
    unscored: Unscored = None,
) -> float:
    """The parts' own values, weighted; ``adapted`` has seen to ``parts``."""
    return combined(truth.parts, values_of(truth, prediction), combine)


def best_for(*, parts: Parts = DEFAULT, combine: Combine = "mean") -> float:
    """The value of parts that all have their best."""
    return best_of(parts_of(parts, DIRECTION), combine)


def influence(truth: PartArrays, prediction: PartArrays, *, combine: Combine = "mean") -> np.ndarray:
    """What each row does to the weighted parts."""
    return influence_of(truth, prediction, combine)


def figures(truth: PartArrays, prediction: PartArrays, *, combine: Combine = "mean") -> list[Figure]:
    """Weight and value of each part."""
    return table_of_parts(truth, prediction, combine)


def adapted(*, parts: Parts = DEFAULT) -> Metric:
    """The metric that reads the columns of these parts."""
    found = parts_of(parts, DIRECTION)
    return Metric(
        title="Composite error",
        group="Composite",
        direction="minimize",
        best=best_for(),
        computation=WholeColumn(
            score=score,
            influence=influence if has_influence(found) else None,
            ready=ready,
        ),
        by_parameters=ByParameters(best=best_for, metric=adapted),
        figures=figures,
        example=EXAMPLE,
        **columns_of_parts(found),
    )


EXAMPLE = Example(
    truth="id,age,score\n1,40,1\n2,60,3\n",
    submission="id,age,score\n1,44,1\n2,56,5\n",
    score=0.374,
    params={"parts": "0.3 wape age\n0.7 wape score", "combine": "sum"},
)

composite_error = adapted()
