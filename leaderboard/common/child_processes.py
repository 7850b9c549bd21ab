"""Processes that end with the process that started them, also after `kill -9`.

The kernel kills them (`PR_SET_PDEATHSIG`), so no process has to watch another. This works on Linux; on macOS these
functions do nothing, and only an orderly stop ends the children.
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from .folders import ROOT

log = logging.getLogger(__name__)

PART_VARIABLE = "LEADERBOARD_PART"  # set for everything that `manage.py up` starts: which part of the site it is
STOP_VARIABLE = "LEADERBOARD_STOP_SECONDS"  # within which time such a process ends after SIGTERM
HEARTBEAT_FOLDER = "LEADERBOARD_HEARTBEATS"  # where such processes touch a file each for as long as they live
HEARTBEAT_SECONDS = 2.0
COMMAND_SECONDS = 3 * 3600.0

_PR_SET_PDEATHSIG = 1
_prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None


def die_with(parent: int) -> None:
    """Ask the kernel to kill this process when `parent` dies; call it first in a fresh fork."""
    if _prctl is None:
        return
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died before the kernel was asked
        os._exit(1)


def die_with_leader() -> None:
    """Ask the kernel to kill this process when the leader of its process group dies. Processes that `up` starts lead a
    group each, so their children call this; without `up`, or in the leader itself, it does nothing."""
    if current_part() and os.getpgrp() != os.getpid():
        die_with(os.getpgrp())


def current_part() -> str:
    """The part of the site (`web`, `worker` …) that this process or its group leader is; empty if `up` did not start
    it."""
    return os.environ.get(PART_VARIABLE, "")


def seconds_to_stop() -> float:
    """The time in which this process must end after SIGTERM; short by default, as a person at a terminal waits for
    it."""
    return float(os.environ.get(STOP_VARIABLE, 2.2))


def run_command(*command: str, niceness: int = 0) -> None:
    """Start a management command in another process, which ends with this one or after `COMMAND_SECONDS`."""
    arguments, here = [sys.executable, "-m", "leaderboard", *command], os.getpid()

    def begin() -> None:
        die_with(here)
        os.nice(niceness)

    def run() -> None:
        try:
            subprocess.run(arguments, cwd=ROOT, check=False, preexec_fn=begin, timeout=COMMAND_SECONDS)
        except subprocess.TimeoutExpired:
            log.exception("%s took too long and was ended", command[0])

    threading.Thread(target=run, name=command[0], daemon=True).start()


def start_heartbeat() -> None:
    """Touch a file now and every `HEARTBEAT_SECONDS` in a thread, by which `up` sees that this process is alive."""
    if path := _heartbeat_file():
        path.touch(mode=0o600)
        threading.Thread(target=_touch_forever, args=(path,), name="heartbeat", daemon=True).start()


def ask_for_restart(reason: str) -> None:
    """Ask `up` to end this process with its whole process group and to start it again."""
    if path := _heartbeat_file():
        path.write_text(reason)


def _heartbeat_file() -> Path | None:
    folder = os.environ.get(HEARTBEAT_FOLDER)
    return Path(folder) / f"{current_part()}-{os.getpid()}" if folder else None


def _touch_forever(path: Path) -> None:
    while True:
        time.sleep(HEARTBEAT_SECONDS)
        with suppress(OSError):  # the disk is full or the folder is gone
            path.touch(mode=0o600)
