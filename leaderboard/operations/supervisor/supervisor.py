"""The supervisor: starts the parts of a site as child processes, and restarts those that end or show no sign of life.

This process never loads Django, and has one thread, so that its children can ask the kernel to die with it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType

from leaderboard.common import child_processes

from . import processes
from .place import SiteFolders
from .processes import ManagedProcess

LOOK_EVERY = 0.1
START_WITHIN = 60.0
DEATHS_WHILE_STARTING = 4
TIME_TO_FINISH = 2.2  # seconds, of the three that a stop may take
TIME_TO_SAVE = 0.5
ROTATE_EVERY = 15.0
SLEPT_SECONDS = 3.0  # after such a pause the supervisor itself was suspended, so silent children are not to blame


class Stopped(Exception):
    """Ctrl-C or SIGTERM."""


class Supervisor:
    """Starts child processes and restarts them when they die."""

    def __init__(self, place: SiteFolders, env: dict[str, str], report: Callable[[str], None]) -> None:
        self.place, self.env, self.report = place, env, report
        self.children: list[ManagedProcess] = []
        self.others: dict[int, subprocess.Popen[bytes]] = {}  # processes that do one thing and end, by pid
        self.is_stopping = False
        self.looked_at = time.monotonic()
        self.seconds_to_stop = float(env.get(child_processes.STOP_VARIABLE, TIME_TO_FINISH))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._stop_soon)

    def _stop_soon(self, number: int, frame: FrameType | None) -> None:
        self.is_stopping = True

    def log_of(self, name: str) -> Path | None:
        """The log file of a part; None for a service, which writes to this process's output."""
        return None if self.place.is_service else self.place.log_of(name)

    def add(self, *new: ManagedProcess) -> None:
        for child in new:
            self.children.append(child)
            child.start(self.log_of(child.name), self.env)

    def run_once(
        self, name: str, command: list[str], env: dict[str, str], stdout: int | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a process that does one thing and ends."""
        process = processes.spawn_process(command, self.log_of(name), {**self.env, **env}, stdout)
        self.others[process.pid] = process
        return process

    def wait_until(self, condition: Callable[[], bool], seconds: float) -> None:
        """Look after the children until the condition holds or `seconds` are over."""
        deadline = time.monotonic() + seconds
        while not condition() and time.monotonic() < deadline:
            self.check_children()

    def wait_for_start(self) -> None:
        """Wait until every part responds. Raises `Trouble` with the end of the log of a part that does not start."""

        def is_decided() -> bool:
            return all(child.is_ready or child.deaths >= DEATHS_WHILE_STARTING for child in self.children)

        self.wait_until(is_decided, START_WITHIN)
        for child in self.children:
            if not child.is_ready:
                raise self.place.trouble_with(child.name, f"{child.name} does not start.")

    def keep_running(self) -> None:
        """Look after the children until `Stopped`."""
        while True:
            self.wait_until(lambda: False, ROTATE_EVERY)
            self.place.rotate_logs()

    def check_children(self) -> None:
        """Restart children that are due, kill silent ones, and sleep for a moment. Raises `Stopped` after a signal."""
        if self.is_stopping:
            raise Stopped
        self._collect_deaths()
        now = time.monotonic()
        has_slept, self.looked_at = now - self.looked_at > SLEPT_SECONDS, now
        for child in self.children:
            if has_slept:
                child.signs.restart_counters()
            if child.process is None and now >= child.start_at:
                self._start_again(child)
            child.check(now)
        time.sleep(LOOK_EVERY)

    def _start_again(self, child: ManagedProcess) -> None:
        try:
            child.start(self.log_of(child.name), self.env)
        except (OSError, subprocess.SubprocessError) as error:  # the machine has no memory, process or disk to spare
            self.report(child.plan_next_try(f"{child.name} cannot be started ({error})"))

    def stop(self) -> None:
        """End all children, within three seconds at a terminal: first the users of the broker, then the broker."""
        self.is_stopping = True
        for process in self.others.values():
            process.terminate()
        users = [child for child in self.children if child.name != "valkey"]
        rest = [child for child in self.children if child.name == "valkey"]
        for group, seconds in ((users, self.seconds_to_stop), (rest, TIME_TO_SAVE)):
            for child in group:
                child.end(signal.SIGTERM)
            deadline = time.monotonic() + seconds
            while any(child.process for child in group) and time.monotonic() < deadline:
                time.sleep(0.02)
                self._collect_deaths()
            for child in group:
                child.end(signal.SIGKILL)
        for process in self.others.values():
            process.kill()

    def _collect_deaths(self) -> None:
        """Reap every process that ended, orphans included, which the first process of a container inherits."""
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                self._note_death(ended[0], os.waitstatus_to_exitcode(ended[1]))

    def _note_death(self, pid: int, returncode: int) -> None:
        if pid in self.others:
            self.others.pop(pid).returncode = returncode
        for child in self.children:
            if child.process is not None and child.process.pid == pid:
                child.process.returncode = returncode
                line = child.plan_restart(returncode)
                if not self.is_stopping:
                    log = self.log_of(child.name)
                    self.report(f"{line} Log: {log}" if log else line)
                    self.place.note_restart(line)
