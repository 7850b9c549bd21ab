"""Mean cost of the predicted labels by a cost matrix: some mistakes cost more than others.

With $C(a, b)$ the cost of predicting $b$ where the answer is $a$, and $C(a, a) = 0$,

$$\\frac{1}{n} \\sum_{i=1}^{n} C(y_i, \\hat y_i)$$

`costs` has one line (or a part between semicolons) for each costly mistake: the answer, the prediction, the cost. `*`
stands for any other label, and names with spaces are written in quotation marks:

    ill healthy 10
    * ill 2

Here a missed illness costs 10, a false alarm 2, and every other mistake `wrong`, 1 by default. Where several lines fit
a mistake, the one with both labels counts; without it, the one with `*` as the prediction. Without `costs` the score is
the error rate times `wrong`.

0 is perfect; a right label is free. A prediction that no row has as its answer is a mistake like others. An answer that
`costs` names and no row has is refused at publication, because it may be a typing error.

Source: Elkan 2001, "The foundations of cost-sensitive learning"; Statlog's German credit data (a bad customer taken for
good costs 5, a good one taken for bad 1).
"""

import math
import re
import shlex
from functools import lru_cache
from typing import Annotated, Any

import numpy as np

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, Rules
from .core.errors import shown
from .core.messages import Message
from .core.parameters import Longest, Range
from .numerics.averages import mean_over_rows
from .numerics.contingency import confusion_matrix, cross
from .reading.columns import to_decimal
from .reading.label_kinds import Label

ANY = "*"


@lru_cache(maxsize=64)
def costs_in(text: str) -> dict[tuple[Any, Any], float]:
    """The cost of each pair of an answer and a prediction. Raises ``ValueError`` with a message."""
    found: dict[tuple[Any, Any], float] = {}
    for line in filter(None, map(str.strip, re.split(r"[;\r\n]+", text))):
        try:
            answer, prediction, cost = shlex.split(line)
            number = float(cost)
        except ValueError:
            number = math.nan
        if not 0 <= number <= 1e9:
            message = Message(
                "{line} is not an answer, a prediction and a cost, such as ill healthy 10.", line=shown(line)
            )
            raise ValueError(message)
        if answer == prediction:
            raise ValueError(Message("A right label is free: {line}.", line=shown(line)))
        for pair in ((a, b) for a in (answer, to_decimal(answer)) for b in (prediction, to_decimal(prediction))):
            if None not in pair:
                found[pair] = number
    return found


Costs = Annotated[
    str | None, Longest(3000), costs_in, "A line for each mistake: answer, prediction, cost; empty means equal costs."
]
Wrong = Annotated[float, Range(0, 1e9), "The cost of every other mistake."]


def cost(truth: Coded, prediction: Coded, *, costs: Costs = None, wrong: Wrong = 1.0) -> Contributions:
    found, known = cross(truth, prediction), costs_in(costs or "")

    def of_pair(answer: Any, said: Any) -> float:
        pairs = ((answer, said), (answer, ANY), (ANY, said))
        return next((known[pair] for pair in pairs if pair in known), wrong)

    labels = found.labels
    pairs = zip(found.true.tolist(), found.said.tolist(), strict=True)
    values = [0.0 if ours == theirs else of_pair(labels[ours], labels[theirs]) for ours, theirs in pairs]
    return Contributions(np.array(values, np.float64)[:, None], found.of_row)


def unscorable(truth: Coded, *, costs: Costs) -> str:
    values = set(truth.values)
    named = dict.fromkeys(str(answer) for answer, _ in costs_in(costs or "") if answer != ANY)
    missing = [name for name in named if not values & {name, to_decimal(name)}]
    return Message("the costs name {label}, which no row has.", label=shown(missing[0])) if missing else ""


misclassification_cost = Metric(
    title="Misclassification cost",
    group="Labels",
    direction="minimize",
    truth=Label(),
    computation=mean_over_rows(cost),
    rules=Rules(unscorable=unscorable),
    figures=confusion_matrix,
    example=Example(
        truth="id,y\n1,ill\n2,ill\n3,healthy\n4,healthy\n5,healthy\n",
        submission="id,y\n1,ill\n2,healthy\n3,ill\n4,healthy\n5,healthy\n",
        score=2.4,
        params={"costs": "ill healthy 10\n* ill 2"},
    ),
)
