"""Words to change per true word, over all rows together: the measure of speech recognition.

With $d(a, b)$ the fewest words to insert, delete or replace,

$$\\mathrm{WER} = \\frac{\\sum_i d(a_i, b_i)}{\\sum_i |a_i|}$$

where $a_i$ and $b_i$ are the words of the true and of the predicted text, in order, and $|a_i|$ counts them. Words are
split on any white space; punctuation belongs to its word, so `good.` and `good` differ, and case counts unless
`lowercase` is on. A word is right or wrong as a whole.

Long rows weigh more than short ones. 0 is perfect; empty answers give 1, and answers that are much too long give more:
truth `hi`, prediction `hello to you all` is 4 changes for 1 word, 4. A row whose truth is empty adds no words, but what
is predicted there costs. A part of the truth without any word cannot be scored.

Source: the usual definition in speech recognition. Equals `wer` of jiwer.
"""

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, RowSum, Rules
from .numerics.tokens import Lowercase, nothing_true, pooled, spelled, spelled_like, words
from .reading.label_kinds import Words


def rows(truth: Coded, prediction: Coded, *, lowercase: Lowercase = False) -> Contributions:
    said = spelled_like(prediction, truth.once(words, lowercase), lowercase)
    return pooled(truth, prediction, truth.once(spelled, lowercase), said)


def unscorable(truth: Coded, *, lowercase: Lowercase) -> str:
    return nothing_true(truth, truth.once(words, lowercase).counts)


word_error_rate = Metric(
    title="Word error rate",
    group="Text",
    direction="minimize",
    truth=Words(),
    computation=RowSum(rows=rows, parts=("changes", "words")),
    rules=Rules(unscorable=unscorable),
    example=Example(
        truth="id,text\n1,turn the light on\n2,good morning\n3,stop now\n",
        submission="id,text\n1,turn that light\n2,good morning to you\n3,stop now\n",
        score=0.5,
    ),
)
