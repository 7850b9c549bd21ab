"""Share of rows whose label is exactly right.

$$\\text{accuracy} = \\frac{1}{n} \\sum_{i=1}^{n} [\\hat y_i = y_i]$$

Labels are compared as text after trimming: `Cat` and `cat` differ. Only where every true label is a plain number
(`1`, `2.5`, no leading zeros as in `007`) are labels compared as numbers, so that `1` and `1.0` are equal. A label
that the truth does not know is simply wrong; an empty prediction is an error.

Four rows of which three are right give 0.75.

Source: *evaluations* 0.0.1, `accuracy_score`.
"""

from typing import Any

import numpy as np

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, RowSum
from .reading.label_kinds import Label


def places_of_values(truth: Coded) -> dict[Any, int]:
    """A number for each distinct label; `1` and `1.0` are one label if labels are numbers."""
    return {value: place for place, value in enumerate(truth.values)}


def place_of_each(truth: Coded) -> np.ndarray | None:
    """The number of each code; ``None`` if each code is its number."""
    known = truth.once(places_of_values)
    places = [known[value] for value in truth.values]
    return None if places == list(range(len(places))) else np.array(places, truth.codes.dtype)


def rows(truth: Coded, prediction: Coded) -> Contributions:
    known = truth.once(places_of_values)
    same = np.array([known.get(value, -1) for value in prediction.values] or [-1], truth.codes.dtype)
    place = truth.once(place_of_each)
    true = truth.codes if place is None else place[truth.codes]
    right = same[prediction.codes] == true
    return Contributions(np.array([[0.0, 1.0], [1.0, 1.0]]), right.view(np.int8))


accuracy = Metric(
    title="Accuracy",
    group="Labels",
    direction="maximize",
    worst=0.0,
    truth=Label(),
    computation=RowSum(rows=rows, parts=("right", "rows")),
    example=Example(
        truth="id,label\n1,1\n2,1\n3,0\n4,0\n",
        submission="id,label\n1,1\n2,1\n3,1\n4,0\n",
        score=0.75,
    ),
)
