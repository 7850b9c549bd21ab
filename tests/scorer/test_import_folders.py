"""The processes of the scorer import what `PYTHONPATH` reaches, and nothing around the site."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import metrics
from leaderboard.scoring.process_limits import clean_environment


def test_the_processes_of_the_scorer_reach_the_same_packages(tmp_path: Path) -> None:
    packages, site = tmp_path / "packages", Path(metrics.__file__).resolve().parents[1]
    (packages / "scales").mkdir(parents=True)
    (packages / "scales" / "__init__.py").write_text("def share(values):\n    return float(values.mean())\n")
    environment = clean_environment({"PYTHONPATH": str(packages), "SECRET_KEY": "canary", "METRICS_DIR": ""})
    assert "METRICS_DIR" not in environment, "an empty one would be the folder of the site"
    code = """if True:
        import contextlib, pathlib, metrics
        from leaderboard.scoring.seal import NoSandbox, seal_process
        with contextlib.suppress(NoSandbox):
            seal_process(read=[pathlib.Path(metrics.__file__).parent])
        import scales
        print(scales.share.__module__)
    """
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=site,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "scales\n", done.stderr
    assert "canary" not in str(environment)
    folders = os.pathsep.join(map(str, [site, packages]))
    assert clean_environment({"PYTHONPATH": folders})["PYTHONPATH"] == str(packages)
    assert "PYTHONPATH" not in clean_environment({"PYTHONPATH": str(site)})
