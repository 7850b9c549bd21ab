"""F-beta of phrases such as `census of agriculture|sea level data`, matched by their words.

Cells hold phrases separated by `|`. Two phrases are as similar as their sets of lower-cased words,
$J(a, b) = |a \\cap b| / |a \\cup b|$, and match from `threshold` on. The counts $tp$, $fp$, $fn$ are added over all
rows, then

$$F_\\beta = \\frac{(1 + \\beta^2)\\,tp}{(1 + \\beta^2)\\,tp + \\beta^2 fn + fp}$$

The competition's text was read in different ways, so `matching` says which one holds:

- `per_truth` (default): each true phrase takes its most similar prediction (ties: alphabetical order). At the threshold
  or above it is a tp, otherwise a fn. Predictions that are not taken are fp. One prediction can serve two true phrases.
- `one_to_one`: the same, but a prediction is used once; true phrases are served in alphabetical order.
- `per_prediction`: a prediction is a tp if any true phrase reaches the threshold, otherwise a fp; a true phrase is a
  fn only if it shares *no* word with any prediction. **Repeating one right phrase 50 times can score 0.99.**

The five true phrases and three predictions of the worked example give 0.714, 0.588 and 0.667. Blank phrases (`a b|`,
empty cells) are no phrases; repeated phrases count each time. With nothing to find and nothing found the score is 1.

Source: "Coleridge Initiative: Show US the Data" on Kaggle, 2021, and two notebooks that read its text differently.
"""

from typing import Annotated, Literal

import numpy as np

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, RowSum, Rules, distinct_pairs
from .core.messages import Message
from .core.parameters import Range
from .numerics.averages import Beta, f_beta
from .numerics.phrases import counts, distinct_phrases, phrases_of, similarity_matrices
from .reading.label_kinds import Words

Threshold = Annotated[float, Range(0, 1, exclusive_minimum=True), "Similarity from which two phrases match."]
Matching = Annotated[
    Literal["per_truth", "one_to_one", "per_prediction"], "How predictions and true phrases find each other."
]


def rows(
    truth: Coded, prediction: Coded, *, threshold: Threshold = 0.5, matching: Matching = "per_truth"
) -> Contributions:
    true, said = truth.once(phrases_of), prediction.once(phrases_of)
    true_cells, said_cells, of_row = distinct_pairs(truth, prediction)
    table = counts(true, said, true_cells, said_cells, threshold, matching)
    return Contributions(table.astype(np.float64), of_row)


def total(sums: np.ndarray, *, beta: Beta = 0.5) -> float:
    tp, fp, fn = sums
    return f_beta(tp, fp, fn, beta)


def perfect(truth: Coded, *, matching: Matching) -> list[list[str]]:
    """The true phrases, each distinct one once, unless the matching needs a prediction for every phrase."""
    cells = truth if matching == "one_to_one" else truth.map(distinct_phrases)
    return [[cells.values[code] for code in cells.codes]]


coleridge_fbeta = Metric(
    title="Coleridge F-beta",
    group="Text",
    direction="maximize",
    worst=0.0,
    truth=Words(Message("phrases separated by |"), "first phrase|second phrase"),
    submission=Words(Message("phrases separated by |"), "first phrase|second phrase", minds_case=False),
    computation=RowSum(
        rows=rows,
        total=total,
        parts=("tp", "fp", "fn"),
        last_line="(1 + {beta}²)·{tp} / ((1 + {beta}²)·{tp} + {beta}²·{fn} + {fp})",
    ),
    rules=Rules(
        perfect=perfect,
        confirm={
            "matching": {
                "per_prediction": Message(
                    "Under the reading per_prediction, repeating one right phrase many times raises the score to "
                    "almost 1. Use it only to reproduce an old competition."
                )
            }
        },
    ),
    figures=similarity_matrices,
    example=Example(
        truth="id,labels\n1,baccalaureate and beyond longitudinal study|baccalaureate and beyond|beginning "
        "postsecondary student|education longitudinal study|national education longitudinal study\n",
        submission="id,labels\n1,postsecondary student|education longitudinal study|xyz\n",
        score=0.7142857142857143,
    ),
)
