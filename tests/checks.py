"""Linters, types and migrations, checked in processes beside the tests."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

BASE = Path(__file__).resolve().parent.parent
CHECKS = {
    "ruff check": ["-m", "ruff", "check", "."],
    "ruff format": ["-m", "ruff", "format", "--check", "."],
    "mypy": ["-m", "mypy"],
    "djlint": ["-m", "djlint", "templates", "--lint", "--quiet"],
    "makemigrations": ["manage.py", "makemigrations", "--check", "--dry-run"],
    "lint-imports": [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
}
"""What Python runs for each."""


@dataclass
class Result:
    name: str
    is_good: bool
    seconds: float
    output: str

    def __str__(self) -> str:
        line = f"{self.name}: {'passed' if self.is_good else 'FAILED'} in {self.seconds:.0f} s\n"
        return line if self.is_good else self.output + line


def run_check(name: str) -> Result:
    begun = time.monotonic()
    run = subprocess.run(
        [sys.executable, *CHECKS[name]],
        cwd=BASE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return Result(name, run.returncode == 0, time.monotonic() - begun, run.stdout)


def start_checks(pool: ThreadPoolExecutor) -> list[Future[Result]]:
    return [pool.submit(run_check, name) for name in CHECKS]
