"""A scorer in which some files do what no file should be able to: the first word after the header says what (`later` of
them while the score is computed, else while the file is read), the second which file of the site it may try."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import metrics
from leaderboard.scoring import sealed_process
from leaderboard.scoring.messages import Channel

plain, plainly_prepared = metrics.Truth.evaluate, metrics.prepare


def attempts(file: Path) -> dict[str, str]:
    """What a process that has been taken over would try; the file is refused with what came of it."""
    other = str(Path(file).parent / "other.csv")

    def kill_the_parent() -> None:
        os.kill(os.getppid(), 0)

    tried: dict[str, Callable[[], Any]] = {
        "another file": lambda: Path(other).read_bytes(),
        "the folder": lambda: os.listdir(Path(file).parent),
        "a new file": lambda: Path(other + ".new").write_text("x"),
        "a change": lambda: Path(file).write_text("x"),
        "a program": lambda: subprocess.run(["true"], check=True),
        "a fork": os.fork,
        "the network": lambda: socket.create_connection(("127.0.0.1", 9), timeout=1),
        "the parent": kill_the_parent,
    }
    found = {}
    for name, attempt in tried.items():
        try:
            attempt()
            found[name] = "done"
        except BaseException as error:
            found[name] = type(error).__name__
    return found


def said_to_user(words: object) -> metrics.SubmissionError:
    return metrics.SubmissionError([metrics.Problem("told", json.dumps(words))])


def secrets() -> dict[str, Any]:
    """What lies open in a child."""
    kinds = []
    for fd in range(256):
        with suppress(OSError):
            kinds.append(stat.filemode(os.fstat(fd).st_mode)[0])
    return {
        "environment": sorted(os.environ),
        "modules": sorted({name.partition(".")[0] for name in sys.modules}),
        "descriptors": kinds,
    }


def eat(_: bytes) -> None:
    pieces = []
    while True:
        pieces.append(b"x" * 50_000_000)


def spin(_: bytes) -> None:
    while True:
        pass


def babble(_: bytes) -> None:
    while True:
        for fd in range(3, 12):
            try:
                os.write(fd, b"\xff" * 100_000)
            except OSError:
                continue


def tell(data: bytes) -> None:
    raise said_to_user(attempts(Path(data.decode().splitlines()[1].partition(",")[2])))


def show(_: bytes) -> None:
    raise said_to_user(secrets())


def linger(_: bytes) -> None:
    """Answer, and stay."""
    for fd in range(3, 12):
        with suppress(OSError):
            if stat.S_ISSOCK(os.fstat(fd).st_mode):
                Channel(socket.socket(fileno=os.dup(fd))).send({"failure": "lingers"})
    time.sleep(600)


kept: list[bytes] = []

EVENTS: dict[str, Callable[[bytes], object]] = {
    "eat": eat,
    "spin": spin,
    "ponder": lambda _: re.match(r"(a+)+$", "a" * 60 + "b"),
    "sleep": lambda _: time.sleep(600),
    "linger": linger,
    "abort": lambda _: os.abort(),
    "die": lambda _: os.kill(os.getpid(), signal.SIGKILL),
    "leave": lambda _: os._exit(0),
    "grow": lambda _: kept.append(b"x" * 200_000_000),
    "babble": babble,
    "tell": tell,
    "show": show,
}


def evaluate(self: metrics.Truth, submission: Any, **options: Any) -> metrics.Result:
    if isinstance(submission, bytes):
        word = submission.decode(errors="replace").splitlines()[1].partition(",")[0]
        if word.startswith("later "):
            options["when_read"]()
            word = word.removeprefix("later ")
        if word in EVENTS:
            EVENTS[word](submission)
        if word == "stumble":
            raise RuntimeError("truth is cat")
    return plain(self, submission, **options)


def prepare(key: str, truth: Any, *others: Any, **options: Any) -> metrics.Truth:
    if truth.name == "hostile.csv":
        raise metrics.MetricFailed("hostile", "tried", json.dumps(attempts(truth)))
    return plainly_prepared(key, truth, *others, **options)


if __name__ == "__main__":
    metrics.prepare = prepare
    metrics.Truth.evaluate = evaluate  # type: ignore[method-assign]
    sealed_process.main()
