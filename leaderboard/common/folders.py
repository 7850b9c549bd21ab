"""Where the site's own files lie, and where it keeps its state: in a clone, or as an installed package."""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
ROOT = PACKAGE.parent
"""From here `python -m leaderboard` finds the site."""

_BUNDLED = PACKAGE / "bundled"
"""What a wheel has from outside the package (`pyproject.toml`)."""

IS_INSTALLED = _BUNDLED.is_dir()
COMMAND = "classboard" if IS_INSTALLED else "python3 manage.py"
TEMPLATES, GUIDES = ((_BUNDLED if IS_INSTALLED else ROOT) / name for name in ("templates", "docs"))


def state_folder() -> Path:
    """`VAR_DIR`; without it `var` in the clone, or the user's folder for the data of programs."""
    if named := os.environ.get("VAR_DIR"):
        return Path(named).absolute()
    if not IS_INSTALLED:
        return ROOT / "var"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "classboard"
