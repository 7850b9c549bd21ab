"""The processes in which files are read and metrics run, beside the worker that asks for scores.

::

    worker        Django, the database, the broker; sees no cell of any table
    └── scorer    a clean environment, libraries loaded, waits
        └── keeper    one ground truth, read once; at most eight of them
            └── child     one submission: forked, limited, sealed, gone

Nothing here knows Django. What a child says comes back as JSON and the bytes of arrays, is bounded in size and is
checked before anybody believes its form. `measure` is the one way in.
"""

from __future__ import annotations

from ._answers import Answer, too_much_memory
from ._client import Died, Interrupted, TookTooLong, close, measure, start, stop
from ._confined import clean_environment, confine
from ._here import measure_here
from ._ruler import Limits, Ruler

__all__ = [
    "Answer",
    "Died",
    "Interrupted",
    "Limits",
    "Ruler",
    "TookTooLong",
    "clean_environment",
    "close",
    "confine",
    "measure",
    "measure_here",
    "start",
    "stop",
    "too_much_memory",
]
