"""Each fault, attack and input of the lists is carried as a marker by a test."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.inputs.test_doors import GROUPS

ROOT = Path(__file__).resolve().parent.parent
FAULTS = set(range(1, 49)) - {32}
"""32 is an upgrade from the release before; there is none yet."""


def carried(marker: str) -> set[object]:
    """What the tests of the whole repository carry with a marker."""
    found = re.compile(rf"@pytest\.mark\.{marker}\((.+?)\)$", re.MULTILINE | re.DOTALL)
    tests = [path for folder in ("tests", "metrics", "leaderboard") for path in (ROOT / folder).rglob("test_*.py")]
    return {
        argument
        for path in tests
        for arguments in found.findall(path.read_text())
        for argument in ast.literal_eval(f"[{arguments}]")
    }


def test_every_fault_is_played() -> None:
    assert carried("fault") == FAULTS


def test_every_attack_is_played() -> None:
    text = (ROOT / "docs" / "security.md").read_text()
    attacks = re.findall(r"^- ([^:\n]+)", text[text.index("## Attacks") : text.index("**Not proved")], re.MULTILINE)
    assert len(attacks) > 50
    assert carried("attack") == set(attacks)


def test_every_input_comes_in() -> None:
    page = (ROOT / "docs" / "inputs.md").read_text()
    assert [int(number) for number in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)] == list(range(1, 133))
    through_the_doors = {int(case.number.split()[0]) for cases in GROUPS.values() for case in cases}
    assert through_the_doors | carried("case") == set(range(1, 133))
