"""docs/accessibility.md speaks of every criterion once, names how it was tested, and claims no rule that is not run."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from .for_everybody import FURTHER

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "accessibility.md").read_text()
# Of WCAG 2.1, levels A and AA.
CRITERIA = {
    "1.1": [1],
    "1.2": [1, 2, 3, 4, 5],
    "1.3": [1, 2, 3, 4, 5],
    "1.4": [1, 2, 3, 4, 5, 10, 11, 12, 13],
    "2.1": [1, 2, 4],
    "2.2": [1, 2],
    "2.3": [1],
    "2.4": [1, 2, 3, 4, 5, 6, 7],
    "2.5": [1, 2, 3, 4],
    "3.1": [1, 2],
    "3.2": [1, 2, 3, 4],
    "3.3": [1, 2, 3, 4],
    "4.1": [1, 2, 3],
}
ROWS = re.findall(r"^\| (\d\.\d\.\d+) [^|]+ \| ([^|]+) \|([^|]*)\| ?[^|]*\|$", PAGE, flags=re.M)
WAYS = {number: {one.strip() for one in ways.split(",") if one.strip()} for number, _, ways in ROWS}


def test_every_criterion_has_one_row() -> None:
    assert len(ROWS) == 50
    assert [number for number, _, _ in ROWS] == [f"{part}.{one}" for part, ones in CRITERIA.items() for one in ones]


def test_the_result_is_the_sum_of_the_rows() -> None:
    levels = Counter(level for _, level, _ in ROWS)
    said = re.findall(r"(\d+) are supported, (\d+) partially, and (\d+) do not apply", PAGE)
    assert [tuple(map(int, one)) for one in said] == [
        (levels["supports"], levels["partially"], levels["not applicable"])
    ]
    assert set(levels) == {"supports", "partially", "not applicable"}


def test_every_claim_names_how_it_was_tested() -> None:
    known = set(re.findall(r"^\| ([\w ]+) \| [^|]+ \| (?:`tests/[\w/.]+`|) ?\|$", PAGE, flags=re.M))
    assert {"axe", "keyboard", "looked at"} <= known
    assert set().union(*WAYS.values()) == known
    assert [number for number, level, _ in ROWS if level != "not applicable" and not WAYS[number]] == []


@pytest.mark.browser
def test_axe_has_a_rule_for_what_it_is_said_to_test(chromium: Browser) -> None:
    page = chromium.new_page()
    page.evaluate(Axe().axe_script)
    rules = page.evaluate("axe.getRules().map((rule) => [rule.ruleId, rule.tags])")
    page.close()
    run = [tags for rule, tags in rules if rule in FURTHER or not {"experimental", "deprecated"} & set(tags)]
    covered = {re.sub(r"wcag(\d)(\d)(\d+)", r"\1.\2.\3", tag) for tags in run for tag in tags if tag.startswith("wcag")}
    assert len(covered) > 15
    assert {number for number, ways in WAYS.items() if "axe" in ways} - covered == set()
