"""Bo scores at home what the site would score: the same code, the same words, exit codes that programs can use."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import metrics
from metrics.__main__ import main
from metrics.core.registry import USUAL

TRUTH = "id,y,Usage\n1,cat,Public\n2,dog,Private\n3,cat,Private\n4,dog,Ignored\n"
GOOD = "id,y\n1,cat\n2,cat\n3,cat\n4,cat\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "truth.csv").write_text(TRUTH)
    (tmp_path / "good.csv").write_text(GOOD)
    (tmp_path / "bad.csv").write_text("id,y\n1,cat\n1,dog\n9,\n")
    (tmp_path / "plain.csv").write_text("id,y\n1,cat\n2,dog\n")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(arguments)
    out, err = capsys.readouterr()
    return status, out, err


def test_bo_reads_his_score(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "score", "accuracy", "truth.csv", "good.csv")
    assert status == 0
    assert out.splitlines() == [
        "overall  0.6666666666666666  95 %: 0.0535443 to 0.986054  (right 2, rows 3)",
        "public   1.0  (right 1, rows 1)",
        "private  0.5  95 %: 0.00481334 to 0.995187  (right 1, rows 2)",
    ]


def test_parts_come_with_a_value_of_the_whole_column_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "t.csv").write_text("id,y,Usage\n1,0,Public\n2,1,Public\n3,0,Private\n4,1,Private\n")
    (folder / "s.csv").write_text("id,y\n1,0.1\n2,0.4\n3,0.6\n4,0.5\n")
    _, out, _ = run(capsys, "score", "roc_auc", "t.csv", "s.csv")
    assert [line.rpartition("  ")[2] for line in out.splitlines()] == [
        "(ordered 2, pairs 4)",
        "(ordered 1, pairs 1)",
        "(ordered 0, pairs 1)",
    ]


def test_a_program_reads_the_score_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "score", "accuracy", "truth.csv", "good.csv", "--json")
    assert status == 0
    assert json.loads(out) == {
        "metric": "accuracy",
        "version": metrics.get("accuracy").version,
        "params": {},
        "overall": 2 / 3,
        "public": 1.0,
        "private": 0.5,
        "rows": 3,
        "interval": {
            "overall": pytest.approx({"low": 0.0535443, "high": 0.986054}, rel=1e-5),
            "public": None,  # a single row has no spread
            "private": pytest.approx({"low": 0.00481334, "high": 0.995187}, rel=1e-5),
        },
    }
    status, out, _ = run(capsys, "score", "accuracy", "plain.csv", "plain.csv", "--json")
    assert json.loads(out)["public"] is json.loads(out)["private"] is None


@pytest.mark.parametrize(
    ("truth", "said", "value"),
    [(0.5, 2950784404.48, "2950784403.98"), (0, 0.0000123, "0.0000123"), (0, 7, "7.0")],
)
def test_scores_are_printed_without_an_exponent(
    folder: Path, capsys: pytest.CaptureFixture[str], truth: float, said: float, value: str
) -> None:
    (folder / "t.csv").write_text(f"id,y\n1,{truth}\n2,{truth}\n")
    (folder / "s.csv").write_text(f"id,y\n1,{said}\n2,{said}\n")
    _, out, _ = run(capsys, "score", "mae", "t.csv", "s.csv", "--also", "mse", "--compare", "t.csv")
    assert out.startswith(f"overall  {value}  95 %: ")
    assert not re.search(r"\de[+-]?\d", out)
    assert not re.search(r"\de[+-]?\d", repr(metrics.score("mae", "t.csv", "s.csv")))


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("acuracy", "accuracy"),
        ("Accuracy_Score", "accuracy"),
        ("mean_squared_error", "mse"),
        ("logloss", "log_loss"),
        ("auc", "roc_auc"),
        ("gap", "global_average_precision"),
        ("f1-score", "f1"),
    ],
)
def test_bo_reads_which_metric_he_may_have_meant(
    folder: Path, capsys: pytest.CaptureFixture[str], key: str, meant: str
) -> None:
    status, _, err = run(capsys, "score", key, "truth.csv", "good.csv")
    assert status == 1
    assert meant in err.partition("Did you mean ")[2].rstrip("?\n").split(", ")
    assert "Did you mean" not in run(capsys, "show", "qqqqqqq")[2]


def test_bo_reads_that_he_gave_the_files_in_the_other_order(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "score", "accuracy", "good.csv", "truth.csv")
    assert status == 2
    assert "Did you mean the other order" in err.splitlines()[1]
    status, out, _ = run(capsys, "score", "accuracy", "good.csv", "truth.csv", "--json")
    assert json.loads(out)["errors"][0]["code"] == "swapped"
    (folder / "answers.csv").write_text(GOOD)  # nothing but its name says that these are the answers
    for form in ([], ["--json"]):
        status, out, _ = run(capsys, "score", "accuracy", "good.csv", "answers.csv", *form)
        assert status == 0
        assert "Did you mean the other order" in out
        assert "other order" not in run(capsys, "score", "accuracy", "answers.csv", "good.csv", *form)[1]
    assert "other order" not in run(capsys, "score", "accuracy", "truth.csv", "bad.csv")[2]


def test_bo_learns_which_of_two_files_is_better_and_how_surely(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "t.csv").write_text("id,y\n" + "".join(f"{row},1\n" for row in range(200)))
    (folder / "bo.csv").write_text("id,y\n" + "".join(f"{row},{row % 10 / 10}\n" for row in range(200)))
    (folder / "cy.csv").write_text("id,y\n" + "".join(f"{row},0.1\n" for row in range(200)))
    status, out, _ = run(capsys, "score", "mae", "t.csv", "cy.csv", "--compare", "bo.csv")
    assert status == 0
    assert out.splitlines()[-1].startswith("overall  bo.csv is better than cy.csv: 1 (difference 0.35, 95 %: 0.3")
    _, out, _ = run(capsys, "score", "mae", "t.csv", "cy.csv", "--compare", "bo.csv", "--json")
    found = json.loads(out)["compare"]
    assert found.keys() == {"overall"}
    assert found["overall"]["probability"] == 0.0
    _, out, _ = run(capsys, "score", "mae", "t.csv", "cy.csv", "--compare", "cy.csv")
    assert out.splitlines()[-1] == "overall  neither is better (difference 0, 95 %: 0 to 0)"


def test_the_complaint_says_which_of_the_two_files_is_bad(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "score", "accuracy", "truth.csv", "good.csv", "--compare", "bad.csv")
    assert (status, out) == (2, "")
    assert err.startswith("The submission to compare with is invalid.\n- ")


def test_an_invalid_submission_ends_with_2_and_all_problems(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "score", "accuracy", "truth.csv", "bad.csv", "--json")
    assert status == 2
    errors = json.loads(out)["errors"]
    assert {error["code"] for error in errors} == {"unknown_ids", "repeated_ids", "missing_ids", "missing_value"}
    assert all(list(error) == ["code", "message", "column", "line", "id", "count"] for error in errors)
    status, out, err = run(capsys, "score", "accuracy", "truth.csv", "bad.csv")
    assert (status, out) == (2, "")
    assert err.startswith("The submission is invalid.\n- ")


def test_an_invalid_truth_ends_with_3(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "score", "accuracy", "bad.csv", "good.csv", "--json")
    assert status == 3
    assert {error["code"] for error in json.loads(out)["errors"]} == {"repeated_ids", "missing_value"}


def test_a_bad_call_ends_with_1(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "score", "nonsense", "truth.csv", "good.csv")[0] == 1
    assert run(capsys, "score", "fbeta", "truth.csv", "good.csv", "-p", "beta=x")[0] == 1
    assert run(capsys, "score", "fbeta", "truth.csv", "good.csv", "-p", "beta")[0] == 1


def test_a_call_that_cannot_be_understood_is_no_invalid_submission(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for call in (["score", "accuracy"], ["nonsense"], [], ["score", "accuracy", "truth.csv", "good.csv", "--what"]):
        with pytest.raises(SystemExit) as ended:
            main(call)
        assert ended.value.code == 1
        assert "usage:" in capsys.readouterr().err


def test_a_reader_may_stop_reading_the_list() -> None:
    call = [sys.executable, "-m", "metrics", "list", "--json"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pipesize=4096) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 1


def test_bo_sees_what_each_row_contributed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "score", "accuracy", "truth.csv", "good.csv", "--rows", "rows.csv")[0] == 0
    rows = list(csv.DictReader((folder / "rows.csv").read_text().splitlines()))
    assert [row["right"] for row in rows] == ["1", "0", "1"]
    assert rows[1] == {
        "id": "2",
        "Usage": "Private",
        "truth y": "dog",
        "prediction y": "cat",
        "right": "0",
        "rows": "1",
    }


@pytest.mark.thorough
@pytest.mark.parametrize("metric", metrics.catalogue(), ids=lambda metric: metric.key)
def test_rows_and_show_work_for_every_metric(
    folder: Path, capsys: pytest.CaptureFixture[str], metric: metrics.Metric
) -> None:
    (folder / "t.csv").write_text(metric.example.truth)
    (folder / "s.csv").write_text(metric.example.submission)
    assert run(capsys, "score", metric.key, "t.csv", "s.csv", "--rows", "rows.csv")[0] == 0
    assert len((folder / "rows.csv").read_text().splitlines()) == len(metric.example.truth.splitlines())
    status, out, _ = run(capsys, "show", metric.key)
    assert status == 0
    assert metric.summary in out
    assert repr(metric.example.score) in out


def test_parameters_and_the_id_column_are_named_on_the_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "t.csv").write_text("y,name\n1,a\n0,b\n1,c\n")
    (folder / "s.csv").write_text("name,y\na,1\nb,1\nc,0\n")
    arguments = ["score", "fbeta", "t.csv", "s.csv", "--id", "name", "-p", "beta=2", "-p", "positive=0", "--json"]
    status, out, _ = run(capsys, *arguments)
    assert status == 0
    assert json.loads(out)["params"] == {"beta": 2.0, "positive": 0, "average": "binary", "label": None}


def test_the_list_names_every_metric_the_usual_ones_first(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "list", "--json")
    assert status == 0
    keys = [entry["key"] for entry in json.loads(out)]
    assert keys == [metric.key for metric in metrics.catalogue()]
    assert set(keys[: len(USUAL)]) == USUAL
    special = {path.stem for path in Path(metrics.__file__).parent.glob("special/[a-z]*.py")}
    assert set(keys[-len(special) :]) == special
    assert [line.split()[0] for line in run(capsys, "list")[1].splitlines()] == keys


def test_the_module_runs_by_its_name(folder: Path) -> None:
    root = Path(metrics.__file__).parents[1]
    command = [sys.executable, "-m", "metrics", "score", "accuracy", str(folder / "truth.csv"), str(folder / "bad.csv")]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "unknown" in done.stderr


def test_an_empty_default_is_shown_as_one_types_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert "-p separator=  " in run(capsys, "show", "multilabel_f1")[1]


def test_a_missing_file_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, words = run(capsys, "score", "accuracy", "nowhere.csv", "nothing.csv")
    assert status == 1
    assert "nowhere.csv: No such file" in words
    assert "Errno" not in words
