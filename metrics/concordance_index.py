"""Share of pairs with different events whose risks are in the right order.

The truth says whether the event happened (1) or not (0), the submission gives any number as risk:

$$C = \\frac{n_\\text{concordant} + \\tfrac12 n_\\text{ties}}{n_\\text{pairs}}$$

over all pairs of a row with the event and a row without; concordant means that the row with the event has the higher
risk. **This equals the area under the ROC curve**: it knows no time. If the truth has times, use
`survival_concordance`.

Constant risks give 0.5. Risks are compared exactly, 0.3 and 0.30000000000000004 are no tie. The submission's column is
named like the truth's or `risk`.

Source: *evaluations* 0.0.1, `concordance_index`.
"""

from .core.contract import Example, Metric, Rules, SubmissionFormat, WholeColumn, quotient
from .numerics.ranks import one_class, ranks_of, roc_area, roc_curve, roc_effective_size, roc_influence, wins
from .reading.number_kinds import Binary, RankedScore

concordance_index = Metric(
    title="Concordance index",
    group="Survival",
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
    format=SubmissionFormat(aliases=("risk",)),
    rules=Rules(unscorable=one_class),
    figures=roc_curve,
    example=Example(
        truth="id,event\n1,1\n2,0\n3,1\n4,1\n5,0\n",
        submission="id,event\n1,0.8\n2,0.43\n3,0.62\n4,0.58\n5,0.62\n",
        score=0.75,
    ),
)
