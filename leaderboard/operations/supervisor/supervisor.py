"""`manage.py up`: starts the parts of a site as its own children and keeps them alive until it is stopped.

This process never loads Django; it has one thread, so that its children can ask the kernel to die with it.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from urllib.parse import quote

from leaderboard.common import child_processes, folders

from . import children
from .children import ManagedProcess
from .place import SiteFolders, Trouble, allowed_hosts, claim_port, url_of

LOOK_EVERY = 0.1
START_WITHIN = 60.0
PREPARE_WITHIN = 3600.0
FILES_WITHIN = 10.0
DEATHS_WHILE_STARTING = 4
TIME_TO_FINISH = 2.2  # of the three seconds that a stop may take
SERVICE_TIME_TO_FINISH = 25.0  # of the thirty that container platforms give
TIME_TO_SAVE = 0.5
ROTATE_EVERY = 15.0
SLEPT_SECONDS = 3.0  # when this process did not look for so long, its children's silence may be its own
PARTS = ("web", "worker")
NO_BOX = str.maketrans("╭╮╰╯│─", " " * 6)


class Stopped(Exception):
    """Ctrl-C or SIGTERM."""


class Supervisor:
    """Starts children and starts them again when they die."""

    def __init__(self, place: SiteFolders, env: dict[str, str]) -> None:
        self.place, self.env = place, env
        self.children: list[ManagedProcess] = []
        self.others: dict[int, subprocess.Popen[bytes]] = {}  # processes that do one thing and end
        self.is_stopping = False
        self.looked_at = time.monotonic()
        self.seconds_to_stop = float(env.get(child_processes.STOP_VARIABLE, TIME_TO_FINISH))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._stop_soon)

    def _stop_soon(self, number: int, frame: FrameType | None) -> None:
        self.is_stopping = True

    def log_of(self, name: str) -> Path | None:
        """Where a part writes; None for a service: to the output of this process."""
        return None if self.place.is_service else self.place.log_of(name)

    def add(self, *new: ManagedProcess) -> None:
        for child in new:
            self.children.append(child)
            child.start(self.log_of(child.name), self.env)

    def run_once(
        self, name: str, command: list[str], env: dict[str, str], stdout: int | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a process that does one thing."""
        process = children.spawn_process(command, self.log_of(name), {**self.env, **env}, stdout)
        self.others[process.pid] = process
        return process

    def wait_until(self, condition: Callable[[], bool], seconds: float) -> None:
        """Look after the children until the condition holds or the time is over."""
        deadline = time.monotonic() + seconds
        while not condition() and time.monotonic() < deadline:
            self.check_children()

    def wait_for_start(self) -> None:
        """Wait until every part answers. Raises `Trouble` with the end of the log of one that does not."""

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
        """Start again what is due, end what is silent, and sleep for a moment. Raises `Stopped` after a signal."""
        if self.is_stopping:
            raise Stopped
        self._collect_deaths()
        now = time.monotonic()
        has_slept, self.looked_at = now - self.looked_at > SLEPT_SECONDS, now
        for child in self.children:
            if has_slept:
                child.signs.count_anew()
            if child.process is None and now >= child.start_at:
                child.start(self.log_of(child.name), self.env)
            child.check(now)
        time.sleep(LOOK_EVERY)

    def stop(self) -> None:
        """End all, within three seconds at a terminal: first the ones who use the broker, then the broker."""
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
        """Collect every process that ended; the first process of a container inherits orphans too."""
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
                    print_text(f"{line} Log: {log}" if log else line)
                    self.place.note_restart(line)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    port, count = _number(0, 65535), _number(1, 1000)
    parser.add_argument("--port", type=port, default=8000, help="where the pages are served (default: 8000)")
    parser.add_argument("--host", default="127.0.0.1", help="0.0.0.0 lets the network in (default: 127.0.0.1)")
    parser.add_argument("--workers", type=count, default=1, help="submissions scored at once (default: 1)")
    parser.add_argument("--only", choices=PARTS, action="append", help="run this part alone, as a service (repeatable)")
    parser.add_argument("--no-migrate", action="store_true", help="leave the database as it is")
    parser.add_argument("--demo", action="store_true", help="load the demonstration competitions")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")


def _number(least: int, most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text} is not between {least} and {most}")
        return int(text)

    return number


def run_up(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        f"{folders.COMMAND} up", description="Start the whole site; Ctrl-C stops it.", allow_abbrev=False
    )
    add_arguments(parser)
    return run_site(parser.parse_args(arguments))


def run_site(options: argparse.Namespace) -> int:
    """Run the site until it is stopped; the exit code. Every foreseeable trouble is printed in words."""
    os.umask(0o077)
    place = SiteFolders(is_service=bool(options.only))
    try:
        if options.only:
            check_service()
        place.make()
        if warning := place.warning():
            print_text(warning)
        if not options.only and not place.take_lock():
            address = place.read_address()
            print_text(f"Leaderboard runs already: {address}" if address else "Leaderboard is just starting.")
            return 0
        place.rotate_logs()
        if "web" in (options.only or PARTS):
            options.port = claim_port(options.host, options.port)
        (_run_service if options.only else _run_site)(place, options)
        return 0
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
    except OSError as error:
        print(f"{error}. Does the disk have room, and can {place.var} be written?", file=sys.stderr)
    finally:
        place.leave()
    return 1


def _run_site(place: SiteFolders, options: argparse.Namespace) -> None:
    began = time.monotonic()
    broker_socket = place.socket()
    supervisor = Supervisor(place, environment(options, place.var, broker_socket))
    try:
        if not os.environ.get("REDIS_URL"):
            supervisor.add(children.broker_process(place, broker_socket))
        making_files = start_making_files(supervisor)
        link = prepare_database(supervisor, options)
        wait_for_files(supervisor, making_files)
        web, worker = children.web_process(options.host, options.port), children.worker_process(place, options.workers)
        supervisor.add(web, worker, children.pages_process(place))
        supervisor.wait_for_start()
        url = url_of(options.host, options.port)
        place.note_address(f"{url} (process {os.getpid()})")
        box = print_welcome(os.environ.get("SITE_URL") or url, link, place)
        print_text(f"{box}\nStarted in {time.monotonic() - began:.1f} s.")
        if options.demo:
            supervisor.run_once("demo", [sys.executable, "-m", "leaderboard", "demo"], {})
        if not options.no_browser and has_screen():
            import webbrowser

            webbrowser.open(f"{url}setup/{link}/" if link else url)
        supervisor.keep_running()
    except Stopped:
        pass
    finally:
        supervisor.stop()
    print_text("Stopped.")


def check_service() -> None:
    """What the parts of a site must have in common. Raises `Trouble`."""
    if not os.environ.get("REDIS_URL"):
        raise Trouble("Parts of a site find each other by a broker. Set REDIS_URL, for example redis://HOST:6379/0.")
    if os.environ.get("DATABASE_URL") and not os.environ.get("SECRET_KEY"):
        raise Trouble("Parts of a site sign with the same key. Set SECRET_KEY to the same long random text for each.")


def _run_service(place: SiteFolders, options: argparse.Namespace) -> None:
    """Some parts of a site in the foreground: they write to this process's output and look after themselves."""
    began = time.monotonic()
    supervisor = Supervisor(place, environment(options, place.var, place.socket()))
    making: dict[str, Callable[[], list[ManagedProcess]]] = {
        "web": lambda: [children.web_process(options.host, options.port)],
        "worker": lambda: [children.worker_process(place, options.workers), children.pages_process(place)],
    }
    parts = list(dict.fromkeys(options.only))
    try:
        making_files = start_making_files(supervisor) if "web" in parts else None
        link = prepare_database(supervisor, options)
        wait_for_files(supervisor, making_files)
        supervisor.add(*(child for part in parts for child in making[part]()))
        supervisor.wait_for_start()
        print_text(f"Running: {', '.join(parts)}. Started in {time.monotonic() - began:.1f} s.")
        if link:
            url = os.environ.get("SITE_URL") or url_of(options.host, options.port)
            print_text(f"Not set up yet. This link makes the first administrator: {url.rstrip('/')}/setup/{link}/")
        supervisor.keep_running()
    except Stopped:
        pass
    finally:
        supervisor.stop()
    print_text("Stopped.")


def environment(options: argparse.Namespace, var: Path, broker_socket: Path) -> dict[str, str]:
    """The variables of every child. The operator's password is not for them."""
    env = {**children.THRIFT, **os.environ}
    env.pop("ADMIN_PASSWORD", None)
    env.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
    env["VAR_DIR"] = str(var)
    env["REDIS_URL"] = os.environ.get("REDIS_URL") or "unix://" + quote(str(broker_socket))
    env[child_processes.STOP_VARIABLE] = str(SERVICE_TIME_TO_FINISH if options.only else TIME_TO_FINISH)
    env["ALLOWED_HOSTS"] = allowed_hosts(options.host, os.environ.get("ALLOWED_HOSTS", ""))
    return env


def start_making_files(supervisor: Supervisor) -> subprocess.Popen[bytes]:
    """The process that makes fonts and worked examples where they are missing. Pages do without them."""
    command = [sys.executable, "-m", "leaderboard.common.made_files", str(supervisor.place.var)]
    return supervisor.run_once("made-files", command, {})


def wait_for_files(supervisor: Supervisor, process: subprocess.Popen[bytes] | None) -> None:
    """The web server looks for fonts at its start alone."""
    supervisor.wait_until(lambda: process is None or process.returncode is not None, FILES_WITHIN)


def prepare_database(supervisor: Supervisor, options: argparse.Namespace) -> str | None:
    """Bring the database up to date where this start may; the secret of the setup link while the site has no operator,
    where pages are served."""
    if options.no_migrate and "web" not in (options.only or PARTS):
        return None
    password = {"ADMIN_PASSWORD": os.environ.get("ADMIN_PASSWORD", "")}
    command = [sys.executable, "-m", "leaderboard.operations.supervisor.prepare"]
    command += ["--no-migrate"] * options.no_migrate
    process = supervisor.run_once("prepare", command, password, stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout:
        supervisor.wait_until(lambda: process.returncode is not None, PREPARE_WITHIN)
        answer = process.stdout.read()
    if process.returncode or not answer:
        raise supervisor.place.trouble_with("prepare", "The database could not be prepared.")
    found: dict[str, str | None] = json.loads(answer)
    if found.get("trouble"):
        raise Trouble(found["trouble"])
    return found["link"]


def print_welcome(url: str, link: str | None, place: SiteFolders) -> str:
    """The box with the address."""
    url = url.rstrip("/") + "/"
    lines = [f"Leaderboard runs at {url}", ""]
    if link:
        lines += ["Not set up yet. The first person to open this link becomes the administrator:", ""]
        lines += [f"{url}setup/{link}/", ""]
    if os.environ.get("EMAIL_URL") and not os.environ.get("SITE_URL"):
        lines += ["E-mails hold no whole links: set SITE_URL to the address that students type.", ""]
    lines += [f"Ctrl-C stops it. Data and logs: {place.var}"]
    width = max(map(len, lines))
    body = [f"│ {line:{width}} │" for line in lines]
    return "\n".join(["╭" + "─" * (width + 2) + "╮", *body, "╰" + "─" * (width + 2) + "╯"])


def has_screen() -> bool:
    is_desktop = sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return sys.stdout.isatty() and is_desktop


def print_text(text: str) -> None:
    """Print, also to a terminal that cannot draw boxes or is gone; as one line of JSON where the log is."""
    if os.environ.get("LOG_FORMAT") == "json":
        moment = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        text = " ".join(text.translate(NO_BOX).split())
        text = json.dumps({"timestamp": moment, "level": "info", "logger": "leaderboard.up", "event": text})
    encoding = sys.stdout.encoding or "ascii"
    with suppress(OSError):
        print(text.encode(encoding, "replace").decode(encoding), flush=True)
