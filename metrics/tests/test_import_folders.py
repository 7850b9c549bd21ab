"""A metric from outside imports what `PYTHONPATH` reaches, reads nothing else there, and Olga reads what is missing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import metrics
from metrics.sandbox import isolation, metric_files, outside_metric
from metrics.sandbox import processes as processes_module
from metrics.sandbox.metric_files import OutsideFile, read_outside_file
from metrics.sandbox.packages import import_folders
from metrics.sandbox.self_test import try_escapes

TRUTH = b"id,y,Usage\n1,1,Public\n2,0,Public\n3,1,Private\n4,0,Private\n"
MINE = b"id,y\n1,1\n2,0\n3,1\n4,1\n"
METRIC = """
import scales

def score(solution, submission, row_id_column_name):
    return scales.share(solution["y"] == submission["y"])
"""
PACKAGE = "def share(values):\n    return float(values.mean())\n"


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of packages beside the site; processes that wait with an earlier `PYTHONPATH` are ended."""
    monkeypatch.setenv("METRICS_DIR", str(tmp_path / "metrics"))
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics" / "agreeing.py").write_text(METRIC)
    folder = tmp_path / "packages"
    (folder / "scales").mkdir(parents=True)
    (folder / "scales" / "__init__.py").write_text(PACKAGE)
    metric_files._facts.clear()
    outside_metric._metrics.clear()
    processes_module.close()
    yield folder
    processes_module.close()


def inspected(packages: Path) -> OutsideFile:
    processes_module.close()
    return read_outside_file(packages.parent / "metrics" / "agreeing.py", again=True)


def test_a_metric_imports_a_package_that_pythonpath_reaches(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "the library scales" in inspected(packages).error
    monkeypatch.setenv("PYTHONPATH", str(packages))
    assert inspected(packages).error == ""
    result = metrics.evaluate("agreeing", TRUTH, MINE)
    assert (result.public, result.private) == (1.0, 0.5)


@pytest.mark.skipif(bool(isolation.available()), reason="this kernel seals no process")
@pytest.mark.attack("code in a metric from outside")
def test_in_the_folders_of_packages_nothing_is_written(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(packages))
    (packages / "scales" / "__init__.py").write_text(f"open({str(packages / 'left.txt')!r}, 'w')\n{PACKAGE}")
    assert "PermissionError" in inspected(packages).error
    assert not (packages / "left.txt").exists()


@pytest.mark.attack("code in a metric from outside")
def test_a_folder_around_the_site_or_its_state_stays_closed(tmp_path: Path) -> None:
    site = Path(metrics.__file__).resolve().parents[1]
    state, good = tmp_path / "srv" / "var", tmp_path / "packages"
    for folder in (state, good, tmp_path / "home"):
        folder.mkdir(parents=True)
    (tmp_path / "link").symlink_to(state)
    closed = [site, site.parent, state, state.parent, tmp_path, tmp_path / "link", tmp_path / "home", Path("/")]
    folders = [*closed, good, tmp_path / "missing"]
    environment = {
        "PYTHONPATH": os.pathsep.join(["", *map(str, folders)]),
        "VAR_DIR": str(state),
        "HOME": str(tmp_path / "home"),
    }
    assert import_folders(environment) == [str(good)]


@pytest.mark.skipif(bool(isolation.available()), reason="this kernel seals no process")
def test_olga_reads_which_package_is_missing_and_which_folder_is_closed(
    packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A site whose libraries themselves cannot be imported; only an exit status told of it."""
    (packages / "json.py").write_text("raise ImportError('No module named numpy')\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(packages), str(packages.parent / "state")]))
    (packages.parent / "state" / "var").mkdir(parents=True)
    monkeypatch.setenv("VAR_DIR", str(packages.parent / "state" / "var"))
    reason = try_escapes().reason
    assert "ImportError: No module named numpy" in reason
    assert f"PYTHONPATH names {packages.parent / 'state'}, which stays closed" in reason
