"""Weighted mean or sum of built-in metrics over named columns; higher is better.

Each part is written on a separate line (or after a semicolon): its weight, a metric of this catalogue, the columns
that it reads, and its parameters:

    2 balanced_accuracy root
    1 accuracy vowel

With $v_i$ the value of part $i$ and $w_i$ its weight, `combine` = `mean` (default) gives

$$C = \\frac{\\sum_i w_i\\,v_i}{\\sum_i |w_i|}$$

and `combine` = `sum` the numerator alone. Each part is computed on the whole split, as if it were the only metric.

- Without columns a part reads all target columns; `*` in their place stands for the mean over them, each read by
  itself. Names with spaces are written in quotation marks.
- A column that plays a role in a part, such as `weight=w`, is no target. Truth columns that no part reads are not
  scored, and a submission does not have them.
- A metric of which higher values are better has a weight above 0; one of which lower values are better, such as
  `rmse`, a weight below 0.
- Several parts may read one column. A submission has each of their columns once, in the order of the parts.
- The best value is that of parts which all have their best.

Source: weighted means of metrics on Kaggle: Bengali.AI Handwritten Graphemes 2020 (`balanced_accuracy` of three
columns, weights 2, 1 and 1), American Express Default Prediction 2022 (`weighted_gini` and `capture_rate`), UW-Madison
GI Tract Segmentation 2022 (`dice` and `hausdorff_3d`).
"""

from ..core.contract import Example
from .numerics.composite import composite

composite_score = composite(
    title="Composite score",
    direction="maximize",
    default="1 accuracy *",
    help="One part per line: weight, metric, columns and parameters, such as 0.5 cohen_kappa grade weights=quadratic.",
    example=Example(
        truth="id,root,vowel\n1,a,x\n2,a,y\n3,b,x\n4,b,y\n",
        submission="id,root,vowel\n1,a,x\n2,b,y\n3,b,x\n4,b,x\n",
        score=0.75,
        params={"parts": "2 balanced_accuracy root\n1 accuracy vowel"},
    ),
)
