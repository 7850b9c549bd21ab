"""Area under the ROC curve: the chance that a 1 gets a higher score than a 0.

$$\\mathrm{AUC} = \\frac{n_\\text{ordered} + \\tfrac12 n_\\text{ties}}{n_1 \\cdot n_0}$$

over all pairs of a row with truth 1 and a row with truth 0. Only the order of the scores matters, so any finite numbers
will do; probabilities are usual. Labels 0 and 1 are scores, too, but leave almost every pair a tie, and the student is
told so. Constant scores give 0.5, reversed ones turn a value $v$ into $1 - v$.

With answers such as `yes` and `no`, name in `label` the one that counts as 1; a submission has its score.

With more classes, set `average`; a submission then has one score per class, in columns named like the labels.

- `macro`: the mean over the classes of the area of each against all others; `weighted`: the mean by their rows;
- `micro`: one area of the scores of all rows and classes together, those of the true classes being the 1s;
- `pairs`: the mean over all pairs of classes $a$, $b$ of two areas on the rows of both, $a$ against $b$ by the scores
  of $a$, and $b$ against $a$ by those of $b$.

Classes without a row in a split are left out of its average. With areas of 1, 0.5 and 0.75, macro is 0.75.

Source: Hanley and McNeil 1982; in pairs Hand and Till 2001. Equals scikit-learn's `roc_auc_score` with the same word
for `average` and `multi_class="ovr"`; `pairs` is its `multi_class="ovo"`.
"""

from .core.contract import ByParameters, Example, Metric, Rules, WholeColumn, quotient
from .numerics.class_areas import Average, OneLabel, of_classes, of_label
from .numerics.ranks import (
    one_class,
    only_labels,
    ranks_of,
    roc_area,
    roc_curve,
    roc_effective_size,
    roc_influence,
    wins,
)
from .reading.number_kinds import Binary, RankedScore


def adapted(*, average: Average = "binary", label: OneLabel = None) -> Metric:
    if label is not None:
        return of_label(roc_auc, label)
    return roc_auc if average == "binary" else of_classes(roc_auc)


roc_auc = Metric(
    title="ROC AUC",
    group="Probabilities",
    direction="maximize",
    worst=0.0,
    truth=Binary(),
    submission=RankedScore(),
    computation=WholeColumn(
        rows=wins,
        total=quotient,
        score=roc_area,
        parts=("ordered", "pairs"),
        influence=roc_influence,
        effective_size=roc_effective_size,
        ready=ranks_of,
    ),
    rules=Rules(unscorable=one_class, hint=only_labels),
    by_parameters=ByParameters(metric=adapted),
    figures=roc_curve,
    example=Example(
        truth="id,y\n1,0\n2,0\n3,1\n4,1\n",
        submission="id,y\n1,0.1\n2,0.4\n3,0.35\n4,0.8\n",
        score=0.75,
    ),
)
