"""Folders of the site's own files and of its state, in a clone or as an installed package."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
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


def made_once(path: Path, make: Callable[[], str]) -> str:
    """The text of a file of mode 600, made if it is missing; of several processes that do so at once one wins, and its
    text is whole."""
    if not path.exists():
        partial = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        partial.touch(mode=0o600)
        partial.write_text(make())
        with suppress(FileExistsError):
            os.link(partial, path)
        partial.unlink()
    return path.read_text()
