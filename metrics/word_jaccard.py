"""Mean over rows of how many words the true and the predicted text share.

For the sets $a$ and $b$ of words of the two texts,

$$J = \\frac{1}{n} \\sum_{i=1}^{n} \\frac{|a_i \\cap b_i|}{|a_i \\cup b_i|}$$

Words are split on any white space and lower-cased (`lowercase` off: kept as they are). Punctuation belongs to its word:
`good.` and `good` differ. Repeated words count once. Two texts without words score 1, one without words scores 0.
Case is folded as Python's `str.lower` does: `STRASSE` and `straße` differ.

`Be happy my friend` against `be happy` gives 0.5.

Source: *evaluations* 0.0.1, `jaccard_word_level_score`.
"""

from typing import Any

import numpy as np

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, distinct_pairs
from .numerics.averages import mean_over_rows
from .numerics.tokens import BLOCK, Lowercase, Tokens, in_words, jaccard, tokens
from .reading.label_kinds import Words
from .reading.tables import pick


def words(texts: Coded, lowercase: bool) -> Tokens:
    return words_of(texts.array, lowercase)


def words_of(array: Any, lowercase: bool) -> Tokens:
    """The distinct words of each text of an Arrow string array."""
    return tokens(array, None, in_words(lowercase), distinct=True)


def similarity(truth: Coded, prediction: Coded, *, lowercase: Lowercase = True) -> Contributions:
    true = truth.once(words, lowercase)
    true_cells, said_cells, of_row = distinct_pairs(truth, prediction)
    found = np.ones(len(true_cells))
    for start in range(0, len(true_cells), BLOCK):
        # In blocks, because the words of a whole column would need very much memory.
        block = slice(start, start + BLOCK)
        said = words_of(pick(prediction.array, said_cells[block]), lowercase)
        found[block] = jaccard(true, said, true_cells[block], np.arange(len(said.counts)))
    return Contributions(found, of_row)


word_jaccard = Metric(
    title="Word Jaccard",
    group="Text",
    direction="maximize",
    worst=0.0,
    truth=Words(),
    computation=mean_over_rows(similarity),
    example=Example(
        truth='id,text\n1,"Hello, how are you?"\n2,Be happy my friend\n3,It\'s good.\n',
        submission='id,text\n1,"Hello, how are you?"\n2,be happy\n3,Have a nice day!\n',
        score=0.5,
    ),
)
