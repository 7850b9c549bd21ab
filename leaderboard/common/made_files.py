"""Generated files: worked examples of all metrics, the metrics library as a wheel for pip, and the site's font.

They are made from the site's sources before pages are served: `python -m leaderboard.common.made_files VAR_DIR` makes
those that are missing or were made from other sources. Pages can do without each of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

import metrics
from metrics.core.figures import Curve, Grid

EXAMPLES_FILE = "worked_examples.json"
MAX_FIGURE_CELLS = 400
"""Figures with more numbers are left out, because people could not read them."""


def make_worked_examples(folder: Path) -> None:
    """Write the library's examples (in half a second) if the file is missing or was made by other code. Custom metrics
    have none."""
    path = folder / EXAMPLES_FILE
    known, sources = _read_file(path), library_version()
    examples = known["examples"] if known.get("sources") == sources else {}
    library = [one for one in metrics.catalogue() if not one.is_custom]
    missing = [one for one in library if examples.get(one.key, {}).get("version") != one.version]
    if missing:
        made = {one.key: make_entry(one) for one in missing}
        _write_file(path, {"sources": sources, "examples": {**examples, **made}})


def find_worked_example(metric: metrics.Metric) -> dict[str, Any] | None:
    """The example of a metric in exactly this version, from the file; None if the file lacks it."""
    path = Path(settings.MADE_DIR) / EXAMPLES_FILE
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


LIBRARY = Path(__file__).parents[2] / "metrics"
VERSION = tomllib.loads((LIBRARY / "pyproject.toml").read_text())["project"]["version"]
WHEEL_PATTERN = "classboard_metrics-*.whl"
_LONG_AGO = "315532800"  # 1980-01-01: a fixed date, so that the same sources produce the same file
_BUILD = "from setuptools import build_meta; build_meta.build_wheel('built')"


def library_version() -> str:
    """The library's version with a hash of its sources, so that pip notices each change."""
    digest = hashlib.sha256()
    files = (path for path in LIBRARY.rglob("*.*") if path.suffix in (".py", ".toml") and "tests" not in path.parts)
    for path in sorted(files):
        digest.update(f"{path.relative_to(LIBRARY)}\0".encode() + path.read_bytes())
    return f"{VERSION}+{digest.hexdigest()[:10]}"


def make_wheel(folder: Path) -> Path:
    """The path of the wheel of today's sources in `folder`, built if it is missing; wheels of other sources are
    removed."""
    version = library_version()
    wheel = folder / f"classboard_metrics-{version}-py3-none-any.whl"
    if not wheel.exists():
        folder.mkdir(parents=True, exist_ok=True)
        partial = wheel.with_suffix(".partial")
        partial.write_bytes(_build_wheel(version))
        partial.replace(wheel)
    for other in folder.glob(WHEEL_PATTERN):
        if other != wheel:
            other.unlink(missing_ok=True)
    return wheel


def find_wheel() -> Path | None:
    """The path of the wheel that was built before pages were served; None until it exists."""
    return max(Path(settings.MADE_DIR).glob(WHEEL_PATTERN), default=None)


def _build_wheel(version: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        shutil.copytree(LIBRARY, project, ignore=shutil.ignore_patterns("tests", "__pycache__"))
        settings = project / "pyproject.toml"
        settings.write_text(settings.read_text().replace(f'version = "{VERSION}"', f'version = "{version}"'))
        environment = {**os.environ, "SOURCE_DATE_EPOCH": _LONG_AGO}
        subprocess.run(
            [sys.executable, "-c", _BUILD], cwd=project, env=environment, check=True, stdout=subprocess.DEVNULL
        )
        (wheel,) = (project / "built").glob("*.whl")
        return wheel.read_bytes()


# One variable font holds all weights and optical sizes. Browsers load the second part only for pages that need it.
FONT_PARTS = {
    "latin": "U+0000-00FF, U+0131, U+0152-0153, U+02BB-02BC, U+02C6, U+02DA, U+02DC, U+2000-206F, U+20AC, U+2122,"
    " U+2190-2193, U+2212, U+2215, U+2248, U+2260, U+2264-2265, U+25B2, U+25BC, U+2713",
    "latin-ext": "U+0100-0130, U+0132-0151, U+0154-02BA, U+0370-03FF, U+0400-04FF, U+1E00-1E9F, U+1EF2-1EFF,"
    " U+20A0-20AB, U+20AD-20C0",
}
FONT_FEATURES = ["kern", "liga", "calt", "ccmp", "locl", "mark", "mkmk", "tnum"]
FONT_STYLES = "inter.css"
FONT_FACE = """@font-face {{
  font-family: Inter;
  font-weight: 100 900;
  font-display: swap;
  src: url("{name}") format("woff2");
  unicode-range: {letters};
}}
"""


def make_fonts(folder: Path) -> None:
    """Write the parts as WOFF2 and their style sheet into a folder: about 180 kB in 4 s.

    The style sheet is written last, so its presence means that the fonts are complete.
    """
    import fontpkg
    from fontTools import subset

    folder.mkdir(parents=True, exist_ok=True)
    faces = []
    for part, letters in FONT_PARTS.items():
        options = subset.Options(flavor="woff2", layout_features=FONT_FEATURES)
        font = subset.load_font(str(fontpkg.path("Inter")), options)
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=subset.parse_unicodes(letters))
        subsetter.subset(font)
        name = f"inter-{part}.woff2"
        subset.save_font(font, str(folder / name), options)
        faces.append(FONT_FACE.format(name=name, letters=letters))
    (folder / FONT_STYLES).write_text("".join(faces))


def make_files(var: Path) -> None:
    """Make worked examples, the home scorer and fonts."""
    make_worked_examples(var / "made")
    make_wheel(var / "made")
    if not (var / "static" / "fonts" / FONT_STYLES).exists():
        make_fonts(var / "static" / "fonts")


if __name__ == "__main__":
    make_files(Path(sys.argv[1]))
