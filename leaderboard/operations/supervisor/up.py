"""`manage.py up`: prepares a site, starts it and prints its address."""

from __future__ import annotations

import argparse
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from leaderboard.common import child_processes, folders, network

from . import processes
from .place import SiteFolders, Trouble, allowed_hosts, claim_port, url_of
from .supervisor import TIME_TO_FINISH, Stopped, Supervisor

PREPARE_WITHIN = 3600.0
FILES_WITHIN = 10.0
SERVICE_TIME_TO_FINISH = 25.0  # seconds, of the thirty that container platforms allow
PARTS = ("web", "worker")
NO_BOX = str.maketrans("╭╮╰╯│─", " " * 6)


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
    """Run the site until it is stopped; returns the exit code. Foreseeable problems are printed as messages."""
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
        parts = options.only or PARTS
        if "web" in parts:
            options.port = claim_port(options.host, options.port)
        _run(place, options, parts)
        return 0
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
    except OSError as error:
        print(f"{error}. Check that the disk has room and {place.var} is writable.", file=sys.stderr)
    finally:
        place.leave()
    return 1


def check_service() -> None:
    """Check the variables that all parts of a site must share. Raises `Trouble`."""
    if not os.environ.get("REDIS_URL"):
        raise Trouble("Parts of a site find each other by a broker. Set REDIS_URL, for example redis://HOST:6379/0.")
    if os.environ.get("DATABASE_URL") and not os.environ.get("SECRET_KEY"):
        raise Trouble("Parts of a site sign with the same key. Set SECRET_KEY to the same long random text for each.")


def _run(place: SiteFolders, options: argparse.Namespace, parts: Collection[str]) -> None:
    """Run the whole site, or some parts of it in the foreground, until it is stopped."""
    began, broker_socket = time.monotonic(), place.socket()
    supervisor = Supervisor(place, environment(options, place.var, broker_socket), print_text)
    try:
        if not os.environ.get("REDIS_URL"):
            supervisor.add(processes.broker_process(place, broker_socket))
        making_files = start_making_files(supervisor) if "web" in parts else None
        link = prepare_database(supervisor, options, parts)
        # The web server looks for fonts only when it starts.
        supervisor.wait_until(lambda: making_files is None or making_files.returncode is not None, FILES_WITHIN)
        if "web" in parts:
            supervisor.add(processes.web_process(options.host, options.port))
        if "worker" in parts:
            supervisor.add(processes.worker_process(place, options.workers))
        supervisor.wait_for_start()
        started = f"Started in {time.monotonic() - began:.1f} s."
        (welcome_service if options.only else welcome)(supervisor, options, link, started)
        supervisor.keep_running()
    except Stopped:
        pass
    finally:
        supervisor.stop()
    print_text("Stopped.")


def welcome_service(supervisor: Supervisor, options: argparse.Namespace, link: str | None, started: str) -> None:
    print_text(f"Running: {', '.join(dict.fromkeys(options.only))}. {started}")
    if link:
        url = os.environ.get("SITE_URL") or url_of(options.host, options.port)
        print_text(f"Not set up yet. This link makes the first administrator: {url.rstrip('/')}/setup/{link}/")


def welcome(supervisor: Supervisor, options: argparse.Namespace, link: str | None, started: str) -> None:
    """Print the address, load the demo if asked, and open a browser."""
    place, url = supervisor.place, url_of(options.host, options.port)
    place.note_address(f"{url} (process {os.getpid()})")
    urls = network.own_urls(options.port) if options.host in network.EVERYWHERE else []
    print_text(f"{make_box(os.environ.get('SITE_URL') or url, link, place, urls)}\n{started}")
    if options.demo:
        supervisor.run_once("demo", [sys.executable, "-m", "leaderboard", "demo"], {})
    if not options.no_browser and has_screen():
        import webbrowser

        webbrowser.open(f"{url}setup/{link}/" if link else url)


def environment(options: argparse.Namespace, var: Path, broker_socket: Path) -> dict[str, str]:
    """The environment variables of every child process, without the operator's password."""
    env = {**processes.THRIFT, **os.environ}
    env.pop("ADMIN_PASSWORD", None)
    env.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
    env["VAR_DIR"] = str(var)
    env["REDIS_URL"] = os.environ.get("REDIS_URL") or "unix://" + quote(str(broker_socket))
    env[child_processes.STOP_VARIABLE] = str(SERVICE_TIME_TO_FINISH if options.only else TIME_TO_FINISH)
    env["ALLOWED_HOSTS"] = allowed_hosts(options.host, os.environ.get("ALLOWED_HOSTS", ""))
    env[network.PORT_VARIABLE] = str(options.port) if options.host in network.EVERYWHERE else ""
    return env


def start_making_files(supervisor: Supervisor) -> subprocess.Popen[bytes]:
    """Start the process that makes missing fonts and worked examples. Pages can do without them."""
    command = [sys.executable, "-m", "leaderboard.common.made_files", str(supervisor.place.var)]
    return supervisor.run_once("made-files", command, {})


def prepare_database(supervisor: Supervisor, options: argparse.Namespace, parts: Collection[str]) -> str | None:
    """Update the database unless `--no-migrate`. Returns the secret of the setup link if pages are served and the site
    has no operator; else None. Raises `Trouble`."""
    if options.no_migrate and "web" not in parts:
        return None
    password = {"ADMIN_PASSWORD": os.environ.get("ADMIN_PASSWORD", "")}
    command = [sys.executable, "-m", "leaderboard.operations.supervisor.prepare"]
    command += ["--no-migrate"] * options.no_migrate
    process = supervisor.run_once("prepare", command, password, stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout:
        supervisor.wait_until(lambda: process.returncode is not None, PREPARE_WITHIN)
        answer = process.stdout.read() if process.returncode == 0 else b""
    if not answer:
        raise supervisor.place.trouble_with("prepare", "The database could not be prepared.")
    found: dict[str, str | None] = json.loads(answer)
    if found.get("trouble"):
        raise Trouble(found["trouble"])
    return found["link"]


def make_box(url: str, link: str | None, place: SiteFolders, network_urls: Sequence[str] = ()) -> str:
    """The start message in a box: the addresses, the setup link, and the folder of data and logs."""
    url = url.rstrip("/") + "/"
    lines = [f"Leaderboard runs at {url}", ""]
    if network_urls and not os.environ.get("SITE_URL"):
        lines += [f"Your class, in the same network, opens {' or '.join(network_urls)}", ""]
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
    """Print, also to a terminal that cannot draw boxes, is gone or stopped; with `LOG_FORMAT=json` as one line of
    JSON."""
    if os.environ.get("LOG_FORMAT") == "json":
        moment = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        text = " ".join(text.translate(NO_BOX).split())
        text = json.dumps({"timestamp": moment, "level": "info", "logger": "leaderboard.up", "event": text})
    encoding = sys.stdout.encoding or "ascii"
    with suppress(OSError):
        if _takes_text():
            print(text.encode(encoding, "replace").decode(encoding), flush=True)


def _takes_text() -> bool:
    """Whether the terminal takes a line within a second: one that was stopped with Ctrl-S must not stop the site's
    supervisor."""
    try:
        return bool(select.select([], [sys.stdout], [], 1.0)[1])
    except (OSError, ValueError):  # no file of the system
        return True
