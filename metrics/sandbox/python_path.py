"""Which folders of ``PYTHONPATH`` a process without a site's secrets may know and read. Standard library only."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

_LIBRARY = Path(__file__).resolve().parent.parent


def import_folders(environment: Mapping[str, str] = os.environ) -> list[str]:
    """The folders and archives in ``PYTHONPATH``, without those around something private."""
    private = _private(environment)
    return [path for path in _named(environment) if not _holds(path, private)]


def private_import_folders(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Those that are left out, because the site, its state or the user's home lies in them."""
    private = _private(environment)
    return [path for path in _named(environment) if _holds(path, private)]


def _named(environment: Mapping[str, str]) -> list[str]:
    """Absolute, because the processes have folders of their own. An empty name would mean the current folder."""
    names = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    return list(dict.fromkeys(os.path.abspath(name) for name in names if os.path.exists(name)))


def _private(environment: Mapping[str, str]) -> list[Path]:
    beside = [path for path in (_LIBRARY.parent / "manage.py", _LIBRARY.parent / "var") if path.exists()]
    named = [Path(environment[name]).resolve() for name in ("VAR_DIR", "HOME") if environment.get(name)]
    return [*beside, *named]


def _holds(name: str, private: list[Path]) -> bool:
    folder = Path(name).resolve()
    return any(folder == path or folder in path.parents for path in private)
