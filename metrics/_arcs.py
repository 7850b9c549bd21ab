"""Angles between directions, exact for small ones."""

from __future__ import annotations

import numpy as np


def arc(height: np.ndarray, turn: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """The angle in radians between two points of a sphere: the differences of their latitudes and longitudes in
    radians, and the product of the cosines of both latitudes (of the sines of both angles from the pole).

    It is the arc cosine of the scalar product of the two directions. That loses half of its digits for small angles,
    this form of haversines none; equal points are 0 apart.
    """
    square = np.sin(height / 2) ** 2 + widths * np.sin(turn / 2) ** 2
    angle: np.ndarray = 2 * np.arcsin(np.sqrt(np.clip(square, 0.0, 1.0)))
    return angle
