"""Mean average precision of boxes at one threshold of IoU, over classes (mAP).

The truth's cell holds the boxes of a picture, four numbers each: `10 10 40 30 60 5 8 8` are two. The submission's cell
has a confidence before each: `0.9 12 10 40 30 0.4 0 0 5 5`. Numbers are left, top, width and height, or with `boxes` =
`corners` left, top, right and bottom. With `classes`, each box begins with its class, a word without white space: truth
`cat 10 10 40 30`, submission `cat 0.9 12 10 40 30`; without, all boxes are of one class.

Each predicted box belongs to the true box of its class and picture with the largest intersection over union, if that is
`iou` or **more**; the most confident one (ties: the first of the cell) is right, the others are wrong, as are those
that belong to none. Over all pictures, by descending confidence, with $P(j)$ the share of right boxes up to rank $j$,
$R(j)$ the share of true boxes found by then and $C$ the classes of the truth,

$$\\mathrm{mAP} = \\frac{1}{|C|} \\sum_{c \\in C} \\sum_{j} (R_c(j) - R_c(j - 1)) \\max_{i \\ge j} P_c(i)$$

- Equal confidences share one rank, so the order of rows never matters: one right and one wrong box at 0.5 for one true
  box give 0.5.
- Predictions of a class that the truth lacks (in this split) do not count. A class never predicted gives 0.
- A picture without boxes is an empty cell; boxes predicted there are wrong. Of $m$ equal true boxes each can be found.
- A wrong box below all right ones costs nothing; one wrong box above the only right one halves it.
- Areas are width times height, without adding a pixel.

`protocol` `coco`: by falling confidence, each of the 100 most confident boxes of a class and picture takes the free
true box that it overlaps most. The score is the mean over thresholds of IoU from `iou` in steps of 0.05 to `iou_stop`
(0.5, 0.55 … 0.95) of the mean precision at 101 recalls, 0, 0.01 … 1. AP50 is `iou_stop` 0.5.

Source: PASCAL VOC 2010 (area under all points); VinBigData Chest X-ray (`classes`, `corners`, `iou` 0.4). With `coco`
equals pycocotools without areas and crowds, which breaks ties of confidence by the order of pictures.
"""

from typing import Annotated, Literal

import numpy as np

from ..core.arrays import Coded
from ..core.contract import ByParameters, Example, Metric, Rules, WholeColumn
from ..core.figures import Figure
from ..core.parameters import Range
from .numerics.box_precision import average_precision, curves, effects, found_by_row, of_coco, ranking_of, unscorable
from .numerics.boxes import BoxList, Classes, Layout, boxes_of, matrix, perfect, verify

Iou = Annotated[float, Range(0, 1, exclusive_minimum=True), "A true box is found from this IoU on."]
Protocol = Annotated[Literal["voc", "coco"], "voc: area at one IoU; coco: 101 points, mean over IoUs up to iou_stop."]
IouStop = Annotated[float, Range(0, 1, exclusive_minimum=True), "The last IoU of the protocol coco."]


def rows(
    truth: Coded, prediction: Coded, *, boxes: Layout = "xywh", classes: Classes = False, iou: Iou = 0.5
) -> np.ndarray:
    return found_by_row(ranking_of(truth, prediction, boxes, classes, iou))


def total(sums: np.ndarray) -> float:
    return float(sums[-1])


def score(
    truth: Coded, prediction: Coded, *, boxes: Layout = "xywh", classes: Classes = False, iou: Iou = 0.5
) -> float:
    """The mean over classes, so that a perfect file gets 1 to the last digit."""
    return average_precision(ranking_of(truth, prediction, boxes, classes, iou))


def influence(truth: Coded, prediction: Coded, *, boxes: Layout, classes: Classes, iou: Iou) -> np.ndarray:
    return effects(ranking_of(truth, prediction, boxes, classes, iou))


def figures(truth: Coded, prediction: Coded, *, boxes: Layout, classes: Classes, iou: Iou) -> list[Figure]:
    names = truth.once(boxes_of, boxes, classes, False).vocabulary
    drawn = curves(ranking_of(truth, prediction, boxes, classes, iou), names)
    return drawn + matrix(truth, prediction, boxes, classes, iou, strict=False)


def adapted(
    *,
    boxes: Layout = "xywh",
    classes: Classes = False,
    iou: Iou = 0.5,
    protocol: Protocol = "voc",
    iou_stop: IouStop = 0.95,
) -> Metric:
    return box_map if protocol == "voc" else of_coco(box_map, adapted)


box_map = Metric(
    title="mAP of boxes",
    group="Masks and boxes",
    direction="maximize",
    worst=0.0,
    truth=BoxList(),
    submission=BoxList(confidence=True),
    computation=WholeColumn(
        rows=rows,
        total=total,
        score=score,
        parts=("true_boxes", "right", "wrong", "share"),
        last_line="{share}",
        influence=influence,
    ),
    rules=Rules(verify=verify, unscorable=unscorable, perfect=perfect),
    by_parameters=ByParameters(metric=adapted),
    figures=figures,
    example=Example(
        truth="id,boxes\nimg1,0 0 10 10 20 20 10 10\nimg2,5 5 4 4\nimg3,\n",
        submission="id,boxes\nimg1,0.9 0 0 10 6 0.3 21 20 10 10\nimg2,0.2 5 5 4 3\nimg3,0.5 1 1 2 2\n",
        score=0.8333333333333334,
    ),
)
