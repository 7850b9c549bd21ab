"""`manage.py up`: starts the parts of a site as its own children and keeps them alive until it is told to stop.

This process never loads Django; it has one thread, so that its children can ask the kernel to die with it.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from types import FrameType

from manage import Trouble, explain_os

from . import children
from .children import Child
from .place import BASE, Place, allowed_hosts, broker_url, claim_port, url_of

START_WITHIN = 60.0
EARLY_DEATHS_AT_MOST = 5
TIME_TO_FINISH = 2.2  # of the three seconds that a stop may take
TIME_TO_SAVE = 0.5
WATCH_EVERY = 15.0
NO_BOX = str.maketrans("╭╮╰╯│─", " " * 6)
AT_WORK_AGAIN_WITHIN = 120.0  # a worker that was just restarted gets its time


class Stopped(Exception):
    """Somebody pressed Ctrl-C or sent SIGTERM."""


class Supervisor:
    """Keeps children alive. Sleeps in `select` until a signal, a planned restart or a look at who answers."""

    def __init__(self, place: Place, env: dict[str, str]) -> None:
        self.place, self.env = place, env
        self.children: list[Child] = []
        self.others: dict[int, subprocess.Popen[bytes]] = {}  # processes that do one thing and end
        self.is_stopping = False
        self._watched_at = time.monotonic()
        self._wake, wake = os.pipe()
        for end in (self._wake, wake):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._stop_soon)

    def _stop_soon(self, number: int, frame: FrameType | None) -> None:
        self.is_stopping = True

    def add(self, *new: Child) -> None:
        for child in new:
            self.children.append(child)
            self._start(child)

    def run_once(self, name: str, command: list[str], env: dict[str, str], stdout: int | None = None) -> int:
        """Start a process that does one thing; its pid."""
        process = children.spawn(command, self.place.log_of(name), {**self.env, **env}, stdout)
        self.others[process.pid] = process
        return process.pid

    def wait_until(self, condition: Callable[[], bool], seconds: float = START_WITHIN) -> bool:
        """Look after the children until the condition holds; False when it takes too long."""
        deadline = time.monotonic() + seconds
        while not condition():
            if self.is_stopping:
                raise Stopped
            if time.monotonic() > deadline:
                return False
            self._turn(0.03)
        return True

    def keep(self, is_idle: Callable[[], bool] = lambda: False) -> None:
        """Look after the children until somebody says stop; workers that idle while files wait are started again."""
        while not self.is_stopping:
            self._turn(WATCH_EVERY)
            self._watch(is_idle)

    def _watch(self, is_idle: Callable[[], bool]) -> None:
        """Now and then ask whether the workers idle: their processes live, but nothing reaches them."""
        now = time.monotonic()
        if now - self._watched_at < WATCH_EVERY:
            return
        self._watched_at = now
        self.place.rotate_logs()
        for child in self.children:
            is_settled = child.is_ready and now - child.started_at > AT_WORK_AGAIN_WITHIN
            if child.name == "worker" and is_settled and is_idle():
                say("worker has nothing in hand while files wait; it is started again.")
                child.end(signal.SIGKILL)

    def all_ready(self) -> bool:
        for child in self.children:
            if child.early_deaths >= EARLY_DEATHS_AT_MOST:
                raise self.place.trouble_with(child.name, f"{child.name} does not start.")
        return all(child.is_ready for child in self.children)

    def stop(self) -> None:
        """End everybody within three seconds: first the ones who use the broker, then the broker."""
        self.is_stopping = True
        parts = [child for child in self.children if child.name != "valkey"]
        rest = [child for child in self.children if child.name == "valkey"]
        for process in self.others.values():
            process.terminate()
        for group, seconds in ((parts, TIME_TO_FINISH), (rest, TIME_TO_SAVE)):
            for child in group:
                child.end(signal.SIGTERM)
            self._wait_for_end(group, seconds)
            for child in group:
                child.end(signal.SIGKILL)
        for process in self.others.values():
            process.kill()

    def _wait_for_end(self, group: list[Child], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while any(child.process for child in group) and (left := deadline - time.monotonic()) > 0:
            self._sleep(left)
            self._reap()

    def _turn(self, longest: float | None) -> None:
        now = time.monotonic()
        for child in self.children:
            if child.start_at is not None and child.start_at <= now:
                self._start(child)
            child.look()
        planned = [child.start_at - now for child in self.children if child.start_at is not None]
        unsure = [0.2 for child in self.children if child.process and not child.is_ready]
        self._sleep(min([*planned, *unsure, *([] if longest is None else [longest])], default=None))
        self._reap()

    def _sleep(self, seconds: float | None) -> None:
        if select.select([self._wake], [], [], None if seconds is None else max(seconds, 0))[0]:
            os.read(self._wake, 4096)

    def _start(self, child: Child) -> None:
        child.start(self.place.log_of(child.name), self.env)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self._note_death(pid, os.waitstatus_to_exitcode(status))

    def _note_death(self, pid: int, returncode: int) -> None:
        if pid in self.others:
            self.others.pop(pid).returncode = returncode
        for child in self.children:
            if child.process is not None and child.process.pid == pid:
                child.process.returncode = returncode
                words = child.bury(returncode)
                if not self.is_stopping:
                    say(f"{words} Log: {self.place.log_of(child.name)}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    def port(text: str) -> int:
        if not 0 <= int(text) <= 65535:
            raise argparse.ArgumentTypeError("a port is a number from 1 to 65535")
        return int(text)

    def count(text: str) -> int:
        if int(text) < 1:
            raise argparse.ArgumentTypeError("at least one is needed")
        return int(text)

    parser.add_argument("--port", type=port, default=8000, help="where the pages are served (default: 8000)")
    parser.add_argument("--host", default="127.0.0.1", help="0.0.0.0 lets the network in (default: 127.0.0.1)")
    parser.add_argument("--workers", type=count, default=1, help="submissions scored at once (default: 1)")
    parser.add_argument("--demo", action="store_true", help="load the demonstration competitions")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        "manage.py up", description="Start the whole site; Ctrl-C stops it.", allow_abbrev=False
    )
    add_arguments(parser)
    return up(parser.parse_args(arguments))


def up(options: argparse.Namespace) -> int:
    """Start, keep, stop; the exit code. Every foreseeable trouble is said in words."""
    os.umask(0o077)
    place = Place()
    try:
        place.make()
        if warning := place.warning():
            say(warning)
        if not place.take_lock():
            pid, url = place.read_address()
            say(f"Leaderboard runs already: {url} (process {pid})" if url else "Leaderboard is just starting.")
            return 0
        place.rotate_logs()
        options.port = claim_port(options.host, options.port)
        return _up(place, options)
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
    except OSError as error:
        print(explain_os(error, place.var if place.var.exists() else BASE), file=sys.stderr)
    finally:
        place.leave()
    return 1


def _up(place: Place, options: argparse.Namespace) -> int:
    supervisor = Supervisor(place, environment(place, options))
    began = time.monotonic()
    try:
        if not os.environ.get("REDIS_URL"):
            supervisor.add(children.broker(place, place.socket()))
        web = children.web(options.host, options.port)
        if place.is_prepared():
            supervisor.add(web)
        link = prepare(supervisor)
        place.note_prepared()
        if web not in supervisor.children:
            supervisor.add(web)
        supervisor.add(children.worker(place, options.workers), children.beat(place))
        if not supervisor.wait_until(supervisor.all_ready):
            slow = next(child.name for child in supervisor.children if not child.is_ready)
            raise place.trouble_with(slow, f"{slow} did not answer within {START_WITHIN:g} s.")
        url = url_of(options.host, options.port)
        place.write_address(url)
        box = welcome(os.environ.get("SITE_URL") or url, link, place)
        say(f"{box}\nStarted in {time.monotonic() - began:.1f} s.")
        if options.demo:
            supervisor.run_once("demo", [sys.executable, str(BASE / "manage.py"), "demo"], {})
        if not options.no_browser and has_screen():
            import webbrowser

            webbrowser.open(f"{url}setup/{link}/" if link else url)
        supervisor.keep(lambda: children.says_idle(children.door(options.host), options.port))
    except Stopped:
        pass
    finally:
        supervisor.stop()
    say("Stopped.")
    return 0


def environment(place: Place, options: argparse.Namespace) -> dict[str, str]:
    """What every child is told. The operator's password is not for them."""
    env = {**children.THRIFT, **os.environ}
    env.pop("ADMIN_PASSWORD", None)
    env.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
    env["VAR_DIR"] = str(place.var)
    env["REDIS_URL"] = os.environ.get("REDIS_URL") or broker_url(place.socket())
    env["ALLOWED_HOSTS"] = allowed_hosts(options.host, os.environ.get("ALLOWED_HOSTS", ""))
    return env


def prepare(supervisor: Supervisor) -> str | None:
    """Bring the database up to date; the secret of the setup link when nobody operates the site yet."""
    password = {"ADMIN_PASSWORD": os.environ.get("ADMIN_PASSWORD", "")}
    command = [sys.executable, "-m", "leaderboard.management.prepare"]
    pid = supervisor.run_once("prepare", command, password, stdout=subprocess.PIPE)
    process = supervisor.others[pid]
    assert process.stdout is not None
    with process.stdout:
        supervisor.wait_until(lambda: process.returncode is not None, seconds=3600)
        answer = process.stdout.read()
    if process.returncode or not answer:
        raise supervisor.place.trouble_with("prepare", "The database could not be prepared.")
    words: dict[str, str | None] = json.loads(answer)
    if words.get("trouble"):
        raise Trouble(words["trouble"])
    return words["link"]


def welcome(url: str, link: str | None, place: Place) -> str:
    """The one box."""
    url = url.rstrip("/") + "/"
    lines = [f"Leaderboard runs at {url}", ""]
    if link:
        lines += ["Nobody operates it yet. Who opens this link first becomes the operator:", ""]
        lines += [f"{url}setup/{link}/", ""]
    if os.environ.get("EMAIL_URL") and not os.environ.get("SITE_URL"):
        lines += ["Letters hold no whole links: set SITE_URL to the address that students type.", ""]
    lines += [f"Ctrl-C stops it. Data and logs: {place.var}"]
    width = max(map(len, lines))
    body = [f"│ {line:{width}} │" for line in lines]
    return "\n".join(["╭" + "─" * (width + 2) + "╮", *body, "╰" + "─" * (width + 2) + "╯"])


def has_screen() -> bool:
    return sys.stdout.isatty() and (
        sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    )


def say(text: str) -> None:
    """Print, also to a terminal that cannot draw boxes or is gone; as one line of JSON where the log is."""
    if os.environ.get("LOG_FORMAT") == "json":
        moment = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        text = " ".join(text.translate(NO_BOX).split())
        text = json.dumps({"timestamp": moment, "level": "info", "logger": "leaderboard.up", "event": text})
    try:
        encoding = sys.stdout.encoding or "ascii"
        print(text.encode(encoding, "replace").decode(encoding), flush=True)
    except OSError:
        pass
