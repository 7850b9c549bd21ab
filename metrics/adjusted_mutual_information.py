"""Mutual information of true and predicted clusters, corrected for chance: 0 is what guessing gives.

With $n_{jk}$ rows in true cluster $j$ and predicted cluster $k$, $a_j$ and $b_k$ the rows of each, $N$ all rows, and
$\\mathrm{MI} = \\sum_{j,k} \\frac{n_{jk}}{N} \\ln \\frac{N n_{jk}}{a_j b_k}$ the mutual information,

$$\\mathrm{AMI} = \\frac{\\mathrm{MI} - E}{\\mathrm{mean}(H_a, H_b) - E}$$

where $H_a$ and $H_b$ are the entropies of both columns and $E$ is the mean of MI over all ways to deal the rows into
clusters of these sizes (hypergeometric). Names of clusters do not matter.

1 is perfect; random clusters score about 0 however many they are, where `normalised_mutual_information` rises with
their number; worse than chance is below 0. `average` chooses the mean: arithmetic by default, geometric, min or max. If
both columns put all rows together, or both put all apart, the score is 1.

The number of clusters should be small beside that of the rows: the time grows with the pairs of different sizes.

Source: Vinh, Epps and Bailey 2010. Equals scikit-learn's `adjusted_mutual_info_score`.
"""

import numpy as np

from .core.arrays import Coded
from .core.contract import Example, Metric, WholeColumn
from .core.figures import Figure, Grid
from .normalised_mutual_information import Average, mean
from .numerics.cells import blocks, expand_ranges
from .numerics.contingency import Cluster, contingency, cross, information
from .numerics.sums import exact_sum

_LEAST = float(np.finfo(np.float64).eps)
_SIGMAS, _MORE = 12.0, 40
"""Numbers of common rows that are so many standard deviations and rows from their mean are too rare to count."""


def expected(truly: np.ndarray, predicted: np.ndarray, rows: int) -> float:
    """The mean mutual information of clusters of these sizes, dealt by chance."""
    sizes = [np.unique(counts[counts > 0], return_counts=True) for counts in (truly, predicted)]
    (ours, our_times), (theirs, their_times) = sizes
    a, b = np.repeat(ours, len(theirs)).astype(np.float64), np.tile(theirs, len(ours)).astype(np.float64)
    times = np.repeat(our_times, len(theirs)) * np.tile(their_times, len(ours))
    middle = a * b / rows
    reach = _SIGMAS * np.sqrt(middle * (1 - a / rows) * (1 - b / rows)) + _MORE
    low = np.maximum(np.maximum(0, a + b - rows), np.floor(middle - reach)).astype(np.int64)
    high = np.minimum(np.minimum(a, b), np.ceil(middle + reach)).astype(np.int64)
    found = np.zeros(len(a))
    for some in blocks(high - low + 1):
        found[some] = _means(a[some], b[some], low[some], high[some], rows)
    return float(exact_sum(found * times))


def _means(a: np.ndarray, b: np.ndarray, low: np.ndarray, high: np.ndarray, rows: int) -> np.ndarray:
    """For each pair of sizes the mean of its term of the mutual information, over ``low`` to ``high`` common rows."""
    common, pair = expand_ranges(low, high + 1)
    starts = np.cumsum(high - low + 1) - (high - low + 1)
    a, b = a[pair], b[pair]
    # The logarithm of the chance of each number, beside that of the one before.
    before = np.where(common == low[pair], 1.0, common - 1.0)
    odds = (a - before) * (b - before) / np.maximum(common * (rows - a - b + common), 1.0)
    steps = np.log(np.where(common == low[pair], 1.0, odds))
    logs = np.cumsum(steps)
    logs -= logs[starts][pair]
    chances = np.exp(logs - np.maximum.reduceat(logs, starts)[pair])
    terms = common / rows * np.log(np.maximum(rows * common / (a * b), 1e-300))
    return np.asarray(np.add.reduceat(chances * terms, starts) / np.add.reduceat(chances, starts))


def parts(truth: Coded, prediction: Coded) -> tuple[float, float, float, float]:
    found = cross(truth, prediction)
    sums = [float(exact_sum(column * found.counts)) / found.rows for column in information(found).T]
    return max(sums[0], 0.0), sums[1], sums[2], expected(found.truly, found.predicted, found.rows)


def score(truth: Coded, prediction: Coded, *, average: Average = "arithmetic") -> float:
    shared, true, said, chance = parts(truth, prediction)
    if shared == true == said:
        return 1.0
    under = mean(true, said, average) - chance
    return min(1.0, (shared - chance) / (min(under, -_LEAST) if under < 0 else max(under, _LEAST)))


def figures(truth: Coded, prediction: Coded, *, average: Average) -> list[Figure]:
    names = ["mutual information", "entropy of the truth", "entropy of the prediction", "expected by chance"]
    cells = [[value] for value in (*parts(truth, prediction), score(truth, prediction, average=average))]
    return [*contingency(truth, prediction), Grid("In nats", [*names, "score"], ["value"], cells)]


adjusted_mutual_information = Metric(
    title="Adjusted mutual information",
    group="Clusterings",
    direction="maximize",
    truth=Cluster(),
    computation=WholeColumn(score=score),
    figures=figures,
    example=Example(
        truth="id,cluster\n1,a\n2,a\n3,b\n4,b\n",
        submission="id,cluster\n1,x\n2,x\n3,y\n4,z\n",
        score=0.5714285714285716,
    ),
)
