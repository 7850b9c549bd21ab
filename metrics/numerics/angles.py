"""Angles between directions, exact for small ones and for opposite ones."""

from __future__ import annotations

import numpy as np


def arc(height: np.ndarray, mirrored: np.ndarray, turn: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """The angle in radians between two points of a sphere.

    ``height`` and ``turn`` are the differences of latitude and longitude in radians, ``mirrored`` is the sum of both
    latitudes (the difference of latitude between one point and the other's mirror image across the equator), and
    ``widths`` the product of the cosines of both latitudes.

    The arc cosine of the scalar product loses half of the digits for small angles, the arc sine of the haversine for
    angles near 180°. Here the squares of the sine and of the cosine of the half angle are sums without a cancellation.
    """
    sine = np.sin(height / 2) ** 2 + widths * np.sin(turn / 2) ** 2
    cosine = np.sin(mirrored / 2) ** 2 + widths * np.cos(turn / 2) ** 2
    angle: np.ndarray = 2 * np.arctan2(np.sqrt(np.maximum(sine, 0.0)), np.sqrt(np.maximum(cosine, 0.0)))
    return angle
