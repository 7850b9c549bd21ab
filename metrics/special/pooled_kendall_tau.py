"""Kendall's tau of ordered lists, from the pairs of all lists together.

A cell holds the items of one list in order, separated by white space: `c1 c4 c2`. With $n_i$ items in the true list $i$
and $S_i$ pairs of them that the submission has in the other order,

$$K = 1 - 4\\,\\frac{\\sum_i S_i}{\\sum_i n_i (n_i - 1)}$$

From -1 (every list reversed) to 1 (every list right). Pairs are added over all rows before they are divided, so a list
of 100 items counts as much as 110 lists of 10. True `a b c d` and predicted `b a c d` have 1 of 6 pairs reversed:
0.667.

- A pair of which the submission lacks an item counts as reversed: an empty cell is as bad as the reversed list.
- Items that the true list does not have are passed over, and a repeated item counts at its first place.
- Lists of fewer than two items count nowhere; a part of the truth with no others is refused at publication.

Pairs are counted exactly, in O(n log n) for all lists together.

Source: "Google AI4Code: Understand Code in Python Notebooks" on Kaggle, 2022.
"""

import numpy as np

from ..core.arrays import Coded
from ..core.contract import Contributions, Example, Metric, RowSum, Rules, distinct_pairs, ratio
from ..core.messages import Message
from ..numerics.cells import expand
from ..numerics.label_sets import label_sets
from ..numerics.ranked_lists import LabelList, Lists, places_among, ranked_labels
from ..numerics.ranks import smaller_before
from ..reading.label_kinds import LabelSet
from ..reading.tables import codes_among

_EVERY = 1 << 62


def rows(truth: Coded, prediction: Coded) -> Contributions:
    by_value = truth.once(label_sets, None).are_numbers
    true, predicted = (column.once(ranked_labels, None, _EVERY, by_value) for column in (truth, prediction))
    true_cells, predicted_cells, of_row = distinct_pairs(truth, prediction)
    lengths = _lengths(true)[true_cells]
    ranks, owner = _ranks(true, predicted, true_cells, predicted_cells)
    found = np.bincount(owner, minlength=len(true_cells))
    # Items of later lists get higher numbers, so only pairs within one list can be in the wrong order.
    before = np.arange(len(ranks)) - smaller_before(_numbers(owner, ranks))
    pairs = lengths * (lengths - 1) // 2
    wrong = np.bincount(owner, before, minlength=len(true_cells)) + pairs - found * (found - 1) // 2
    return Contributions(np.column_stack([wrong, pairs]).astype(np.float64), of_row)


def _lengths(lists: Lists) -> np.ndarray:
    """The number of distinct items of each cell."""
    cells = np.repeat(np.arange(len(lists.starts) - 1), np.diff(lists.starts))
    return np.bincount(cells[lists.codes >= 0], minlength=len(lists.starts) - 1)


def _ranks(
    true: Lists, predicted: Lists, true_cells: np.ndarray, predicted_cells: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The true place of each predicted item that its true list has, in predicted order, and the index of its pair of
    cells."""
    cells = np.repeat(np.arange(len(true.starts) - 1), np.diff(true.starts))
    labelled = np.flatnonzero(true.codes >= 0)
    width = len(true.vocabulary) + 1
    keys = cells[labelled] * width + true.codes[labelled]
    order = np.argsort(keys)
    codes = np.append(codes_among(predicted.vocabulary, true.vocabulary), -1).astype(np.int64)
    places, owner = expand(predicted.starts, predicted_cells)
    code = codes[predicted.codes[places]]
    which = places_among(true_cells[owner].astype(np.int64) * width + code, keys[order])
    is_there = (code >= 0) & (which >= 0)
    return labelled[order][which[is_there]], owner[is_there]


def _numbers(owner: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """0, 1, 2 … over all lists, ordered by list and within a list by true place."""
    numbers = np.empty(len(ranks), np.int64)
    numbers[np.lexsort((ranks, owner))] = np.arange(len(ranks))
    return numbers


def total(sums: np.ndarray) -> float:
    reversed_pairs, pairs = sums
    return 1.0 - 2.0 * ratio(reversed_pairs, pairs)


def unscorable(truth: Coded) -> str:
    lengths = _lengths(truth.once(ranked_labels, None, _EVERY))[truth.codes]
    return "" if (lengths > 1).any() else Message("no list has two items.")


pooled_kendall_tau = Metric(
    title="Kendall's tau of lists",
    group="Rankings",
    direction="maximize",
    worst=-1.0,
    truth=LabelSet(),
    submission=LabelList(),
    computation=RowSum(
        rows=rows,
        total=total,
        parts=("reversed", "pairs"),
        last_line="1 − 2·{reversed} / {pairs}",
    ),
    rules=Rules(unscorable=unscorable),
    example=Example(
        truth="id,order\nn1,a b c d\nn2,x y\nn3,p q r\n",
        submission="id,order\nn1,b a c d\nn2,y x\nn3,p q r\n",
        score=0.6,
    ),
)
