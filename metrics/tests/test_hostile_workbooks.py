"""Workbooks that want too much are refused in one sentence, within 10 seconds and a gigabyte."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import metrics
from metrics.tests.hostile_workbooks import hostile

pytestmark = pytest.mark.case(11, 19)

SECONDS = 10
MEMORY_BYTES = 1 << 30
READ = """
import json, resource, sys, time
from pathlib import Path
from metrics.core.errors import Refused
from metrics.reading.sources import unpack
import python_calamine, pyarrow.csv

limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
for path in sorted(Path(sys.argv[1]).iterdir()):
    data = path.read_bytes()
    begun, text = time.process_time(), []
    try:
        unpack(data)
    except Refused as error:
        text = [problem.message for problem in error.problems]
    status = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    peak = int(status["VmHWM"].split()[0]) * 1024
    print(json.dumps([path.name, text, time.process_time() - begun, peak]), flush=True)
"""


def test_each_is_refused_within_ten_seconds_and_a_gigabyte(tmp_path: Path) -> None:
    names = []
    for number, (name, data) in enumerate(hostile()):
        (tmp_path / f"{number:02} {name}").write_bytes(data)
        names.append(f"{number:02} {name}")
    run = subprocess.run(
        [sys.executable, "-c", READ, str(tmp_path), str(MEMORY_BYTES)],
        cwd=Path(metrics.__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    results = [json.loads(line) for line in run.stdout.splitlines()]
    assert [name for name, *_ in results] == names, f"it died while reading the next one: {run.stderr[-2000:]}"
    assert {name: text for name, text, *_ in results if len(text) != 1} == {}, "not refused in one sentence"
    assert {name: seconds for name, _, seconds, _ in results if seconds > SECONDS} == {}
    assert {name: peak for name, _, _, peak in results if peak > MEMORY_BYTES} == {}
