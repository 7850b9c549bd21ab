"""What the one command costs: from clone to first page, a warm start, and the memory of everything while idle.

    python3 bench/startup.py [--idle SECONDS]

Standard library only. Works in a fresh clone in a temporary folder; the package cache of pip should be warm.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

BASE = Path(__file__).resolve().parent.parent
GOALS = {"clone": 30.0, "warm": 2.5, "pss": 350.0, "installed": 500.0}

NOT_OURS = ("VAR_DIR", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE")
"""What this shell may have set and a teacher's has not."""


class Site:
    """One `manage.py up` in `folder`, timed from `began` to its first page and to its box."""

    def __init__(self, folder: Path, began: float) -> None:
        self.port = free_port()
        self.log = folder / "up.out"
        command = ["python3", "manage.py", "up", "--no-browser", "--port", str(self.port)]
        env = {key: value for key, value in os.environ.items() if key not in NOT_OURS}
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(command, cwd=folder, env=env, stdout=output, stderr=output)
        self.first_page = self.wait_for_page() - began
        self.box = self.wait_for_box() - began

    def wait_for_page(self) -> float:
        while self.process.poll() is None:
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=10):
                return time.monotonic()
            time.sleep(0.02)
        sys.exit(self.log.read_text())

    def wait_for_box(self) -> float:
        while "Started in" not in self.log.read_text():
            if self.process.poll() is not None:
                sys.exit(self.log.read_text())
            time.sleep(0.02)
        return time.monotonic()

    def stop(self) -> float:
        began = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        return time.monotonic() - began


def free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def tree(root: int) -> list[int]:
    """A process and everything below it."""
    below: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            pid, parent = entry.parent.name, entry.read_text().rsplit(")", 1)[1].split()[1]
            below.setdefault(int(parent), []).append(int(pid))
    found, generation = [root], [root]
    while generation:
        generation = [child for pid in generation for child in below.get(pid, [])]
        found += generation
    return found


def memory_of(pid: int) -> tuple[float, float]:
    """Proportional and resident memory in MB."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    rss, pss = (int(re.findall(rf"^{key}:\s+(\d+)", text, re.MULTILINE)[0]) / 1024 for key in ("Rss", "Pss"))
    return pss, rss


def name_of(pid: int) -> str:
    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return " ".join(os.path.basename(word.decode()) for word in words)[:60]


def print_memory(root: int) -> float:
    total_pss = total_rss = 0.0
    for pid in tree(root):
        with suppress(OSError):
            pss, rss = memory_of(pid)
            print(f"    {pss:7.1f} PSS {rss:7.1f} RSS  {name_of(pid)}")
            total_pss, total_rss = total_pss + pss, total_rss + rss
    print(f"    {total_pss:7.1f} PSS {total_rss:7.1f} RSS  all together, MB")
    return total_pss


def megabytes_of(folder: Path) -> float:
    """What the files in a folder take on the disk."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*")) / 1_048_576


def bare_django(python: Path, folder: Path) -> tuple[float, float]:
    """The baseline: seconds and MB of one process that loads this site's models and nothing else."""
    code = "import django; django.setup(); print('loaded', flush=True); input()"
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "leaderboard.settings", "VAR_DIR": str(folder / "var")}
    began = time.monotonic()
    with subprocess.Popen(
        [str(python), "-c", code], cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        seconds = time.monotonic() - began
        pss, _ = memory_of(process.pid)
        process.kill()
    return seconds, pss


def report(what: str, figure: float, goal: float, unit: str) -> bool:
    good = figure <= goal
    print(f"{what:48} {figure:7.1f} {unit:3} goal {goal:5.0f}  {'reached' if good else 'NOT REACHED'}")
    return good


def main() -> int:
    options = argparse.ArgumentParser(description="Measure starting and idling.")
    options.add_argument("--idle", type=float, default=15.0, help="seconds of rest before memory is measured")
    idle = options.parse_args().idle
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "clone"
        began = time.monotonic()
        subprocess.run(["git", "clone", "--quiet", str(BASE), str(folder)], check=True)
        cold = Site(folder, began)
        cold.stop()
        warm = Site(folder, time.monotonic())
        time.sleep(idle)
        print("Idle, after one page:")
        pss = print_memory(warm.process.pid)
        stopped = warm.stop()
        installed = megabytes_of(folder / ".venv")
        seconds, alone = bare_django(folder / ".venv" / "bin" / "python", folder)
    print(f"Baseline: one process with Django and the models: {seconds:.1f} s, {alone:.0f} MB PSS")
    good = [
        report("clone to first page (warm package cache)", cold.first_page, GOALS["clone"], "s"),
        report("warm start to first page", warm.first_page, GOALS["warm"], "s"),
        report("what is installed", installed, GOALS["installed"], "MB"),
        report("idle memory of everything (PSS)", pss, GOALS["pss"], "MB"),
        report("Ctrl-C to the end", stopped, 3.0, "s"),
    ]
    print(f"(warm start until every part answers: {warm.box:.1f} s)")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
