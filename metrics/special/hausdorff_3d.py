"""Mean over volumes of 1 minus the normalised Hausdorff distance of true and predicted masks.

A row is one mask of one slice, written as run lengths as for `dice`. Four further truth columns, which the host names,
put slices together: the `volume` of the row, its `slice` (numbers in the order of the slices; rows of one slice are
joined), and `height` and `width` of its picture. Coordinates run from 0 to 1 in each direction. For the true voxels $A$
and the predicted voxels $B$ of a volume,

$$H(A, B) = \\frac{1}{\\sqrt 3} \\max\\Big(\\max_{a \\in A} \\min_{b \\in B} |a - b|,\\;
\\max_{b \\in B} \\min_{a \\in A} |a - b|\\Big)$$

and the score is the mean of $1 - H$ over volumes. 1 is perfect; one stray voxel decides about a whole volume.

- Volumes without a mask on either side do not count. If one side alone is empty, $H$ is 1; also where a predicted mask
  leaves the picture, and where more than 10 times the true voxels are predicted.
- With `numbering` = `columns` (default) pixels are numbered from top to bottom, then left to right; with `rows` from
  left to right, then top to bottom.
- Volumes are those of the split, so all rows of one belong to the same part. Pictures of different sizes in one volume,
  volumes of more than 67 million voxels and a part without any mask are refused at publication.

Source: "UW-Madison GI Tract Image Segmentation" on Kaggle, 2022, which added 0.4 `dice` and 0.6 of this (see
`composite_score`). Equals scipy's `directed_hausdorff`, the larger of both ways.
"""

from typing import Annotated, Literal

import numpy as np

from ..core.arrays import Answers, Coded
from ..core.contract import Example, Metric, Role, Rules, WholeColumn
from ..core.figures import Figure, Grid
from ..core.messages import Message
from ..numerics.sums import exact_sum
from ..reading.label_kinds import Label
from ..reading.number_kinds import Number
from .numerics.masks import RunLengths, masks_of
from .numerics.volumes import LARGEST, PictureSide, Volume, distance, volumes_of

Numbering = Annotated[Literal["columns", "rows"], "How pixels are numbered: columns after columns or rows after rows."]


def measured(truth: Answers, prediction: Coded, numbering: str) -> list[tuple[Volume, float]]:
    """The volumes that count, each with its distance."""
    found = [(volume, distance(truth.answer, prediction, volume, numbering)) for volume in volumes_of(truth)]
    return [(volume, apart) for volume, apart in found if not np.isnan(apart)]


def score(truth: Answers, prediction: Coded, *, numbering: Numbering = "columns") -> float:
    values = np.array([1.0 - apart for _, apart in measured(truth, prediction, numbering)])
    return float(exact_sum(values)) / len(values) if len(values) else 0.0


def influence(truth: Answers, prediction: Coded, *, numbering: Numbering) -> np.ndarray:
    """The influence of each volume on the mean, divided among its rows so that their squares add up to that of the
    volume."""
    found = measured(truth, prediction, numbering)
    mean = score(truth, prediction, numbering=numbering)
    effects = np.zeros(len(prediction))
    for volume, apart in found:
        effects[volume.rows] = (1.0 - apart - mean) / (len(found) * np.sqrt(len(volume.rows)))
    return effects


def figures(truth: Answers, prediction: Coded, *, numbering: Numbering) -> list[Figure]:
    found = measured(truth, prediction, numbering)
    names = [str(truth["volume"].values[truth["volume"].codes[volume.rows[0]]]) for volume, _ in found]
    cells = [[len(volume.rows), volume.shape[0], apart, 1.0 - apart] for volume, apart in found]
    note = "The score is the mean of the last column."
    return [Grid("Each volume", names, ["rows", "slices", "distance", "worth"], cells, corner="volume", note=note)]


def unscorable(truth: Answers) -> str:
    last = truth.answer.once(masks_of, False).last()[truth.answer.codes]
    if not last.any():
        return Message("it has no mask to be found.")
    for volume in volumes_of(truth):
        count, height, width = volume.shape
        name = str(truth["volume"].values[truth["volume"].codes[volume.rows[0]]])
        if (truth["height"][volume.rows] != height).any() or (truth["width"][volume.rows] != width).any():
            return Message("the pictures of the volume {volume} differ in size.", volume=name)
        if count * height * width > LARGEST:
            return Message("the volume {volume} has more than {most} voxels.", volume=name, most=LARGEST)
        if last[volume.rows].max() > height * width:
            return Message("a mask of the volume {volume} leaves its picture.", volume=name)
    return ""


hausdorff_3d = Metric(
    title="Hausdorff distance of volumes",
    group="Masks and boxes",
    direction="maximize",
    worst=0.0,
    truth=RunLengths(),
    roles={
        "volume": Role(Label(), "The volume of each row."),
        "slice": Role(Number(), "A number by which the slices of a volume are ordered."),
        "height": Role(PictureSide(), "Lines of the row's picture."),
        "width": Role(PictureSide(), "Columns of the row's picture."),
    },
    computation=WholeColumn(score=score, influence=influence),
    rules=Rules(unscorable=unscorable),
    figures=figures,
    example=Example(
        truth="id,mask,volume,slice,height,width\n1,1 2,v,1,4,4\n2,1 2,v,2,4,4\n3,,w,1,4,4\n4,6 1,w,2,4,4\n",
        submission="id,mask\n1,1 2\n2,1 3\n3,\n4,6 1\n",
        score=0.9278312163512967,
    ),
)
