"""Grades as pure functions: rules that check themselves, and marks with their reasons."""

from __future__ import annotations

from .marks import Anchor, Field, File, Mark, Work, anchors_of, mark, points_text, rounded
from .reasons import Reason, because
from .rules import MOST_POINTS, MOST_STEPS, BadRules, Method, Rules, Step, number_text

__all__ = [
    "MOST_POINTS",
    "MOST_STEPS",
    "Anchor",
    "BadRules",
    "Field",
    "File",
    "Mark",
    "Method",
    "Reason",
    "Rules",
    "Step",
    "Work",
    "anchors_of",
    "because",
    "mark",
    "number_text",
    "points_text",
    "rounded",
]
