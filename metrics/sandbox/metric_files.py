"""Metric files that the operator puts into the folder ``METRICS_DIR``: Kaggle's, unchanged, or in our own format.

Such a file never runs here: it is inspected, tested and asked for scores in a process of its own (``processes``).
What it says about itself is kept beside its text under the hash of that text, in ``METRICS_CACHE`` (by default
``.inspected`` in the folder), so that a catalogue costs a look at the folder and no process. A text that was once
inspected is kept there: a ground truth goes on being scored with the version it was published with.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import threading
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .packages import how_to_install, import_folders, is_module
from .processes import ProcessStopped, Unsealed, run

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,59}")
_MOST_BYTES = 1_000_000
_LOWER = re.compile(r"\b(lower|smaller|less|minimi[sz])\w*(\W+\w+){0,2}\W+better|\bto be minimi[sz]ed", re.IGNORECASE)
_HIGHER = re.compile(r"\b(higher|larger|greater|bigger|more)(\W+\w+){0,2}\W+better|\bto be maximi[sz]ed", re.IGNORECASE)
_LOSSES = re.compile(
    r"error|loss|deviance|divergence|distance|deviation|pinball|brier|(?<![a-z])(rmsle|rmse|mse|mae|mape|smape|kl|crps)"
    r"(?![a-z])",
    re.IGNORECASE,
)
_SETTINGS: dict[str, Callable[[Any], bool]] = {
    "title": lambda value: isinstance(value, str),
    "group": lambda value: isinstance(value, str),
    "direction": lambda value: value in ("maximize", "minimize"),
    "best": lambda value: isinstance(value, int | float),
    "worst": lambda value: isinstance(value, int | float),
    "submission_columns": lambda value: isinstance(value, list) and all(isinstance(name, str) for name in value),
}
_LIBRARY = Path(__file__).parent.parent
_INSPECTS = (
    "sandbox/child_process.py",
    "sandbox/inspection.py",
    "core/parameters.py",
    "reading/columns.py",
    "reading/column_kinds.py",
)
_lock = threading.RLock()
_facts: dict[tuple[str, str], dict[str, Any]] = {}
_read: dict[tuple[str, int, int, int], bytes] = {}


@dataclass(frozen=True)
class OutsideFile:
    """A file of ``METRICS_DIR`` as it is now. With an ``error`` (in words for the operator) it is not offered.

    ``doctest`` has the numbers ``tried`` and ``failed`` and the ``text`` of what failed; ``notes`` says what else the
    operator should know.
    """

    key: str
    path: Path
    data: bytes
    facts: Mapping[str, Any]
    settings: Mapping[str, Any]

    @property
    def error(self) -> str:
        """Why it is no metric, and what to do about it, or ``""``."""
        error, missing = str(self.facts.get("error", "")), self.facts.get("missing")
        return f"{error} {how_to_install(missing)}" if is_module(missing) else error

    @property
    def version(self) -> str:
        """Twelve hexadecimal digits of the SHA-256 of the file."""
        return _hash(self.data)[:12]

    @property
    def doctest(self) -> Mapping[str, Any]:
        """How the examples in its docstrings came out."""
        found: Mapping[str, Any] = self.facts.get("doctest", {"tried": 0, "failed": 0, "text": ""})
        return found

    @property
    def parameters(self) -> list[Mapping[str, Any]]:
        """The parameters that a host will see, each as a mapping with ``name``, ``kind``, ``default``, ``required``."""
        return list(self.facts.get("parameters", []))

    @property
    def notes(self) -> list[str]:
        """What the operator should know."""
        direction, who = self.direction
        return [*self.facts.get("notes", []), *([GUESSED[direction]] if not self.error and who == "guess" else [])]

    @property
    def direction(self) -> tuple[str, str]:
        """The direction, and who says so: the operator's ``settings``, the ``file``, or a ``guess`` from its words."""
        for said, who in ((self.settings, "settings"), (self.facts.get("said", {}), "file")):
            if said.get("direction") in ("maximize", "minimize"):
                return str(said["direction"]), who
        words = str(self.facts.get("words", ""))
        lower, higher = bool(_LOWER.search(words)), bool(_HIGHER.search(words))
        if lower != higher:
            return "minimize" if lower else "maximize", "file"
        head = f"{self.key} {self.facts.get('doc', '').partition(chr(10))[0]}".replace("_", " ")
        return "minimize" if _LOSSES.search(head) else "maximize", "guess"


GUESSED = {
    "maximize": 'That higher is better is a guess from its words. Say it with a line direction = "maximize", '
    'or direction = "minimize" if lower is better.',
    "minimize": 'That lower is better is a guess from its words. Say it with a line direction = "minimize", '
    'or direction = "maximize" if higher is better.',
}
"""What the operator reads where nobody says the direction, by the one that was guessed."""


def outside_folder() -> Path | None:
    """The folder of metric files from outside, if the environment names one that exists."""
    name = os.environ.get("METRICS_DIR", "")
    path = Path(name) if name else None
    return path if path is not None and path.is_dir() else None


def list_outside_files() -> tuple[OutsideFile, ...]:
    """All files of ``METRICS_DIR``, sorted, also those that are no metric. New ones are inspected, a second each."""
    found = outside_folder()
    paths = sorted(found.glob("*.py")) if found else []
    return tuple(read_outside_file(path) for path in paths if not path.name.startswith(("_", ".")))


def read_outside_file(path: Path, settings: Mapping[str, Any] | None = None, *, again: bool = False) -> OutsideFile:
    """One file, wherever it is; ``again`` inspects it although that was done before. ``settings`` replace what the
    operator has said about it."""
    try:
        data = _text(path)
    except OSError as error:
        return OutsideFile(path.stem, path, b"", {"error": f"It cannot be read: {error.strerror}."}, {})
    said = read_settings(path.with_suffix(".json")) if settings is None else settings
    return OutsideFile(path.stem, path, data, _inspected(path.stem, data, again), said)


def add_outside_file(file: OutsideFile) -> Path:
    """Put a file into ``METRICS_DIR`` with what the operator says about it, and give its place. Raises ``OSError``."""
    home = outside_folder()
    if home is None:
        raise FileNotFoundError("METRICS_DIR names no folder.")
    target = home / f"{file.key}.py"
    if file.settings:
        _write(target.with_suffix(".json"), json.dumps(dict(file.settings), indent=1).encode())
    _write(target, file.data)
    return target


def read_outside_settings(key: str) -> dict[str, Any]:
    """What the operator has said about a metric of ``METRICS_DIR``."""
    home = outside_folder()
    return read_settings(home / f"{key}.json") if home else {}


def stored_file(key: str, version: str) -> OutsideFile | None:
    """An earlier version of a file, if its text was kept."""
    folder = _cache()
    if folder is None or not _KEY.fullmatch(key) or not re.fullmatch("[0-9a-f]{12}", version):
        return None
    for path in folder.glob(f"{key}-{version}*.py"):
        data = path.read_bytes()
        if path.stem == f"{key}-{_hash(data)}":
            return OutsideFile(key, path, data, _inspected(key, data), read_outside_settings(key))
    return None


def read_settings(path: Path) -> dict[str, Any]:
    """What the operator says about a metric where its file does not: a JSON file of its name beside it."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    known = found if isinstance(found, dict) else {}
    return {name: known[name] for name, fits in _SETTINGS.items() if name in known and fits(known[name])}


def _text(path: Path) -> bytes:
    """The file's bytes, read again when its time, size or place on the disk changed."""
    state = path.stat()
    mark = (str(path), state.st_mtime_ns, state.st_size, state.st_ino)
    if mark not in _read:
        for old in [one for one in _read if one[0] == str(path)]:
            _read.pop(old, None)
        with path.open("rb") as file:
            _read[mark] = file.read(_MOST_BYTES + 1)
    return _read[mark]


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# --- what a file says about itself ------------------------------------------------------------------------------


def _inspected(key: str, data: bytes, again: bool = False) -> dict[str, Any]:
    mark = (key, _hash(data))
    with _lock:
        known = None if again else _facts.get(mark)
        if not again and (known is None or "error" in known):
            # What another process found out since counts: a missing library may be there by now.
            known = _recalled(*mark) or known
        _facts[mark] = known or _inspect(key, data)
        return _facts[mark]


def _inspect(key: str, data: bytes) -> dict[str, Any]:
    if error := _unfit(key, data):
        return {"error": error}
    try:
        answer = run("inspect", key, data, {})
    except Unsealed as unsealed:
        return {"error": f"It {unsealed}."}  # not kept: it says nothing about the file
    except ProcessStopped as stopped:
        answer = {"error": {"class": "", "words": f"Loading it {stopped}. {stopped.output}".strip()}}
    if "error" in answer:
        answer = {"error": in_words(answer["error"]), "missing": answer["error"].get("missing")}
    _remember(key, data, answer)
    return answer


def _unfit(key: str, data: bytes) -> str:
    if not _KEY.fullmatch(key):
        return "Its name must begin with a letter and have at most 60 letters, digits, - and _."
    if (_LIBRARY / f"{key}.py").exists():
        return f"A metric of this site is called {key}: rename the file."
    return f"It is longer than {_MOST_BYTES:,} bytes." if len(data) > _MOST_BYTES else ""


def in_words(error: Mapping[str, Any]) -> str:
    """An error of the metric's process for the operator or the host."""
    where = f" (line {error['line']})" if error.get("line") else ""
    if is_module(error.get("missing")):
        return f"It needs the library {error['missing']}{where}, which is not installed for metrics from outside."
    if error.get("kind") == "unfit" or not error["class"]:
        return str(error["words"])
    return f"{error['class']}: {error['words']}{where}"


@cache
def _stamp() -> str:
    """What an inspection depends on beside the file: how we inspect, the kinds of column, Python, and its packages."""
    sources = b"".join((_LIBRARY / name).read_bytes() for name in _INSPECTS)
    return _hash(sources + sys.version.encode() + os.pathsep.join(import_folders()).encode())[:16]


def _cache() -> Path | None:
    name = os.environ.get("METRICS_CACHE", "")
    home = outside_folder()
    return Path(name) if name else home / ".inspected" if home else None


def _recalled(key: str, digest: str) -> dict[str, Any] | None:
    folder = _cache()
    if folder is None:
        return None
    try:
        found = json.loads((folder / f"{key}-{digest}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    fits = isinstance(found, dict) and found.get("stamp") == _stamp() and isinstance(found.get("facts"), dict)
    return found["facts"] if fits else None


def _remember(key: str, data: bytes, facts: dict[str, Any]) -> None:
    """Keep the inspection, and the text itself. A folder that cannot be written costs an inspection per process."""
    folder = _cache()
    if folder is None:
        return
    name = f"{key}-{_hash(data)}"
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        if "error" not in facts:
            _write(folder / f"{name}.py", data)
        _write(folder / f"{name}.json", json.dumps({"stamp": _stamp(), "facts": facts}).encode())


def _write(path: Path, data: bytes) -> None:
    partial = path.with_name(f".{uuid.uuid4().hex}")
    partial.write_bytes(data)
    partial.replace(path)
