"""The list of attacks names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def test_every_test_that_the_list_names_exists() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", (ROOT / "docs" / "security.md").read_text())
    assert len(named) > 40
    missing = [f"{file}::{name}" for file, name in named if f"def {name}(" not in (ROOT / file).read_text()]
    assert missing == []


def test_every_row_of_the_list_names_a_test() -> None:
    text = (ROOT / "docs" / "security.md").read_text()
    rows = re.findall(r"^\| (?!attack|---)(.+)$", text[text.index("## Attacks") :], flags=re.M)
    assert len(rows) > 25
    assert [row for row in rows if "::test_" not in row] == []
