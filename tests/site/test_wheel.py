"""The scorer that Bo downloads gives the digits and the complaints of the server."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib import metadata
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import metrics
from leaderboard.common.made_files import make_wheel
from metrics.tests.test_vectors import CASES

pytestmark = pytest.mark.thorough

NEEDS = tomllib.loads((Path(metrics.__file__).parent / "pyproject.toml").read_text())["project"]["dependencies"]
COMPARE = """
import json, sys
def told(key, truth, submission, params):
    try:
        return metrics.evaluate(key, truth.encode(), submission.encode(), params).as_dict()
    except (metrics.SubmissionError, metrics.GroundTruthError) as error:
        return [type(error).__name__, [problem.as_dict() for problem in error.problems]]
    except metrics.ParameterError as error:
        return error.errors
"""


def needed(name: str) -> str:
    return re.split(r"[<>=]", name)[0]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    """An empty environment with what the wheel asks for and the wheel, installed by pip without a network."""
    folder = tmp_path_factory.mktemp("home")
    venv.create(folder / "venv", with_pip=True, symlinks=True)
    python = folder / "venv" / "bin" / "python"
    libraries = next((folder / "venv" / "lib").glob("python*/site-packages"))
    for name in map(needed, NEEDS):
        for file in metadata.files(name) or []:
            top = Path(str(file)).parts[0]
            here = Path(str(metadata.distribution(name).locate_file(top)))
            if top != ".." and not (libraries / top).exists():
                (libraries / top).symlink_to(here)
    title = wheel.name
    (folder / title).write_bytes(wheel.read_bytes())
    pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
    for command in (["install", "--no-index", str(folder / title)], ["check"]):
        done = subprocess.run([*pip, *command], capture_output=True, text=True, check=False, cwd=folder)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder


def ask(home: Path, code: str, given: Any = None) -> Any:
    done = subprocess.run(
        [home / "venv" / "bin" / "python", "-c", f"import classboard_metrics as metrics\n{COMPARE}{code}"],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        cwd=home,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_nothing_of_the_site_comes_along(home: Path) -> None:
    code = "print(json.dumps([name for name in json.load(sys.stdin) if importlib.util.find_spec(name)]))"
    assert ask(home, f"import importlib.util\n{code}", ["django", "pandas", "leaderboard", "json"]) == ["json"]
    assert str(home) in ask(home, "print(json.dumps(metrics.__file__))")


def test_all_examples_and_vectors_have_the_servers_digits_and_complaints(home: Path) -> None:
    examples = [(m.key, m.example.truth, m.example.submission, dict(m.example.params)) for m in metrics.catalogue()]
    broken = [
        (key, truth, re.sub(r"\n[^\n]+\n$", "\nx,?,?\n", submission), params)
        for key, truth, submission, params in examples
    ]
    names = ("metric", "truth", "submission", "params")
    vectors = [tuple(case[name] for name in names) for case in CASES if "skip" not in case]
    asked = [*examples, *broken, *vectors]
    scope: dict[str, Any] = {"metrics": metrics}
    exec(COMPARE, scope)
    here = [json.loads(json.dumps(scope["told"](*one))) for one in asked]
    there = ask(home, "print(json.dumps([told(*one) for one in json.load(sys.stdin)]))", asked)
    assert len(there) == len(asked) > 120
    assert there == here


def test_what_is_no_table_is_refused_in_words_without_pandas_too(home: Path) -> None:
    code = """
for files in ((b"id,y\\n1,a\\n", [1]), ([1], b"id,y\\n1,a\\n")):
    try:
        metrics.evaluate("accuracy", *files)
    except (metrics.SubmissionError, metrics.GroundTruthError) as error:
        found.append([type(error).__name__, [problem.code for problem in error.problems]])
print(json.dumps([*found, "pandas" in sys.modules]))
"""
    assert ask(home, f"found = []\n{code}") == [
        ["SubmissionError", ["no_table"]],
        ["GroundTruthError", ["no_table"]],
        False,
    ]


def test_a_file_of_the_students_own_called_metrics_is_not_in_the_way(home: Path) -> None:
    (home / "metrics.py").write_text("raise RuntimeError('the student imports this one')\n")
    assert ask(home, "print(json.dumps(metrics.score('accuracy', b'id,y\\n1,a\\n', b'id,y\\n1,a\\n').overall))") == 1.0
    (home / "metrics.py").unlink()


def test_it_runs_from_the_command_line(home: Path) -> None:
    example = metrics.get("accuracy").example
    (home / "truth.csv").write_text(example.truth)
    (home / "sent.csv").write_text(example.submission)
    score = ["score", "accuracy", "truth.csv", "sent.csv", "--json"]
    command = [str(home / "venv" / "bin" / "classboard-score"), *score]
    done = subprocess.run(command, capture_output=True, text=True, cwd=home, check=True)
    assert json.loads(done.stdout)["overall"] == example.score
    assert json.loads(done.stdout)["version"] == metrics.get("accuracy").version


def test_the_same_sources_give_the_same_file_and_those_of_others_go(wheel: Path, tmp_path: Path) -> None:
    (tmp_path / "classboard_metrics-0.0.1+0123456789-py3-none-any.whl").write_bytes(b"old")
    title, data = wheel.name, wheel.read_bytes()
    again = make_wheel(tmp_path)
    assert (again.name, again.read_bytes()) == (title, data)
    assert list(tmp_path.iterdir()) == [again]
    assert re.fullmatch(r"classboard_metrics-[0-9.]+\+[0-9a-f]{10}-py3-none-any\.whl", title)
    with zipfile.ZipFile(BytesIO(data)) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
    assert "classboard_metrics/__main__.py" in names
    folders = {"classboard_metrics", title.removesuffix("-py3-none-any.whl") + ".dist-info"}
    assert {name.split("/")[0] for name in names} == folders
    assert not [name for name in names if "__pycache__" in name or "/tests/" in name]


def test_the_wheel_asks_for_what_the_site_has_locked() -> None:
    project = (Path(metrics.__file__).parent.parent / "pyproject.toml").read_text()
    assert all(f'"{need}"' in project for need in NEEDS)
    assert sys.version_info >= (3, 11)
