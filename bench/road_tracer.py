"""Notes in shared memory which lines of functions of the site run, in every process that imports this at its start.

A byte for each part of the site and line of a file: a sealed process may write memory that was mapped before its
seal, but no file. `bench/road.py` starts a site with it.
"""

from __future__ import annotations

import inspect
import mmap
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
VARIABLE = "ROAD_OF_AN_UPLOAD"
PARTS = ("web", "worker", "scoring", "other")
PACKAGES = ("leaderboard", "metrics")


def own_files() -> list[str]:
    """All files that may be noted, in the order of their bytes."""
    found = (path.relative_to(ROOT) for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return sorted(str(path) for path in found if "tests" not in path.parts)


def own_lines() -> list[tuple[str, int]]:
    """All lines that may be noted, from 1, in the order of their bytes."""
    sizes = ((name, len((ROOT / name).read_text().splitlines())) for name in own_files())
    return [(name, line) for name, size in sizes for line in range(1, size + 1)]


def opened_memory(path: Path) -> mmap.mmap:
    with path.open("r+b") as file:
        return mmap.mmap(file.fileno(), 0)


def part_of(command: list[str]) -> str:
    """The part of the site that a process belongs to: scoring by its command, others by the variable that `up` sets."""
    if "leaderboard.scor" in " ".join(command):
        return "scoring"
    named = os.environ.get("LEADERBOARD_PART", "")
    return named if named in PARTS else "other"


def install() -> None:
    """Note the lines of this process from here on, in all its threads."""
    if VARIABLE not in os.environ:
        return
    memory, lines = opened_memory(Path(os.environ[VARIABLE])), own_lines()
    offset = len(lines) * PARTS.index(part_of(sys.orig_argv)) - 1
    places = {str(ROOT / name): offset + place for place, (name, line) in enumerate(lines) if line == 1}
    known: dict[CodeType, int | None] = {}

    def note(frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if code not in known:
            # Modules and classes run code without this flag.
            is_function = code.co_flags & inspect.CO_NEWLOCALS
            known[code] = places.get(code.co_filename) if is_function else None
        place = known[code]
        if place is None:
            return None
        if event == "line":
            memory[place + frame.f_lineno] = 1
        return note

    sys.settrace(note)
    threading.settrace(note)

    def watch() -> None:
        threading.Thread(target=_note_foreign_threads, args=[note], daemon=True).start()

    if os.environ.get("LEADERBOARD_PART") == "web":
        watch()
        os.register_at_fork(after_in_child=watch)
    _pass_on_to_children()


def _note_foreign_threads(note: Any) -> None:
    """Threads that the web server starts outside Python note lines from their first call of Django on."""
    while "django.core.handlers.wsgi" not in sys.modules or not hasattr(
        sys.modules["django.core.handlers.wsgi"], "WSGIHandler"
    ):
        time.sleep(0.05)
    handler: Any = sys.modules["django.core.handlers.wsgi"].__dict__["WSGIHandler"]
    answer = handler.__call__

    def noted(self: Any, *arguments: Any) -> Any:
        sys.settrace(note)
        return answer(self, *arguments)

    handler.__call__ = noted


def _pass_on_to_children() -> None:
    """Let children that are started with a clean environment note lines too."""
    begin = subprocess.Popen.__init__

    def noted(self: Any, *arguments: Any, **options: Any) -> None:
        if options.get("env") is not None:
            names = (VARIABLE, "PYTHONPATH")
            options["env"] = {**options["env"], **{name: os.environ[name] for name in names if name in os.environ}}
        begin(self, *arguments, **options)

    subprocess.Popen.__init__ = noted  # type: ignore[method-assign]
