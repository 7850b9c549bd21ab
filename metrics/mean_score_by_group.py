"""Mean over groups of rows of another metric, such as one per query or shop; higher is better.

With $m_g$ the value of the metric on the rows of group $g$ of the split alone,

$$M = \\frac{1}{G} \\sum_{g=1}^{G} m_g$$

`metric` names a metric of this catalogue and its parameters, such as `ndcg_at_k k=10`. The group of a row is a
further column of the truth, which the host names in `group`; students do not see that column. If the metric itself
reads a further column, such as `weight`, the host names it as for that metric.

- A group of one row counts as much as one of thousands; with `average` `rows` each counts by its rows.
- A group that the metric cannot score, such as one with answers of one class under `roc_auc`, is refused at
  publication. With `skip` it is left out, and only a split without any other group is refused.
- Groups are those of the split. For the interval, few large groups stay and their rows are resampled; many small ones,
  such as queries, are resampled as a whole.
- Three right of four rows in one group and one of two in another give (0.75 + 0.5) / 2 = 0.625, by rows 4 / 6.

Source: macro average over queries, users or sites; with `roc_auc`, `average` `rows` and `skip` the grouped AUC (GAUC)
of advertising (Zhou et al. 2018).
"""

from .core.contract import Example
from .numerics.by_group import mean_by_group

mean_score_by_group = mean_by_group(
    title="Mean score by group",
    direction="maximize",
    default="accuracy",
    help="The metric of each group and its parameters, such as roc_auc, or fbeta beta=2.",
    example=Example(
        truth="id,y,group\n1,a,x\n2,a,x\n3,b,x\n4,b,x\n5,a,z\n6,b,z\n",
        submission="id,y\n1,a\n2,a\n3,b\n4,a\n5,a\n6,a\n",
        score=0.625,
    ),
)
