"""Worked examples of all metrics: computed by the code that scores, once, into a file that pages read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import metrics
from metrics.core.figures import Curve, Grid

FILE_NAME = "worked_examples.json"
MAX_FIGURE_CELLS = 400
"""Figures with more numbers than this cannot be read by people and are left out."""


def make_worked_examples(folder: Path) -> None:
    """Write the library's examples, in half a second, where the file is missing or was made by other code. A worker
    adds those of custom metrics, whose code no process of the site runs."""
    from .library_wheel import library_version  # here, because it loads parts of Django

    path = folder / FILE_NAME
    known, sources = _read_file(path), library_version()
    examples = known["examples"] if known.get("sources") == sources else {}
    library = [one for one in metrics.catalogue() if not one.is_custom]
    missing = [one for one in library if examples.get(one.key, {}).get("version") != one.version]
    if missing:
        made = {one.key: make_entry(one) for one in missing}
        _write_file(path, {"sources": sources, "examples": {**examples, **made}})


def add_worked_example(folder: Path, key: str, entry: Mapping[str, Any]) -> None:
    """Add the entry of a custom metric to the file, if the file is there."""
    known = _read_file(folder / FILE_NAME)
    if known:
        _write_file(folder / FILE_NAME, {**known, "examples": {**known["examples"], key: entry}})


def find_worked_example(metric: metrics.Metric) -> dict[str, Any] | None:
    """The entry of a metric in this very version: its `example`, None where its code cannot score it. None until the
    file has it. Reads only what is on the disk."""
    from django.conf import settings  # here, because a sealed process that makes an entry knows no Django

    path = Path(settings.MADE_DIR) / FILE_NAME
    try:
        written_ns = path.stat().st_mtime_ns
    except FileNotFoundError:
        return None
    found: dict[str, Any] | None = _read_examples(path, written_ns).get(metric.key)
    return found if found and found["version"] == metric.version else None


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
    """The worked example of a metric in this version, computed here."""
    entry: dict[str, Any] = {"version": metric.version, "example": None}
    if not metric.example.truth:
        return entry
    try:
        entry["example"] = _compute_example(metric)
    except metrics.MetricError:
        if not metric.is_custom:
            raise
    return entry


def _compute_example(metric: metrics.Metric) -> dict[str, Any]:
    example = metric.example
    found = metrics.explain(metric.key, example.truth.encode(), example.submission.encode(), dict(example.params))
    return {
        **{name: getattr(found.result, name) for name in ("overall", "public", "private")},
        **{
            name: getattr(found, name)
            for name in ("header", "rows", "parts", "contributions", "sums", "last_line", "worked")
        },
        "figures": [drawing for figure in found.figures if (drawing := _figure_json(figure))],
    }


def _figure_json(figure: Grid | Curve) -> dict[str, Any] | None:
    kind, points = ("grid", figure.cells) if isinstance(figure, Grid) else ("curve", figure.points)
    if sum(map(len, points)) > MAX_FIGURE_CELLS:
        return None
    drawing = {**vars(figure), "kind": kind}
    return {**drawing, "marked": sorted(figure.marked)} if isinstance(figure, Grid) else drawing
