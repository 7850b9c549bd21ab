"""Mean angle between true and predicted directions, in radians.

$$\\theta = \\arccos\\left(\\sin z\\,\\sin\\hat z\\,\\cos(\\hat a - a) + \\cos z\\,\\cos\\hat z\\right)$$

and the mean over rows. Both files have two columns in radians: azimuth $a$, around the pole, and zenith $z$, from the
pole. If their names do not begin with `azi` and `zen`, the azimuth is the first. Any finite number is an angle: a full
turn more changes nothing, and at zenith 0 the azimuth does not matter. With `unit` set to degrees both files and the
score are in degrees.

0 is perfect, opposite directions score $\\pi$ = 3.1416, and directions at random $\\pi/2$ = 1.5708. The arc cosine
itself would give about 1e-8 for equal directions and needs its argument cut to -1 … 1; the same angle is computed from
haversines, which is exact for small angles and for opposite directions.

Source: "IceCube: Neutrinos in Deep Ice" on Kaggle, 2023.
"""

import math
from typing import Annotated, Literal

import numpy as np

from ..core.contract import ByParameters, Example, Metric
from ..core.messages import Message
from ..numerics.averages import mean_over_rows
from ..reading.number_kinds import Fields, Number
from .mean_haversine import arc

Unit = Annotated[Literal["radians", "degrees"], "Of the angles in both files and of the score."]
DIRECTION = Fields(Message("azimuth, zenith"), by_name=True, azimuth=Number(), zenith=Number())


def angle(truth: np.ndarray, prediction: np.ndarray, *, unit: Unit = "radians") -> np.ndarray:
    read, write = (np.radians, np.degrees) if unit == "degrees" else (np.positive, np.positive)
    turn, height = read(prediction - truth).T
    mirrored = read((180 if unit == "degrees" else np.pi) - prediction[:, 1] - truth[:, 1])
    widths = np.sin(read(truth[:, 1])) * np.sin(read(prediction[:, 1]))
    return write(arc(height, mirrored, turn, widths))


def worst(*, unit: Unit = "radians") -> float:
    return 180.0 if unit == "degrees" else math.pi


mean_angular_error = Metric(
    title="Mean angular error",
    group="Numbers",
    direction="minimize",
    truth=DIRECTION,
    computation=mean_over_rows(angle),
    by_parameters=ByParameters(worst=worst),
    example=Example(
        truth="id,azimuth,zenith\n1,0,90\n2,30,45\n3,200,0\n4,10,30\n",
        submission="id,azimuth,zenith\n1,90,90\n2,30,75\n3,20,0\n4,190,30\n",
        score=45.0,
        params={"unit": "degrees"},
    ),
)
