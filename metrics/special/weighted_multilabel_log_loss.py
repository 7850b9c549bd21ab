"""Log loss of one or several labels per row, where rows and labels weigh differently.

The truth has one 0/1 column per label and a column with the weight of each row; the submission has one probability per
label. With $w_i$ the weight of row $i$, $v_l$ that of label $l$ and $p_{il}$ the probability given to the true answer,

$$\\mathrm{LogLoss} = -\\frac{\\sum_i w_i \\sum_l v_l \\ln \\max(p_{il}, c)}{\\sum_i w_i \\sum_l v_l}$$

`label_weights` are the $v_l$, in the order of the truth's columns; empty means 1 each. `clip` is $c$.

- A row of weight 0 costs nothing; a split in which all rows weigh 0 is refused at publication.
- Two rows with log losses of 0.693 (a 0.5) and 0.105 (a 0.9), weighing 2 and 1, give (2 · 0.693 + 0.105) / 3 = 0.497.

**One row per picture and label**, as at Kaggle: there is one column of answers, and the weight is that of the label.
For RSNA Intracranial Hemorrhage 2019 it is 2 in the rows of the label `any` and 1 in the others; this is that
competition's metric digit for digit. So is **one row per picture**, with a column for each label and `label_weights`
2,1,1,1,1,1. For RSNA Cervical Spine 2022, where a fracture weighs double and each patient counts equally, write into
each row its label's weight (7 or 1, doubled where the answer is 1) divided by the sum of these over the patient.

Source: RSNA Intracranial Hemorrhage Detection 2019; one column equals scikit-learn's `log_loss` with `sample_weight`.
"""

import numpy as np

from ..core.arrays import Answers
from ..core.contract import Example, Metric, Role, RowSum, Rules
from ..core.figures import Weights, weights_for, wrong_weights
from ..core.messages import Message, Plural
from ..numerics.log_losses import Clip, surprise
from ..reading.number_kinds import Binary, Number, Probability


def rows(truth: Answers, prediction: np.ndarray, *, clip: Clip = 1e-15, label_weights: Weights = None) -> np.ndarray:
    weights = np.array(weights_for(label_weights, prediction.shape[1]))
    lost = (surprise(truth.answer, prediction, clip=clip) * weights).sum(axis=1)
    return np.column_stack([truth["weight"] * lost, truth["weight"] * weights.sum()])


def unscorable(truth: Answers, *, label_weights: Weights) -> str:
    if not truth["weight"].any():
        return Message("all its weights are 0.")
    columns = Plural("{count} column of answers", "{count} columns of answers")
    return wrong_weights(label_weights, truth.answer.shape[1], columns)


weighted_multilabel_log_loss = Metric(
    title="Weighted multi-label log loss",
    group="Probabilities",
    direction="minimize",
    truth=Binary(many=True),
    submission=Probability(many=True),
    roles={"weight": Role(Number(minimum=0), "The weight of each row.")},
    computation=RowSum(rows=rows, parts=("surprise", "weight")),
    rules=Rules(unscorable=unscorable),
    example=Example(
        truth="id,label,weight\np1_any,1,2\np1_epidural,0,1\np2_any,0,2\np2_epidural,0,1\n",
        submission="id,label\np1_any,0.5\np1_epidural,0.2\np2_any,0.1\np2_epidural,0.05\n",
        score=0.3119087063562172,
    ),
)
