"""chrF of a corpus: F-score of the runs of up to six characters that both sides share.

With $m_n$ the runs of $n$ characters that predictions and references share, a repeated one as often as both have it,
and $l_n$ and $r_n$ all such runs of the predictions and of the references, precision $P$ is the mean of $m_n / l_n$
and recall $R$ that of $m_n / r_n$ over the orders that both sides have, and

$$\\mathrm{chrF} = 100 \\cdot (1 + \\beta^2) \\frac{P\\,R}{\\beta^2 P + R}$$

All counts are added over the rows of a split, so long texts weigh more. From 0 to 100, higher is better. White space
is dropped; it needs no words, so it suits languages with many endings or without spaces.

- `beta` 2 (default): recall counts more than precision.
- `words` 2 also counts runs of one and two words, punctuation at their ends apart: chrF++.
- `references` separates several references in a cell; for each row the one with the best chrF of this row counts.
- Nothing in common scores 0. A part of the truth without any character is refused at publication.

Source: Popović 2015, 2017. Equals `corpus_chrf` of sacrebleu 2, with `words` its `word_order`.
"""

from typing import Annotated

import numpy as np

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, RowSum, Rules
from .core.messages import Message
from .core.parameters import Range
from .numerics.averages import Beta
from .numerics.ngrams import (
    References,
    characters_of,
    first_references,
    in_small_letters,
    parted_words,
    references_in,
    run_counts,
)
from .numerics.tokens import Lowercase
from .reading.label_kinds import Words

ORDER = 6
WordOrder = Annotated[int, Range(0, 4), "The longest run of words that counts, too: 0 for chrF, 2 for chrF++."]


def f_score(counts: np.ndarray, beta: float) -> np.ndarray:
    """The share of 1 for counts of shape (n, orders, 3): shared runs, all of the prediction, all of the reference."""
    shared, said, true = np.moveaxis(counts, -1, 0)
    both = (said > 0) & (true > 0)
    orders = np.maximum(both.sum(axis=1), 1)
    precision, recall = (np.where(both, shared / np.maximum(one, 1), 0.0).sum(axis=1) / orders for one in (said, true))
    under = beta * beta * precision + recall
    return (1 + beta * beta) * precision * recall / np.where(under > 0, under, 1.0)


def rows(
    truth: Coded,
    prediction: Coded,
    *,
    words: WordOrder = 0,
    beta: Beta = 2.0,
    lowercase: Lowercase = False,
    references: References = None,
) -> Contributions:
    """The counts of each row by order: shared runs, those of the prediction, and those of its best reference."""
    found, owner, of_row = [], np.zeros(0, np.int64), np.zeros(0, np.int64)
    for split, orders in ((characters_of, ORDER), (parted_words, words)):
        if orders:
            kind = in_small_letters(split) if lowercase else split
            counts, owner, of_row = run_counts(truth, prediction, kind, references, orders)
            found.append(counts)
    counts = np.concatenate(found, axis=1)
    order = np.lexsort((-f_score(counts, beta), owner))
    best = order[np.unique(owner[order], return_index=True)[1]]
    return Contributions(counts[best].reshape(len(best), -1), of_row)


def total(sums: np.ndarray, *, beta: Beta = 2.0) -> float:
    return float(100 * f_score(sums.reshape(1, -1, 3), beta)[0])


def unscorable(truth: Coded, *, references: References) -> str:
    firsts = (references_in(truth.values[code], references)[0] for code in np.unique(truth.codes))
    return "" if any(map(characters_of, firsts)) else Message("all its answers are empty.")


chrf = Metric(
    title="chrF",
    group="Text",
    direction="maximize",
    best=100.0,
    worst=0.0,
    truth=Words(),
    computation=RowSum(
        rows=rows,
        total=total,
        parts=("shared_1", "predicted_1", "true_1"),
        last_line="100 · F of mean precision and mean recall; of single characters {shared_1} are shared, of "
        "{predicted_1} predicted and {true_1} true ones",
    ),
    rules=Rules(unscorable=unscorable, perfect=first_references),
    example=Example(
        truth="id,text\n1,abc\n2,it\n",
        submission="id,text\n1,abd\n2,it\n",
        score=48.88888888888889,
    ),
)
