"""BLEU of a corpus: how many runs of one to four words of the predictions the references have.

With $m_n$ the runs of $n$ words that predictions share with their references, each at most as often as in one of them,
$l_n$ all runs of $n$ words of the predictions, $c$ the words of the predictions and $r$ those of the references,

$$\\mathrm{BLEU} = 100 \\cdot \\min(1, e^{1 - r/c}) \\cdot
\\exp\\left(\\frac{1}{4} \\sum_{n=1}^{4} \\ln \\frac{m_n}{l_n}\\right)$$

All counts are added over the rows of a split, so it is no mean of rows: long texts weigh more. From 0 to 100.

- `references` separates several references in a cell; $r$ then takes the one nearest in length (ties: the shorter).
- `tokens` `13a` (default) parts words and punctuation as the conference on machine translation does; `words` splits at
  white space, `characters` takes each character by itself, for texts without spaces.
- The first order without a shared run counts half a run, the next a quarter. If no word is shared, or no prediction
  has a run of the last order, the score is 0. `order` takes the place of 4.
- A part of the truth in which no first reference has a run of that length is refused at publication.

Source: Papineni and others 2002. Equals `corpus_bleu` of sacrebleu 2 with its defaults, to its rounding.
"""

import math
from typing import Annotated

import numpy as np

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, RowSum, Rules
from .core.messages import Message
from .core.parameters import Range
from .numerics.ngrams import References, TokenKind, first_references, pairs_in_blocks, references_in, split_function
from .numerics.tokens import Lowercase
from .reading.label_kinds import Words

Order = Annotated[int, Range(1, 8), "The longest run of words."]
PARTS = ("words", "reference_words", "shared_1", "of_1", "shared_2", "of_2", "shared_3", "of_3", "shared_4", "of_4")


def rows(
    truth: Coded,
    prediction: Coded,
    *,
    order: Order = 4,
    tokens: TokenKind = "13a",
    lowercase: Lowercase = False,
    references: References = None,
) -> Contributions:
    """For each row the words of the prediction and of the nearest reference, then for each order the shared runs and
    all runs of the prediction."""
    count, of_row, blocks = pairs_in_blocks(truth, prediction, split_function(tokens, lowercase), references)
    table = np.zeros((count, 2 + 2 * order))
    for block in blocks:
        said, lengths = block.said.counts[block.theirs], block.true.counts[block.ours]
        apart = np.lexsort((lengths, np.abs(lengths - said[block.owner]), block.owner))
        nearest = apart[np.unique(block.owner[apart], return_index=True)[1]]
        some = table[block.pairs]
        some[:, 0], some[:, 1] = said, lengths[nearest]
        for step in range(order):
            some[:, 2 + 2 * step] = block.clipped(step + 1)
            some[:, 3 + 2 * step] = np.maximum(said - step, 0)
    return Contributions(table, of_row)


def total(sums: np.ndarray) -> float:
    said, true, *counts = map(float, sums)
    logs, missing = [], 1.0
    for shared, every in zip(counts[::2], counts[1::2], strict=True):
        if every < 1 or counts[0] < 1:
            return 0.0
        missing = missing if shared >= 1 else 2 * missing
        logs.append(math.log((shared if shared >= 1 else 1 / missing) / every))
    return 100 * min(1.0, math.exp(1 - true / said)) * math.exp(math.fsum(logs) / len(logs))


def last_line(*, order: Order) -> str:
    shares = " · ".join(f"{{shared_{step}}}/{{of_{step}}}" for step in range(1, min(order, 4) + 1))
    return f"100 · min(1, e^(1 − {{reference_words}}/{{words}})) · ({shares})^(1/{order})"


def unscorable(truth: Coded, *, order: Order, tokens: TokenKind, lowercase: Lowercase, references: References) -> str:
    split = split_function(tokens, lowercase)
    firsts = (references_in(truth.values[code], references)[0] for code in np.unique(truth.codes))
    if any(len(split(text)) >= order for text in firsts):
        return ""
    return Message("none of its answers has {order} words.", order=order)


bleu = Metric(
    title="BLEU",
    group="Text",
    direction="maximize",
    best=100.0,
    worst=0.0,
    truth=Words(),
    computation=RowSum(rows=rows, total=total, parts=PARTS, last_line=last_line),
    rules=Rules(unscorable=unscorable, perfect=first_references),
    example=Example(
        truth="id,text\n1,the cat sat on the mat\n2,it rains\n",
        submission="id,text\n1,the cat sat on a mat\n2,it rains\n",
        score=55.83948264724179,
    ),
)
