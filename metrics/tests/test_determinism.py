"""The same files give the same digits in every process, whatever the hash seed and the order of their rows."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import metrics
from metrics.tests.worlds import world

pytestmark = pytest.mark.thorough

ROOT = Path(metrics.__file__).resolve().parent.parent
CODE = """
import json, sys
import metrics
for key, truth, submission in json.load(sys.stdin):
    result = metrics.prepare(key, truth.encode()).evaluate(submission.encode(), uncertainty=True)
    doubts = {name: [d.standard_error, d.low, d.high, d.replicates.tolist()] for name, d in result.uncertainty.items()}
    values = {name: value for name, value in result.as_dict().items() if name != "warnings"}  # these name lines
    print(json.dumps([values, {name: dict(parts) for name, parts in result.parts.items()}, doubts]))
"""


def told(files: list[tuple[str, str, str]], hash_seed: int) -> list[Any]:
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        input=json.dumps(files),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": str(ROOT)},
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_neither_process_nor_hash_seed_nor_row_order_changes_a_digit() -> None:
    worlds = [(metric.key, world(metric, 6, rows=50)) for metric in metrics.catalogue()]
    dice = random.Random(2)
    straight = [(key, found.truth_csv().decode(), found.submission_csv().decode()) for key, found in worlds]
    shuffled = [(key, found.truth_csv(dice).decode(), found.submission_csv(dice).decode()) for key, found in worlds]
    first, second = told(straight, 1), told(shuffled, 2)
    assert len(first) == len(worlds)
    assert [key for (key, _), one, other in zip(worlds, first, second, strict=True) if one != other] == []
