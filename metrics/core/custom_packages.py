"""Python packages for custom metric files, in a separate folder that no other process of the site imports from.

It is ``packages`` in ``METRICS_DIR``. It comes after the site's libraries in the search path, so nothing in it can
replace a library of the site, such as pandas.

``import_folders`` are the folders of ``PYTHONPATH`` that a process without the site's secrets may read. Standard
library only.
"""

import importlib.util
import os
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TypeGuard

NAME = "packages"
_MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,59}")
_DISTRIBUTIONS = {
    "Bio": "biopython",
    "PIL": "pillow",
    "cv2": "opencv-python-headless",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
"""pip's names of libraries that differ from the imported names."""


def custom_folder() -> Path | None:
    """The folder of custom metric files, if the environment names one that exists."""
    name = os.environ.get("METRICS_DIR", "")
    path = Path(name) if name else None
    return path if path is not None and path.is_dir() else None


def custom_packages() -> Path | None:
    """The folder of libraries for custom metrics, if there is one."""
    path = Path(os.environ.get("METRICS_DIR") or os.devnull) / NAME
    return path if path.is_dir() else None


def is_module(name: object) -> TypeGuard[str]:
    """Whether this is a valid name of a library: a metric's file may return anything here."""
    return isinstance(name, str) and _MODULE.fullmatch(name) is not None


def how_to_install(module: str) -> str:
    """The advice to the operator about a library that a metric's file needs."""
    home = os.environ.get("METRICS_DIR")
    target = (Path(home).absolute() if home else Path("METRICS_DIR")) / NAME
    python = [sys.executable, "-m", "pip", "install"]
    if importlib.util.find_spec("pip") is None:
        python = ["uv", "pip", "install", "--python", sys.executable]
    command = shlex.join([*python, "--target", str(target), _DISTRIBUTIONS.get(module, module)])
    return (
        f"Install it for these files alone: {command} – then run manage.py add_metric again. Without --target it would "
        "be installed for the whole site and might change its pandas, and with it every score."
    )


def import_folders(environment: Mapping[str, str] = os.environ) -> list[str]:
    """The folders and archives in ``PYTHONPATH``, without those around the site, its state or the user's home. They are
    absolute, because the processes have other working directories; an empty name would mean the current one."""
    site = Path(__file__).resolve().parents[2]
    private = [path for path in (site / "manage.py", site / "var") if path.exists()]
    private += [Path(environment[name]).resolve() for name in ("VAR_DIR", "HOME") if environment.get(name)]
    around = {folder for path in private for folder in (path, *path.parents)}
    names = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    folders = dict.fromkeys(os.path.abspath(name) for name in names if os.path.exists(name))
    return [folder for folder in folders if Path(folder).resolve() not in around]
