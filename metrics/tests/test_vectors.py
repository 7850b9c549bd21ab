"""Worked cases with the value of each reading. Cases that only Python types can tell apart are skipped by name."""

import json
from pathlib import Path
from typing import Any

import pytest

import metrics

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "vectors.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['metric']}: {case['name']}")
def test_a_case_has_its_value_or_is_refused(case: dict[str, Any]) -> None:
    if "skip" in case:
        pytest.skip(case["skip"])
    arguments = case["metric"], case["truth"].encode(), case["submission"].encode(), case["params"]
    if "refused" in case:
        error = metrics.GroundTruthError if case["whose"] == "truth" else metrics.SubmissionError
        with pytest.raises(error):
            metrics.evaluate(*arguments)
        return
    result = metrics.evaluate(*arguments)
    if "score" in case:
        assert result.overall == pytest.approx(case["score"], rel=1e-14, abs=1e-15)
    assert case.get("parts", {}).items() <= result.parts.get("overall", {}).items()


def test_enough_cases_are_really_run() -> None:
    assert sum("skip" not in case for case in CASES) >= 90
    assert sum("skip" in case for case in CASES) <= 12
