"""Characters to change per true character, over all rows together.

With $d(a, b)$ the fewest characters to insert, delete or replace,

$$\\mathrm{CER} = \\frac{\\sum_i d(a_i, b_i)}{\\sum_i |a_i|}$$

where $a_i$ are the true texts, $b_i$ the predicted ones and $|a_i|$ counts the characters, spaces within the text
included. Long rows weigh more than short ones. 0 is perfect; empty answers give 1, and answers that are much too long
give more: truth `hi`, prediction `hello there` is 10 changes per 2 characters, 5.

Characters are Unicode code points; case counts unless `lowercase` is on. An é in one code point and an é in two are
2 apart. A row whose truth is empty adds no characters, but what is predicted there costs. A part of the truth without
any character cannot be scored.

Source: the usual definition in the recognition of speech and handwriting; 1 minus this is the score of *Google:
American Sign Language Fingerspelling Recognition* 2023. Equals `cer` of jiwer.
"""

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, RowSum, Rules
from .numerics.tokens import Lowercase, characters, nothing_true, pooled
from .reading.label_kinds import Words


def rows(truth: Coded, prediction: Coded, *, lowercase: Lowercase = False) -> Contributions:
    return pooled(truth, prediction, truth.once(characters, lowercase), prediction.once(characters, lowercase))


def unscorable(truth: Coded, *, lowercase: Lowercase) -> str:
    return nothing_true(truth, truth.once(characters, lowercase).lengths)


character_error_rate = Metric(
    title="Character error rate",
    group="Text",
    direction="minimize",
    truth=Words(),
    computation=RowSum(rows=rows, parts=("changes", "characters")),
    rules=Rules(unscorable=unscorable),
    example=Example(
        truth="id,text\n1,to be or not\n2,hello\n3,abc\n",
        submission="id,text\n1,to bee or not\n2,hallo\n3,\n",
        score=0.25,
    ),
)
