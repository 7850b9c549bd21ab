"""F1 of entities in tagged sentences: right is one with the right first word, last word and type.

A cell holds the tags of a sentence, one per word, between white space: `B-PER I-PER O B-LOC` has a PER of two words and
a LOC of one. With $tp$ entities that both sides have, $fp$ only the prediction and $fn$ only the truth,

$$F_1 = \\frac{2\\,tp}{2\\,tp + fp + fn}$$

`average` `micro` (default) pools the counts of all types, `macro` is the mean over the types that the truth or the
predictions of a split have, `weighted` its mean by true entities. With `beta` it is F-beta.

- `scheme` `lenient` (default) reads tags as the script of CoNLL does: an entity begins at a `B`, at an `S`, and at any
  tag of another type than the one before, so that `O I-PER` begins one, too. `strict` takes `B I I` only: an `I` that
  continues nothing of its type is none.
- Tags are `O` for outside, `B`, `I`, and in `lenient` also `E` (end) and `S` (single), these with `-` and a type, or
  without. A truth with other tags is refused at publication; in a prediction they are outside, and the student is told.
- A prediction with too few or too many tags is scored by the entities that it has.
- Without any entity on both sides the score is 1, on one side only it is 0.

Source: CoNLL 2003 (Tjong Kim Sang and De Meulder). Equals `f1_score` of seqeval with the same word for `average`, and
for `strict` with `mode="strict"` and `scheme=IOB2`.
"""

from typing import Annotated, Literal

import numpy as np

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, RowSum, Rules, distinct_pairs
from .numerics.averages import Beta, f_beta, f_share, mean_over_labels
from .numerics.entities import Scheme, Tags, entities_of, foreign_answers, foreign_tags

Average = Annotated[Literal["micro", "macro", "weighted"], "micro: pooled counts; macro: mean over types; weighted."]


def rows(truth: Coded, prediction: Coded, *, scheme: Scheme = "lenient") -> Contributions:
    true, said = truth.once(entities_of, scheme), prediction.once(entities_of, scheme)
    types = sorted({name for cells in (true, said) for cell in cells for _, _, name in cell})
    place = {name: 3 + 3 * number for number, name in enumerate(types)}
    ours, theirs, of_row = distinct_pairs(truth, prediction)
    table = np.zeros((len(ours), 3 + 3 * len(types)))
    for row, (one, other) in enumerate(zip(ours.tolist(), theirs.tolist(), strict=True)):
        for kind, some in enumerate((true[one] & said[other], said[other] - true[one], true[one] - said[other])):
            for _, _, name in some:
                table[row, kind] += 1
                table[row, place[name] + kind] += 1
    return Contributions(table, of_row)


def total(sums: np.ndarray, *, average: Average = "micro", beta: Beta = 1.0) -> float:
    if average == "micro":
        tp, fp, fn = sums[:3]
        return f_beta(tp, fp, fn, beta)
    return mean_over_labels(sums[3:].reshape(-1, 3), f_share(beta), average)


def last_line(*, average: Average, beta: Beta) -> str:
    if average != "micro":
        return f"{average} average over types of F-beta; of all types {{tp}} tp, {{fp}} fp, {{fn}} fn"
    return "2·{tp} / (2·{tp} + {fp} + {fn})" if beta == 1 else "F-beta of {tp} tp, {fp} fp and {fn} fn"


entity_f1 = Metric(
    title="Entity F1",
    group="Text",
    direction="maximize",
    worst=0.0,
    truth=Tags(),
    computation=RowSum(rows=rows, total=total, parts=("tp", "fp", "fn"), last_line=last_line),
    rules=Rules(unscorable=foreign_answers, hint=foreign_tags),
    example=Example(
        truth="id,tags\n1,B-PER I-PER O B-LOC\n2,O O B-ORG\n",
        submission="id,tags\n1,B-PER I-PER O B-ORG\n2,O B-ORG I-ORG\n",
        score=0.3333333333333333,
    ),
)
