"""The library of metrics as one file that pip installs, built by setuptools of the very sources that score here."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from functools import cache
from pathlib import Path

LIBRARY = Path(__file__).parents[2] / "metrics"
VERSION = tomllib.loads((LIBRARY / "pyproject.toml").read_text())["project"]["version"]
_LONG_AGO = "315532800"  # so that the same sources give the same file
_BUILD = "from setuptools import build_meta; build_meta.build_wheel('built')"


def library_version() -> str:
    """The library's version with a hash of its sources."""
    return _version(_state())


def name_wheel() -> str:
    """The file's name. Its version ends with a hash of the sources, so pip sees each change."""
    return f"classboard_metrics-{library_version()}-py3-none-any.whl"


def build_wheel() -> bytes:
    """The file of today's sources."""
    return _built(library_version())


def _state() -> tuple[tuple[Path, int], ...]:
    files = (path for path in LIBRARY.rglob("*.*") if path.suffix in (".py", ".toml") and "tests" not in path.parts)
    return tuple((path, path.stat().st_mtime_ns) for path in sorted(files))


@cache
def _version(state: tuple[tuple[Path, int], ...]) -> str:
    digest = hashlib.sha256()
    for path, _ in state:
        digest.update(f"{path.relative_to(LIBRARY)}\0".encode() + path.read_bytes())
    return f"{VERSION}+{digest.hexdigest()[:10]}"


@cache
def _built(version: str) -> bytes:
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
