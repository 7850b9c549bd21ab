"""Mean average precision of boxes; missed boxes and empty pictures count at confidence 0.

Cells are those of `box_map`: the truth `opacity 10 10 40 30`, the submission `opacity 0.9 12 10 40 30`, with `classes`
each box begins with its class. Ids may name whatever has classes, pictures as well as studies of several pictures; what
has no place gets a fixed box, such as `negative 0 0 1 1`, and is right if the submission has the same.

In each picture the boxes of a class choose by descending confidence (ties: the first of the cell), each the free true
box of that class with the largest intersection over union, if that is **more** than `iou`. For each class $c$ of the
truth there are then answers $(y, s)$: $(1, s)$ for a box that found one, $(0, s)$ for one that did not, $(1, 0)$ for a
true box that was missed, and $(0, 0)$ for a picture that has no box of the class on either side. With precision $P_k$
and recall $R_k$ from the highest score down to the $k$-th distinct one,

$$\\mathrm{mAP} = \\frac{1}{|C|} \\sum_{c \\in C} \\sum_k (R_c(k) - R_c(k - 1))\\,P_c(k)$$

- Precision is not raised to that of later ranks, as it is in `box_map`, and the last step holds the missed boxes, so a
  file without any box gets more than 0.
- Equal scores share one step, so the order of rows never matters. Classes that only a submission has do not count.

Source: the grader of "SIIM-FISABIO-RSNA COVID-19 Detection" (2021) in MLE-bench, with four classes of studies and two
of pictures. Equals the mean of scikit-learn's `average_precision_score` of these answers.
"""

from typing import Annotated

import numpy as np

from ..core.arrays import Coded
from ..core.contract import Example, Metric, Rules, WholeColumn
from ..core.figures import Figure, Grid
from ..core.parameters import Range
from ..numerics.sums import exact_sum
from .numerics.box_precision import answers_of, unscorable
from .numerics.boxes import BoxList, Classes, Layout, boxes_of, perfect, verify

Iou = Annotated[float, Range(0, 1), "A true box is found above this IoU."]
HEADS = ("true boxes", "right", "wrong", "missed", "empty pictures", "average precision")


def score(
    truth: Coded, prediction: Coded, *, boxes: Layout = "xywh", classes: Classes = False, iou: Iou = 0.5
) -> float:
    values = np.array([one.value for _, one in answers_of(truth, prediction, boxes, classes, iou)])
    return float(exact_sum(values)) / max(len(values), 1)


def influence(truth: Coded, prediction: Coded, *, boxes: Layout, classes: Classes, iou: Iou) -> np.ndarray:
    found = [one.effects(len(truth)) for _, one in answers_of(truth, prediction, boxes, classes, iou)]
    return np.sum(found, axis=0) / len(found)


def figures(truth: Coded, prediction: Coded, *, boxes: Layout, classes: Classes, iou: Iou) -> list[Figure]:
    vocabulary = truth.once(boxes_of, boxes, classes, False).vocabulary
    found = list(answers_of(truth, prediction, boxes, classes, iou))
    names = [vocabulary[one.label] if classes else "all boxes" for _, one in found]
    cells = [[*counts, one.value] for counts, one in found]
    note = "The score is the mean of the last column."
    return [Grid("Each class", names, HEADS, cells, corner="class", note=note)]


box_map_with_empty = Metric(
    title="mAP of boxes with empty pictures",
    group="Masks and boxes",
    direction="maximize",
    worst=0.0,
    truth=BoxList(),
    submission=BoxList(confidence=True),
    computation=WholeColumn(score=score, influence=influence),
    rules=Rules(verify=verify, unscorable=unscorable, perfect=perfect),
    figures=figures,
    example=Example(
        truth="id,boxes\ns1,0 0 10 10 20 20 10 10\ns2,5 5 4 4\ns3,\n",
        submission="id,boxes\ns1,0.9 0 0 10 6 0.3 40 40 10 10\ns2,0.2 5 5 4 3\ns3,\n",
        score=0.7555555555555555,
    ),
)
