"""Olga installs a library that Ada's metric needs, and nothing else on the site changes."""

import importlib.util
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

import metrics
from metrics.core.custom import CustomFile, read_custom_file

NEEDY = """
'''Share of what a library says. Higher is better.

>>> oddlibrary.answer()
42
'''
import oddlibrary
import pandas


def score(solution, submission, row_id_column_name):
    return float(oddlibrary.answer())
"""
LATE = (
    "import pandas\n\n\ndef score(solution, submission, row_id_column_name):\n    import oddlibrary\n    return 1.0\n"
)
TRUTH = b"id,y\n1,1\n2,2\n"
VERSION = (
    "def score(solution, submission, row_id_column_name):\n    import pandas\n    raise Exception(pandas.__version__)\n"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """METRICS_DIR."""
    home = tmp_path / "metric files"
    home.mkdir()
    monkeypatch.setenv("METRICS_DIR", str(home))
    monkeypatch.setattr(sys, "path", sys.path[:])
    yield home
    sys.modules.pop("oddlibrary", None)


def put(folder: Path, key: str, text: str) -> CustomFile:
    (folder / f"{key}.py").write_text(text)
    return read_custom_file(folder / f"{key}.py", again=True)


def wheel(folder: Path) -> None:
    """A library of two lines, as pip gets it."""
    with zipfile.ZipFile(folder / "oddlibrary-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("oddlibrary/__init__.py", "def answer():\n    return 42\n")
        archive.writestr("oddlibrary-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: oddlibrary\nVersion: 1.0\n")
        archive.writestr(
            "oddlibrary-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("oddlibrary-1.0.dist-info/RECORD", "")


def command_in(text: str) -> list[str]:
    """The command that a sentence names."""
    return shlex.split(text.partition("alone: ")[2].partition(" –")[0])


@pytest.mark.skipif(not (importlib.util.find_spec("pip") or shutil.which("uv")), reason="Nothing here can install.")
def test_olga_runs_the_command_that_she_reads_and_the_metric_is_there(folder: Path, tmp_path: Path) -> None:
    file = put(folder, "needy", NEEDY)
    assert "oddlibrary" in file.error
    assert "pandas" in file.error  # what an installation elsewhere might change
    wheel(tmp_path)
    command = [*command_in(file.error), "--no-index", "--find-links", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    file = read_custom_file(file.path, again=True)
    assert (file.error, file.doctest["tried"], file.doctest["failed"]) == ("", 1, 0)
    assert metrics.evaluate("needy", TRUTH, TRUTH).overall == 42.0


def test_a_library_that_is_missed_while_scoring_is_named_to_ada(folder: Path) -> None:
    assert put(folder, "late", LATE).error == ""
    with pytest.raises(metrics.MetricFailed) as failed:
        metrics.evaluate("late", TRUTH, TRUTH)
    assert "oddlibrary" in failed.value.host_details
    # The command is for Olga, who reads other pages.
    assert sys.executable not in failed.value.host_details


@pytest.mark.attack("a library for custom metrics that takes the place of the site's")
def test_nothing_in_the_folder_replaces_what_the_site_has(folder: Path) -> None:
    (folder / "packages" / "pandas").mkdir(parents=True)
    (folder / "packages" / "pandas" / "__init__.py").write_text("__version__ = 'another'\n")
    (folder / "packages" / "metrics.py").write_text("raise Exception('another')\n")
    put(folder, "version", VERSION)
    with pytest.raises(metrics.MetricFailed) as failed:
        metrics.evaluate("version", TRUTH, TRUTH)
    assert pd.__version__ in failed.value.host_details


@pytest.mark.parametrize("name", ["x; rm -rf ~", "--index-url=https://elsewhere", "a b", "x" * 100, "é"])
@pytest.mark.attack("a library for custom metrics that takes the place of the site's")
def test_no_file_puts_words_into_the_command(folder: Path, name: str) -> None:
    file = put(folder, "forged", f"raise ModuleNotFoundError('gone', name={name!r})\n")
    assert "ModuleNotFoundError: gone" in file.error
    assert "install" not in file.error
