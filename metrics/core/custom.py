"""Custom metrics: files that the operator puts into the folder ``METRICS_DIR``, in the form of those in ``metrics/`` or
Kaggle's, unchanged.

Such a file is the operator's trusted code. The scorer at home imports it; a site does so only in sealed processes,
never in the web server or a worker. The result of its inspection is stored with its text under the hash of the text, in
``METRICS_CACHE`` (by default ``.inspected`` in the folder), so that a catalogue needs only a listing of the folder. The
text of an inspected file stays there: a ground truth keeps being scored with the version it was published with.
"""

import hashlib
import json
import os
import re
import sys
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .custom_packages import custom_folder, how_to_install, import_folders, is_module
from .custom_scoring import error_facts, in_words, load_module

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,59}")
_MAX_BYTES = 1_000_000
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
_HERE = Path(__file__).parent


# --- files ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CustomFile:
    """A file of ``METRICS_DIR`` in its present version. With an ``error`` (in words for the operator) it is not
    offered."""

    key: str
    path: Path
    data: bytes
    facts: Mapping[str, Any]
    settings: Mapping[str, Any]

    @property
    def error(self) -> str:
        """The reason why it is not a metric, with advice, or ``""``."""
        error, missing = str(self.facts.get("error", "")), self.facts.get("missing")
        return f"{error} {how_to_install(missing)}" if is_module(missing) else error

    @property
    def version(self) -> str:
        """Twelve hexadecimal digits of the SHA-256 of the file."""
        return _hash(self.data)[:12]

    @property
    def doctest(self) -> Mapping[str, Any]:
        """The result of the examples in its docstrings: numbers ``tried`` and ``failed``, and the ``text`` of the
        failures."""
        found: Mapping[str, Any] = self.facts.get("doctest", {"tried": 0, "failed": 0, "text": ""})
        return found

    @property
    def parameters(self) -> list[Mapping[str, Any]]:
        """The parameters for the host, each as a mapping with ``name``, ``kind``, ``default``, ``required``."""
        return list(self.facts.get("parameters", []))

    @property
    def notes(self) -> list[str]:
        direction, source = self.direction
        if self.error or source != "guess":
            return list(self.facts.get("notes", []))
        better, worse = ("higher", "lower") if direction == "maximize" else ("lower", "higher")
        other = "minimize" if direction == "maximize" else "maximize"
        guess = (
            f'That {better} is better is a guess from its words. Say it with a line direction = "{direction}", '
            f'or direction = "{other}" if {worse} is better.'
        )
        return [*self.facts.get("notes", []), guess]

    @property
    def direction(self) -> tuple[str, str]:
        """The direction and its source: the operator's ``settings``, the ``file``, or a ``guess`` from its words."""
        for declared, source in ((self.settings, "settings"), (self.facts.get("declared", {}), "file")):
            if declared.get("direction") in ("maximize", "minimize"):
                return str(declared["direction"]), source
        words = str(self.facts.get("words", ""))
        lower, higher = bool(_LOWER.search(words)), bool(_HIGHER.search(words))
        if lower != higher:
            return "minimize" if lower else "maximize", "file"
        head = f"{self.key} {self.facts.get('doc', '').partition(chr(10))[0]}".replace("_", " ")
        return "minimize" if _LOSSES.search(head) else "maximize", "guess"


def list_custom_files() -> tuple[CustomFile, ...]:
    """All files of ``METRICS_DIR``, sorted, including those that are not metrics."""
    home = custom_folder()
    paths = sorted(home.glob("*.py")) if home else []
    return tuple(read_custom_file(path) for path in paths if not path.name.startswith(("_", ".")))


def read_custom_file(path: Path, settings: Mapping[str, Any] | None = None, *, again: bool = False) -> CustomFile:
    """One file from any path; ``again`` repeats its inspection. ``settings`` replace those that the operator stored."""
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        return CustomFile(path.stem, path, b"", {"error": f"It cannot be read: {error.strerror}."}, {})
    stored = read_settings(path.with_suffix(".json")) if settings is None else settings
    return CustomFile(path.stem, path, data, _inspect_file(path.stem, data, again=again), stored)


def add_custom_file(file: CustomFile) -> Path:
    """Copy a file into ``METRICS_DIR`` with the operator's settings, and return its path. Raises ``OSError``."""
    home = custom_folder()
    if home is None:
        raise FileNotFoundError("METRICS_DIR names no folder.")
    target = home / f"{file.key}.py"
    if file.settings:
        _write_file(target.with_suffix(".json"), json.dumps(dict(file.settings), indent=1).encode())
    _write_file(target, file.data)
    return target


def read_custom_settings(key: str) -> dict[str, Any]:
    """The operator's settings for a metric of ``METRICS_DIR``."""
    home = custom_folder()
    return read_settings(home / f"{key}.json") if home else {}


def read_settings(path: Path) -> dict[str, Any]:
    """The operator's settings for facts that a metric's file lacks: a JSON file of the same name beside it."""
    known = _read_json(path)
    return {name: known[name] for name, fits in _SETTINGS.items() if name in known and fits(known[name])}


def find_custom_file(key: str, version: str = "") -> CustomFile | None:
    """The file of this name in its present version, or in the given ``version``; None if there is none."""
    home = custom_folder()
    if home is None or not _KEY.fullmatch(key):
        return None
    path = home / f"{key}.py"
    now = read_custom_file(path) if path.exists() else None
    is_asked = now is not None and version in ("", now.version)
    return now if is_asked or not version else _earlier_version(key, version)


def _earlier_version(key: str, version: str) -> CustomFile | None:
    """An earlier version of a file, if its text was kept."""
    folder = _cache_folder()
    if folder is None or not re.fullmatch("[0-9a-f]{12}", version):
        return None
    for path in folder.glob(f"{key}-{version}*.py"):
        data = path.read_bytes()
        if path.stem == f"{key}-{_hash(data)}":
            return CustomFile(key, path, data, _inspect_file(key, data), read_custom_settings(key))
    return None


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; empty if the file is missing or damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write_file(path: Path, data: bytes) -> None:
    partial = path.with_name(f".{uuid.uuid4().hex}")
    partial.write_bytes(data)
    partial.replace(path)


# --- what a file says about itself ------------------------------------------------------------------------------

Inspector = Callable[[str, bytes], dict[str, Any]]
"""A function from the key and the text of a file to the facts about it, or an ``error`` in words."""

NOT_INSPECTED = "A worker has not loaded it yet. This takes a minute."


def inspect_here(key: str, data: bytes) -> dict[str, Any]:
    """Import a file in this process and collect the facts about it; any exception becomes an ``error`` in words."""
    from .custom_inspection import facts_of

    try:
        return facts_of(load_module(key, data, Path(f"{key}.py")), key, data.decode("utf-8", "replace"))
    except BaseException as error:
        found = error_facts(error, key)
        return {"error": in_words(found), "missing": found["missing"]}


_inspector: list[Inspector | None] = [inspect_here]
_facts: dict[tuple[str, str], dict[str, Any]] = {}


def set_inspector(inspector: Inspector | None) -> Inspector | None:
    """Set the function with which this process inspects files (None: not at all); returns the previous one."""
    before = _inspector[0]
    _inspector[:] = [inspector]
    return before


def _inspect_file(key: str, data: bytes, *, again: bool = False) -> dict[str, Any]:
    """The facts about a file, from memory, from the cache, or by an inspection, which is then cached. Errors are not
    kept in memory: another process may have found since that a missing library was installed."""
    if error := _refusal_of_file(key, data):
        return {"error": error}
    digest = _hash(data)
    facts = {} if again else _facts.get((key, digest)) or _read_cached_facts(key, digest)
    if not facts:
        inspector = _inspector[0]
        if inspector is None:
            return {"error": NOT_INSPECTED}
        facts = inspector(key, data)
        _cache_facts(key, data, facts)
    if "error" not in facts:
        _facts[key, digest] = facts
    return facts


def _refusal_of_file(key: str, data: bytes) -> str:
    if not _KEY.fullmatch(key):
        return "Its name must begin with a letter and have at most 60 letters, digits, - and _."
    if any((folder / f"{key}.py").exists() for folder in (_HERE.parent, _HERE.parent / "special")):
        return f"A metric of this site is called {key}: rename the file."
    return f"It is longer than {_MAX_BYTES:,} bytes." if len(data) > _MAX_BYTES else ""


@cache
def _inspection_stamp() -> str:
    """A hash of everything that an inspection depends on besides the file: our code for it, the kinds of column,
    Python, and its packages."""
    kinds = sorted((_HERE.parent / "reading").glob("*column*.py"))
    paths = [*sorted(_HERE.glob("custom*.py")), _HERE / "parameters.py", *kinds]
    sources = b"".join(path.read_bytes() for path in paths)
    return _hash(sources + sys.version.encode() + os.pathsep.join(import_folders()).encode())[:16]


def _cache_folder() -> Path | None:
    name = os.environ.get("METRICS_CACHE", "")
    home = custom_folder()
    return Path(name) if name else home / ".inspected" if home else None


def _read_cached_facts(key: str, digest: str) -> dict[str, Any]:
    folder = _cache_folder()
    found = _read_json(folder / f"{key}-{digest}.json") if folder else {}
    facts = found.get("facts")
    return facts if found.get("stamp") == _inspection_stamp() and isinstance(facts, dict) else {}


def _cache_facts(key: str, data: bytes, facts: dict[str, Any]) -> None:
    """Cache the inspection, and the text itself. If the folder cannot be written, each process inspects again."""
    folder = _cache_folder()
    if folder is None:
        return
    name = f"{key}-{_hash(data)}"
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        if "error" not in facts:
            _write_file(folder / f"{name}.py", data)
        _write_file(folder / f"{name}.json", json.dumps({"stamp": _inspection_stamp(), "facts": facts}).encode())
