"""Mean over rows of the F1 of shared words: partial credit for answers in words.

With $c_i$ words in common, a word that both texts repeat counting as often as both have it, and $|a_i|$ and $|b_i|$ the
numbers of words of the true and the predicted text,

$$F_1 = \\frac{1}{n} \\sum_{i=1}^{n} \\frac{2\\,c_i}{|a_i| + |b_i|}$$

which is the harmonic mean of $c_i / |b_i|$ (precision) and $c_i / |a_i|$ (recall). The order of words is irrelevant.
Words are split on any white space and lower-cased (`lowercase` off: kept as they are). With `normalise` on, ASCII
punctuation and then the English words `a`, `an`, `the` are dropped, as the question answering of SQuAD does it.

`the cat sat on the mat` against `the cat the dog` shares `the` twice and `cat`: 6 / 10 = 0.6, and normalised 2 / 6 =
0.333. Two texts without words score 1, one without words scores 0; so after dropping, as in SQuAD 2.0.

Source: *SQuAD* (Rajpurkar and others 2016) with `normalise` on and one right answer per question.
"""

from typing import Annotated

import numpy as np

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, distinct_pairs, ratio
from .numerics.averages import mean_over_rows
from .numerics.tokens import Lowercase, bags, common
from .reading.label_kinds import Words

Normalise = Annotated[bool, "Whether punctuation and the words a, an, the are dropped, as SQuAD does."]


def f1(truth: Coded, prediction: Coded, *, lowercase: Lowercase = True, normalise: Normalise = False) -> Contributions:
    true, said = truth.once(bags, lowercase, normalise), prediction.once(bags, lowercase, normalise)
    ours, theirs, of_row = distinct_pairs(truth, prediction)
    words = true.counts[ours] + said.counts[theirs]
    return Contributions(np.asarray(ratio(2 * common(true, said, ours, theirs), words, empty=1.0)), of_row)


token_f1 = Metric(
    title="Token F1",
    group="Text",
    direction="maximize",
    worst=0.0,
    truth=Words(),
    computation=mean_over_rows(f1),
    example=Example(
        truth="id,answer\n1,the cat sat on the mat\n2,Denver Broncos\n3,1912\n4,in the year 1912\n",
        submission="id,answer\n1,the cat the dog\n2,denver broncos\n3,1913\n4,1912\n",
        score=0.5,
    ),
)
