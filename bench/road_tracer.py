"""Notes in shared memory which functions of the site run, in every process that imports this at its start.

A byte for each file and part of the site: a sealed process may write memory that was mapped before its seal, but no
file. `bench/road.py` starts a site with it.
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
    """Note the functions of this process from here on, in all its threads."""
    if VARIABLE not in os.environ:
        return
    memory, files = opened_memory(Path(os.environ[VARIABLE])), own_files()
    offset = len(files) * PARTS.index(part_of(sys.orig_argv))
    places = {str(ROOT / name): offset + place for place, name in enumerate(files)}
    known: dict[CodeType, int] = {}

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event != "call":
            return
        code = frame.f_code
        place = known.get(code)
        if place is None:
            # Modules and classes run code without this flag.
            is_function = code.co_flags & inspect.CO_NEWLOCALS
            place = known[code] = places.get(code.co_filename, -1) if is_function else -1
        if place >= 0:
            memory[place] = 1

    sys.setprofile(note)
    threading.setprofile(note)

    def watch() -> None:
        threading.Thread(target=_note_foreign_threads, args=[note], daemon=True).start()

    if os.environ.get("LEADERBOARD_PART") == "web":
        watch()
        os.register_at_fork(after_in_child=watch)
    _pass_on_to_children()


def _note_foreign_threads(note: Any) -> None:
    """Threads that the web server starts outside Python note functions from their first call of Django on."""
    while "django.core.handlers.wsgi" not in sys.modules or not hasattr(
        sys.modules["django.core.handlers.wsgi"], "WSGIHandler"
    ):
        time.sleep(0.05)
    handler: Any = sys.modules["django.core.handlers.wsgi"].__dict__["WSGIHandler"]
    answer = handler.__call__

    def noted(self: Any, *arguments: Any) -> Any:
        sys.setprofile(note)
        return answer(self, *arguments)

    handler.__call__ = noted


def _pass_on_to_children() -> None:
    """Let children that are started with a clean environment note functions too."""
    begin = subprocess.Popen.__init__

    def noted(self: Any, *arguments: Any, **options: Any) -> None:
        if options.get("env") is not None:
            names = (VARIABLE, "PYTHONPATH")
            options["env"] = {**options["env"], **{name: os.environ[name] for name in names if name in os.environ}}
        begin(self, *arguments, **options)

    subprocess.Popen.__init__ = noted  # type: ignore[method-assign]
