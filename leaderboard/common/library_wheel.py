"""The metrics library as a wheel for pip, built by setuptools from the sources that score here."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from django.conf import settings

LIBRARY = Path(__file__).parents[2] / "metrics"
VERSION = tomllib.loads((LIBRARY / "pyproject.toml").read_text())["project"]["version"]
WHEELS = "classboard_metrics-*.whl"
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
    for other in folder.glob(WHEELS):
        if other != wheel:
            other.unlink(missing_ok=True)
    return wheel


def find_wheel() -> Path | None:
    """The path of the wheel that was built before pages were served; None until it exists."""
    return max(Path(settings.MADE_DIR).glob(WHEELS), default=None)


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
