"""How surprised the predicted probabilities are by the truth, for answers 0 and 1.

With $p_i$ the probability that the submission gave to the true answer,

$$\\mathrm{LogLoss} = -\\frac{1}{n} \\sum_{i=1}^{n} \\ln \\max(p_i, c)$$

where `clip` is $c$: without it one sure and wrong answer would cost infinitely much. At $c = 10^{-15}$ it costs 34.5.
Answering 0.5 everywhere gives 0.693; sure and right everywhere gives 0. Probabilities outside 0 to 1 are refused.

Small values of $c$ let a team read single answers from the board; 0.001 prevents that.

For several columns of answers see `columnwise_log_loss`, for more than two classes `multiclass_log_loss`.

Equals scikit-learn's `log_loss`, except that probabilities near 1 are clipped there too.
"""

from .core.contract import Example, Metric
from .numerics.averages import mean_over_rows
from .numerics.log_losses import surprise
from .reading.number_kinds import Binary, Probability

log_loss = Metric(
    title="Log loss",
    group="Probabilities",
    direction="minimize",
    truth=Binary(),
    submission=Probability(),
    computation=mean_over_rows(surprise),
    example=Example(
        truth="id,y\n1,1\n2,0\n3,0\n4,1\n",
        submission="id,y\n1,0.9\n2,0.1\n3,0.2\n4,0.65\n",
        score=0.21616187468057912,
    ),
)
