"""Weighted mean or sum of built-in metrics over named columns; lower is better.

Each part is written on a separate line (or after a semicolon): its weight, a metric of this catalogue, the columns
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

from ..core.contract import Example
from .numerics.composite import composite

composite_error = composite(
    title="Composite error",
    direction="minimize",
    default="1 mae *",
    help="One part per line: weight, metric, columns and parameters, such as 0.5 pinball price quantile=0.9.",
    example=Example(
        truth="id,age,score\n1,40,1\n2,60,3\n",
        submission="id,age,score\n1,44,1\n2,56,5\n",
        score=0.374,
        params={"parts": "0.3 wape age\n0.7 wape score", "combine": "sum"},
    ),
)
