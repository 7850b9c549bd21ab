"""Normalised Gini coefficient: how well the scores sort the rows by their answers.

From the highest score down the answers are added up; the Gini coefficient is the area between their growing share and
that of a guess. It is divided by the same area for the best order. With $n$ rows, $r_i$ the rank of row $i$ by score
and $r^*_i$ its rank by answer, both from the highest down and equal ones sharing their mean rank,

$$G = \\frac{\\sum_i y_i \\left(\\frac{n+1}{2} - r_i\\right)}{\\sum_i y_i \\left(\\frac{n+1}{2} - r^*_i\\right)}$$

- Answers are numbers from 0 on, such as amounts of loss. For answers 0 and 1 this is $2\\,\\mathrm{AUC} - 1$.
- Answers may count from any number on: 10, 11, 13 score as 0, 1, 3 do. The table counts them from the smallest.
- Only the order of the scores matters. The right order gives 1, the reverse one -1, constant scores 0.
- Equal scores share their rank, so the order of the file never matters. (Kaggle's scripts took equal scores in the
  order of the file; without equal scores both agree.)
- Answers 0, 1, 3 with scores in the order 0, 3, 1 (the second and third exchanged) give 0.333.
- A split in which all answers are equal is refused at publication.

Source: Kaggle's normalised Gini: Allstate 2011, Liberty Mutual 2015, Porto Seguro 2017.
"""

import numpy as np

from .core.contract import Example, Metric, Rules, WholeColumn, ratio
from .core.figures import Curve, Figure
from .core.messages import Message
from .numerics.sums import exact_sum
from .reading.number_kinds import Number, RankedScore


def lead(scores: np.ndarray) -> np.ndarray:
    """The rank of each row relative to the middle rank, equal scores sharing: half of (rows with a lower score minus
    rows with a higher one). Shape (n,), multiples of 0.5."""
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ahead = np.cumsum(counts)
    return (2 * ahead - counts - len(scores))[places] / 2


def pull(truth: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The derivative of ``sum(truth * lead(scores))`` by the weight of each row: its own term, and its effect on the
    leads of the others. The sums are in an order that depends only on the values."""
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    added = np.concatenate([[0.0], np.cumsum(truth[np.lexsort((truth, places))])])
    ends = np.cumsum(counts)
    above, below = added[-1] - added[ends], added[ends - counts]
    return truth * ((2 * ends - counts - len(scores)) / 2)[places] + ((above - below) / 2)[places]


def lorenz(truth: np.ndarray, scores: np.ndarray, title: str) -> Figure:
    """The Lorenz curve: the share of all answers found so far, from the highest score down; one point for each distinct
    score."""
    _, places = np.unique(-scores, return_inverse=True)
    found, rows = np.cumsum(np.bincount(places, truth)), np.cumsum(np.bincount(places))
    points = [(0.0, 0.0), *zip((rows / rows[-1]).tolist(), (found / found[-1]).tolist(), strict=True)]
    note = "The line from corner to corner is what guessing gives; the Gini coefficient is the area between the two."
    return Curve(title, "share of the rows", "share of the answers", points, diagonal=True, filled=False, note=note)


def rows(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """The contribution of each answer to the area by its rank, and to the best possible area.

    Leads add up to 0, so the smallest answer may be subtracted from all; so large answers that differ little keep their
    digits.
    """
    above = truth - truth.min()
    return np.column_stack([above * lead(prediction), above * lead(truth)])


def total(sums: np.ndarray) -> float:
    return float(np.clip(ratio(*sums), -1.0, 1.0))


def influence(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """The derivative of the ratio of both areas by the weight of each row; the ratio does not depend on the unit of
    answers."""
    above = truth - truth.min()
    share = above / above.max()
    area, best = (float(exact_sum(column)) for column in rows(share, prediction).T)
    return (pull(share, prediction) - area / best * pull(share, share)) / best


def figures(truth: np.ndarray, prediction: np.ndarray) -> list[Figure]:
    return [lorenz(truth, prediction, "By score"), lorenz(truth, truth, "In the best order")]


def unscorable(truth: np.ndarray) -> str:
    if (truth == truth[0]).all():
        return Message("all its answers are {answer}; different ones are needed.", answer=f"{truth[0]:g}")
    return ""


gini = Metric(
    title="Normalised Gini",
    group="Probabilities",
    direction="maximize",
    worst=-1.0,
    truth=Number(minimum=0),
    submission=RankedScore(),
    computation=WholeColumn(
        rows=rows,
        total=total,
        parts=("area", "best_area"),
        last_line="{area} / {best_area}",
        influence=influence,
    ),
    rules=Rules(unscorable=unscorable),
    figures=figures,
    example=Example(
        truth="id,loss\n1,0\n2,3\n3,0\n4,1\n5,2\n",
        submission="id,loss\n1,0.2\n2,0.9\n3,0.4\n4,0.3\n5,0.8\n",
        score=0.875,
    ),
)
