"""The home scorer's command line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from shlex import quote
from typing import Any

import metrics as library


def home_command(
    metric: library.Metric,
    params: Mapping[str, Any],
    *,
    always: Collection[str] = (),
    also: Iterable[tuple[library.Metric, Mapping[str, Any]]] = (),
) -> str:
    """For a student's files, with the parameters that are not at their defaults, and those `always` said."""
    given = [f"-p {quote(pair)}" for pair in _pairs(metric, params, always)]
    further = [f"--also {quote(','.join([other.key, *_pairs(other, its, ())]))}" for other, its in also]
    return " ".join(["classboard-score score", metric.key, "truth.csv submission.csv", *given, *further])


def _pairs(metric: library.Metric, params: Mapping[str, Any], always: Collection[str]) -> list[str]:
    return [
        f"{p.name}={value}"
        for p in metric.parameters
        if (value := params.get(p.name, p.default)) is not None and (value != p.default or p.name in always)
    ]
