"""ROUGE-L: how long a sequence of words the predicted text has in common with the reference, in order.

With $c_i$ the length of the longest common subsequence of the words of both texts of row $i$, which need not be next to
each other, and $r_i$ and $p_i$ the numbers of words of the reference and of the prediction,

$$\\frac{1}{n} \\sum_{i=1}^{n} \\frac{(1 + \\beta^2)\\,c_i}{\\beta^2 r_i + p_i}$$

which is the F-score of recall $c_i / r_i$ and precision $c_i / p_i$. Words are runs of letters and digits in small
letters; everything else only parts them. `the cat sat on the mat` and `a cat on the mat` have `cat on the mat` in
common: 8 / 11 = 0.727.

- `beta` 1 (default) weighs both alike; a larger one favours recall, as summaries often do.
- `references` separates several references in a cell; the one with the best score counts.
- Two texts without words score 1, one without words scores 0. The whole text is one sequence, whatever its lines.

Source: Lin 2004. Equals the F-measure of `rougeL` of rouge-score without a stemmer, on texts in ASCII that have words:
there letters with accents part words.
"""

import re

import numpy as np

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, Rules, distinct_pairs, ratio
from .numerics.averages import Beta, mean_over_rows
from .numerics.cells import expand
from .numerics.ngrams import References, first_references, number_pieces, pieces_of
from .numerics.tokens import spelled_codes
from .reading.label_kinds import Words

_WORD = re.compile(r"[^\W_]+")


def words_of(text: str) -> list[str]:
    """The words of a text in small letters.

    >>> words_of("It's 3.5 o'clock")
    ['it', 's', '3', '5', 'o', 'clock']
    """
    return _WORD.findall(text.lower())


def f_score(truth: Coded, prediction: Coded, *, beta: Beta = 1.0, references: References = None) -> Contributions:
    from rapidfuzz.distance import LCSseq
    from rapidfuzz.process import cpdist

    starts, true = truth.once(pieces_of, words_of, references)
    said = number_pieces(prediction.values, words_of, true.known)
    ours, theirs, of_row = distinct_pairs(truth, prediction)
    texts, owner = expand(starts, ours)
    sides = []
    for pieces, places in ((true, texts), (said, theirs[owner])):
        width = len(said.vocabulary)
        values = spelled_codes(pieces, np.arange(width), width).values
        sides.append([values[place] for place in places.tolist()])
    common = cpdist(*sides, scorer=LCSseq.similarity, dtype=np.int64)
    square = beta * beta
    under = square * true.counts[texts] + said.counts[theirs[owner]]
    found = np.asarray(ratio((1 + square) * common, under, empty=1.0))
    best = np.zeros(len(ours))
    np.maximum.at(best, owner, found)
    return Contributions(best, of_row)


rouge_l = Metric(
    title="ROUGE-L",
    group="Text",
    direction="maximize",
    worst=0.0,
    truth=Words(),
    submission=Words(minds_case=False),
    computation=mean_over_rows(f_score),
    rules=Rules(perfect=first_references),
    example=Example(
        truth="id,text\n1,the cat sat on the mat\n2,It rains.\n",
        submission="id,text\n1,a cat on the mat\n2,it snows\n",
        score=0.6136363636363636,
    ),
)
