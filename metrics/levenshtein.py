"""Mean number of characters to insert, delete or replace until the predicted text is the true one.

With $d(a, b)$ the Levenshtein distance of two texts,

$$\\text{mean distance} = \\frac{1}{n} \\sum_{i=1}^{n} d(a_i, b_i) \\qquad
\\text{normalised: } \\frac{1}{n} \\sum_{i=1}^{n} \\frac{d(a_i, b_i)}{\\max(|a_i|, |b_i|)}$$

`kitten` and `sitting` are 3 apart: two letters replaced, one added. With `normalised` on that is 3/7 = 0.429; every row
then counts from 0 to 1, and two empty texts count 0. An empty prediction costs the length of the truth (normalised: 1).

Characters are Unicode code points, and nothing is folded: `A` and `a` differ, white space within the text counts. An é
written as one code point and an é written as e and an accent look alike and are 2 apart.

Source: Levenshtein 1966; *Bristol-Myers Squibb: Molecular Translation* 2021 (the mean). Equals rapidfuzz's
`Levenshtein.distance`, and `normalized_distance`.
"""

from typing import Annotated

import numpy as np

from .core.arrays import Coded
from .core.contract import ByParameters, Contributions, Example, Metric
from .numerics.averages import mean_over_rows
from .numerics.tokens import characters, edits
from .reading.label_kinds import Words

Normalised = Annotated[bool, "Whether each distance is divided by the length of the longer text."]


def distance(truth: Coded, prediction: Coded, *, normalised: Normalised = False) -> Contributions:
    true, said = truth.once(characters, False), prediction.once(characters, False)
    distance, ours, theirs, of_row = edits(truth, prediction, true, said)
    if normalised:
        distance = distance / np.maximum(np.maximum(ours, theirs), 1)
    return Contributions(distance, of_row)


def worst(*, normalised: Normalised = False) -> float | None:
    return 1.0 if normalised else None


levenshtein = Metric(
    title="Levenshtein distance",
    group="Text",
    direction="minimize",
    truth=Words(),
    computation=mean_over_rows(distance),
    by_parameters=ByParameters(worst=worst),
    example=Example(
        truth="id,text\n1,kitten\n2,InChI=1S/CH4/h1H4\n3,flaw\n4,same\n",
        submission="id,text\n1,sitting\n2,InChI=1S/CH4\n3,lawn\n4,same\n",
        score=2.5,
    ),
)
