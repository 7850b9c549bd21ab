"""Mean over groups of rows of another metric, such as one per query or shop; lower is better.

With $m_g$ the value of the metric on the rows of group $g$ of the split alone,

$$M = \\frac{1}{G} \\sum_{g=1}^{G} m_g$$

`metric` names a metric of this catalogue and its parameters, such as `pinball quantile=0.9`. The group of a row is a
further column of the truth, which the host names in `group`; students never see it there. A column that the metric
reads, too, keeps the name that the metric has for it, such as `weight`.

- A group of one row counts as much as one of thousands; with `average` `rows` each counts by its rows.
- A group that the metric cannot score, such as one with answers of one class under `roc_auc`, is refused at
  publication. With `skip` it is left out, and only a split without any other group is refused.
- Groups are those of the split. The interval takes few large groups as they are, with other rows; many small ones,
  such as queries, as drawn from others.
- Errors of 1 and 3 in one group and of 10 in another give an MAE of (2 + 10) / 2 = 6, by rows 14 / 3.

Source: macro average over series, shops or sites, as in forecasting competitions such as M5.
"""

from .core.contract import Example
from .numerics.by_group import mean_by_group

mean_error_by_group = mean_by_group(
    title="Mean error by group",
    direction="minimize",
    default="mae",
    help="The metric of each group and its parameters, such as rmse, or pinball quantile=0.9.",
    example=Example(
        truth="id,y,group\n1,5,x\n2,5,x\n3,50,z\n",
        submission="id,y\n1,6\n2,8\n3,40\n",
        score=6.0,
    ),
)
