"""One command says yes or no: the linters and type checker are part of the suite."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOOLS = {
    "ruff check": ["ruff", "check", "."],
    "ruff format": ["ruff", "format", "--check", "."],
    "mypy": ["mypy"],
    "djlint": ["djlint", "templates", "--lint", "--quiet"],
    "makemigrations": ["python", "manage.py", "makemigrations", "--check", "--dry-run"],
}
SECONDS = {"mypy": 60}


@pytest.mark.slow
@pytest.mark.parametrize("tool", [pytest.param(tool, marks=pytest.mark.takes(SECONDS.get(tool, 2))) for tool in TOOLS])
def test_the_tool_finds_nothing(tool: str) -> None:
    program, *arguments = TOOLS[tool]
    run = subprocess.run(
        [str(Path(sys.executable).parent / program), *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
