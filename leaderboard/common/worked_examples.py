"""Worked examples of all metrics: computed once by the code that scores, into a file that pages read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

import metrics
from metrics.core.figures import Curve, Grid

from .library_wheel import library_version

FILE_NAME = "worked_examples.json"
MAX_FIGURE_CELLS = 400
"""Figures with more numbers are left out, because people could not read them."""


def make_worked_examples(folder: Path) -> None:
    """Write the library's examples (in half a second) if the file is missing or was made by other code. Custom metrics
    have none."""
    path = folder / FILE_NAME
    known, sources = _read_file(path), library_version()
    examples = known["examples"] if known.get("sources") == sources else {}
    library = [one for one in metrics.catalogue() if not one.is_custom]
    missing = [one for one in library if examples.get(one.key, {}).get("version") != one.version]
    if missing:
        made = {one.key: make_entry(one) for one in missing}
        _write_file(path, {"sources": sources, "examples": {**examples, **made}})


def find_worked_example(metric: metrics.Metric) -> dict[str, Any] | None:
    """The example of a metric in exactly this version, from the file; None if the file lacks it."""
    path = Path(settings.MADE_DIR) / FILE_NAME
    try:
        written_ns = path.stat().st_mtime_ns
    except FileNotFoundError:
        return None
    found: dict[str, Any] | None = _read_examples(path, written_ns).get(metric.key)
    example: dict[str, Any] | None = found["example"] if found and found["version"] == metric.version else None
    return example


@lru_cache(maxsize=1)
def _read_examples(path: Path, written_ns: int) -> dict[str, Any]:
    examples: dict[str, Any] = _read_file(path).get("examples", {})
    return examples


def _read_file(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found


def _write_file(path: Path, content: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(content, default=lambda of_numpy: of_numpy.item()), encoding="utf-8")
    partial.replace(path)


def make_entry(metric: metrics.Metric) -> dict[str, Any]:
    """Compute the worked example of a metric in this version."""
    example = metric.example
    found = metrics.explain(metric.key, example.truth.encode(), example.submission.encode(), dict(example.params))
    values = {
        **{name: getattr(found.result, name) for name in ("overall", "public", "private")},
        **{
            name: getattr(found, name)
            for name in ("header", "rows", "parts", "contributions", "sums", "last_line", "worked")
        },
        "figures": [drawing for figure in found.figures if (drawing := _figure_json(figure))],
    }
    return {"version": metric.version, "example": values}


def _figure_json(figure: Grid | Curve) -> dict[str, Any] | None:
    kind, points = ("grid", figure.cells) if isinstance(figure, Grid) else ("curve", figure.points)
    if sum(map(len, points)) > MAX_FIGURE_CELLS:
        return None
    drawing = {**vars(figure), "kind": kind}
    return {**drawing, "marked": sorted(figure.marked)} if isinstance(figure, Grid) else drawing
