"""Folders of the site's own files and of its state, in a clone or as an installed package."""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
ROOT = PACKAGE.parent
"""The working directory from which `python -m leaderboard` finds the site."""

_BUNDLED = PACKAGE / "bundled"
"""In a wheel: copies of folders outside of the package (see `pyproject.toml`)."""

IS_INSTALLED = _BUNDLED.is_dir()
COMMAND = "classboard" if IS_INSTALLED else "python3 manage.py"
TEMPLATES, GUIDES = ((_BUNDLED if IS_INSTALLED else ROOT) / name for name in ("templates", "docs"))


def state_folder() -> Path:
    """`VAR_DIR`; without it `var` in a clone, or the user's data folder (`XDG_DATA_HOME`) for an installed package."""
    if named := os.environ.get("VAR_DIR"):
        return Path(named).absolute()
    if not IS_INSTALLED:
        return ROOT / "var"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "classboard"
