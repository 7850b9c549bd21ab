"""The processes of a running site: found by what they do, and put to sleep."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.running_site import Site, until


def children_of(pid: int, words: str = "") -> list[int]:
    """The children with these words in their command line."""
    found = subprocess.run(["pgrep", "-P", str(pid), "-f", words], capture_output=True, text=True, check=False)
    return [int(line) for line in found.stdout.split()]


def below(pid: int) -> list[int]:
    """The children of a process, and theirs."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found += [int(path.parent.name), *below(int(path.parent.name))]
    return found


def state_of(pid: int) -> str:
    """`R` while a process runs, `S` while it waits; "" when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def is_over(pid: int) -> bool:
    """Whether a process is gone, or waits to be noticed."""
    return state_of(pid) in ("", "Z")


@contextmanager
def asleep(*pids: int) -> Iterator[None]:
    """Stop processes by SIGSTOP, and wake them at the end."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def part_of(site: Site, words: str) -> int:
    """The child of `up` with these words in its command line."""
    return until(lambda: children_of(site.process.pid, words), what=words)[0]


def worker(site: Site) -> int:
    return part_of(site, "run_workers")


def broker(site: Site) -> int:
    return part_of(site, "valkey-server")


def web_server(site: Site) -> int:
    """The leader of the web server's group."""
    return part_of(site, "granian")


def scorer(site: Site) -> int:
    """The process of the worker's pool."""
    return until(lambda: forked_for(site, "worker"), what="a scorer")[0]


def pages_worker(site: Site) -> int:
    return until(lambda: forked_for(site, "pages"), what="the worker for pages")[0]


def forked_for(site: Site, part: str) -> list[int]:
    """The processes that the worker forked for a part, by the files that they touch."""
    names = [path.name for path in (site.folder / "run" / "heartbeats").glob(f"{part}-*")]
    return sorted({int(name.rpartition("-")[2]) for name in names} & set(children_of(worker(site))))
