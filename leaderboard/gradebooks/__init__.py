"""Grade tables of learning platforms: Canvas's own file with one column filled, files for Moodle and Brightspace."""

from __future__ import annotations

from .canvas import ID, MOST_BYTES, SIS_LOGIN, STUDENT, BadGradebook, Gradebook, Match, Matching, filled, match, read
from .files import OWN, brightspace, moodle, plain
from .people import Person

__all__ = [
    "ID",
    "MOST_BYTES",
    "OWN",
    "SIS_LOGIN",
    "STUDENT",
    "BadGradebook",
    "Gradebook",
    "Match",
    "Matching",
    "Person",
    "brightspace",
    "filled",
    "match",
    "moodle",
    "plain",
    "read",
]
