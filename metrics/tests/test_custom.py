"""Olga puts metric files into a folder: Kaggle's, unchanged, and some that mean no good."""

import json
import os
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import metrics
from metrics.__main__ import main
from metrics.core import custom
from metrics.core import kaggle_metric_utilities as stand_in
from metrics.core.custom import CustomFile, list_custom_files, read_custom_file
from metrics.tests.answer_files import split_table

Drop = Callable[[str, str], CustomFile]

CLASSES = '''
"""Macro-averaged area under the ROC curve; classes that nobody has are left out. Higher is better."""
import pandas as pd
import pandas.api.types
import kaggle_metric_utilities


class ParticipantVisibleError(Exception):
    pass


def area(truth, said):
    if len(set(truth)) < 2:
        raise ValueError("Only one class in y_true.")
    ranks = pd.Series(said).rank().to_numpy()
    ones = truth == 1
    return (ranks[ones].sum() - ones.sum() * (ones.sum() + 1) / 2) / (ones.sum() * (~ones).sum())


def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    """
    >>> truth = pd.DataFrame({"id": [1, 2], "a": [0, 1], "b": [0, 0]})
    >>> float(score(truth.copy(), truth.copy(), "id"))
    1.0
    """
    del solution[row_id_column_name]
    del submission[row_id_column_name]
    for name in submission.columns:
        if not pandas.api.types.is_numeric_dtype(submission[name]):
            raise ParticipantVisibleError(f"Column {name} must hold numbers")
    positives = solution.sum(axis=0)
    scored = list(positives[positives > 0].index)
    areas = [kaggle_metric_utilities.safe_call_score(area, solution[name].values, submission[name].values)
             for name in scored]
    return sum(areas) / len(areas)
'''

ERROR = '''
"""Mean absolute error in some power."""
from typing import Literal, Optional
import numpy as np

def score(solution, submission, row_id_column_name: str, power: float = 1.0, *, offset: int, name: str = "y",
          mode: Literal["mean", "sum"] = "mean", clip: Optional[float] = None, strict: bool = False,
          weights_column_name: Optional[str] = None, weights=(1, 2), check=len) -> float:
    """Lower is better.

    Args:
        power: exponent of each error.
    """
    gaps = np.abs(solution[name] - submission[name] + offset) ** power
    if clip is not None:
        gaps = gaps.clip(upper=clip)
    weights = solution[weights_column_name] if weights_column_name else np.ones(len(gaps))
    return (gaps * weights).sum() / (weights.sum() if mode == "mean" else 1)
'''


def body(lines: str, head: str = "", extras: str = "") -> str:
    """A metric file whose function holds these lines."""
    inside = "\n".join(f"    {line}" for line in lines.splitlines())
    return f"{head}\ndef score(solution, submission, row_id_column_name{extras}):\n{inside}\n"


TRUTH = "id,y,Usage\n" + "".join(f"{i},{i % 5},{'Public' if i % 3 else 'Private'}\n" for i in range(1, 13))
MINE = "id,y\n" + "".join(f"{i},{i % 4}\n" for i in range(12, 0, -1))


VISIBLE = "class ParticipantVisibleError(Exception): pass\n"
PARTIAL = "\nfrom functools import partial\nscore = partial(base, scale=2)\n"
CALLED = """
class Score:
    def __call__(self, solution, submission, row_id_column_name, limit, scale: int = 2) -> float:
        return scale * limit
score = Score()
"""


@pytest.fixture
def drop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Drop:
    """Olga's hand: puts a file into the folder and looks at what the site makes of it."""
    folder = tmp_path / "metrics"
    folder.mkdir()
    monkeypatch.setenv("METRICS_DIR", str(folder))
    custom._facts.clear()

    def put(key: str, text: str) -> CustomFile:
        path = folder / f"{key}.py"
        path.write_text(text)
        return read_custom_file(path)

    return put


def failure(key: str, truth: str = TRUTH, submission: str = MINE) -> metrics.MetricFailed:
    with pytest.raises(metrics.MetricFailed) as caught:
        metrics.evaluate(key, truth.encode(), submission.encode())
    return caught.value


def score(key: str, truth: str = TRUTH, submission: str = MINE, **params: Any) -> metrics.Result:
    return metrics.evaluate(key, truth.encode(), submission.encode(), params)


# --- a file appears ---------------------------------------------------------------------------------------------


def test_a_kaggle_file_in_the_folder_is_a_metric(drop: Drop) -> None:
    ours = metrics.catalogue()
    file = drop("class_auc", CLASSES)
    assert (file.error, file.doctest["tried"], file.doctest["failed"]) == ("", 2, 0)
    added = metrics.catalogue()[len(ours) :]
    assert metrics.catalogue()[: len(ours)] == ours
    assert [metric.key for metric in added] == ["class_auc"]
    metric = metrics.get("class_auc")
    assert (metric.title, metric.direction) == ("Class auc", "maximize")
    assert [parameter.name for parameter in metric.parameters] == ["submission_columns"]
    assert metric.summary.startswith("Macro-averaged area under the ROC curve")
    assert metric.version == file.version == custom._hash(CLASSES.encode())[:12]
    assert metric.is_custom
    assert not metric.has_best
    assert metric.source_path.read_text() == CLASSES


def test_it_scores_each_split_as_its_function_does_on_frames(drop: Drop) -> None:
    drop("class_auc", CLASSES)
    dice = np.random.default_rng(4)
    truth = pd.DataFrame({"row": np.arange(60) * 7, **{name: dice.integers(0, 2, 60) for name in "abc"}, "d": 0})
    said = pd.DataFrame({"row": truth.row, **{name: dice.random(60).round(2) for name in "abcd"}})
    usage = dice.choice(["Public", "Private", "Ignored"], 60)
    result = metrics.evaluate("class_auc", truth.assign(Usage=usage), said.sample(frac=1, random_state=1))
    for name, rows in (("public", usage == "Public"), ("private", usage == "Private"), ("overall", usage != "Ignored")):
        areas = []
        for column in "abc":
            ones, noughts = (said.loc[rows & (truth[column] == value), column].to_numpy() for value in (1, 0))
            wins = (ones[:, None] > noughts).sum() + (ones[:, None] == noughts).sum() / 2
            areas.append(wins / (len(ones) * len(noughts)))
        assert getattr(result, name) == pytest.approx(np.mean(areas), rel=1e-12)
    assert result.rows == int((usage != "Ignored").sum())


def test_it_gets_frames_as_at_kaggle(drop: Drop) -> None:
    drop(
        "spy", body("raise Exception(repr([solution.to_dict('list'), submission.to_dict('list'), row_id_column_name]))")
    )
    truth = "id,n,t,f\n7,1,NA,0.1\n9,2,x,1e300\n8,3,,-0.5\n"
    said = "id,n,t,f\n8,0,true,2\n9,5,,0.30000000000000004\n7,1,None,1\n"
    solution, submission, name = eval(
        failure("spy", truth, said).host_details.partition(": ")[2].rpartition(" (line")[0], {"nan": None}
    )
    assert solution == {"id": [7, 9, 8], "n": [1, 2, 3], "t": ["NA", "x", None], "f": [0.1, 1e300, -0.5]}
    assert submission == {
        "id": [7, 9, 8],
        "n": [1, 5, 0],
        "t": ["None", None, "true"],
        "f": [1.0, 0.30000000000000004, 2.0],
    }
    assert name == "id"


def test_ids_that_are_no_plain_numbers_stay_texts(drop: Drop) -> None:
    drop("spy", body("raise Exception(repr([list(solution.id), str(solution.t.dtype), str(solution.n.dtype)]))"))
    told = failure("spy", "id,t,n\n007,a,1\n7,b,2\n", "id,t,n\n7,a,1\n007,b,0.5\n").host_details
    assert "[['007', '7'], 'object', 'int64']" in told


def test_each_split_gets_its_own_copies_without_usage(drop: Drop) -> None:
    lines = (
        "assert list(solution.columns) == list(submission.columns) == ['id', 'y']\n"
        "assert list(solution.index) == list(range(len(solution)))\n"
        "assert (solution.y < 100).all()\n"
        "found = float((solution.y == submission.y).mean())\n"
        "solution.loc[:, 'y'] = 1000; submission['y'] = 1000; solution.drop(columns='id', inplace=True)\n"
        "return found"
    )
    drop("vandal", body(lines))
    same, counts = {"Public": 0, "Private": 0}, {"Public": 0, "Private": 0}
    for i in range(1, 13):
        split = "Public" if i % 3 else "Private"
        counts[split] += 1
        same[split] += i % 5 == i % 4
    result = score("vandal")
    assert result.public == same["Public"] / counts["Public"]
    assert result.private == same["Private"] / counts["Private"]
    assert result.overall == sum(same.values()) / 12
    assert result == score("vandal")


def test_without_usage_there_is_one_value(drop: Drop) -> None:
    drop("count", body("return len(solution)"))
    result = score("count", "id,y\n1,2\n2,3\n", "id,y\n2,3\n1,2\n")
    assert (result.overall, result.public, result.private) == (2.0, None, None)


def test_dice_fall_the_same_way_in_every_process(drop: Drop, monkeypatch: pytest.MonkeyPatch) -> None:
    drop("coin", body("return random.random() + np.random.rand() + hash('x') % 7", "import random\nimport numpy as np"))
    first = score("coin")
    assert score("coin") == first


# --- parameters -------------------------------------------------------------------------------------------------


def test_annotated_extras_are_parameters(drop: Drop) -> None:
    file = drop("powered", ERROR)
    assert file.error == ""
    assert file.notes == ["check keeps its default: a form cannot ask for its type."]
    found = {p.name: (p.kind, p.default, p.required, p.optional) for p in metrics.get("powered").parameters}
    assert found == {
        "power": ("float", 1.0, False, False),
        "offset": ("int", None, True, False),
        "name": ("text", "y", False, False),
        "mode": ("choice", "mean", False, False),
        "clip": ("float", None, False, True),
        "strict": ("bool", False, False, False),
        "weights_column_name": ("column", None, False, True),
        "weights": ("text", "[1, 2]", False, False),
        "submission_columns": ("text", None, False, True),
    }
    assert metrics.get("powered").parameters[0].help == "exponent of each error."
    assert metrics.get("powered").parameters[3].choices == ("mean", "sum")


def test_what_has_no_default_must_be_said(drop: Drop) -> None:
    drop("powered", ERROR)
    with pytest.raises(metrics.ParameterError) as caught:
        score("powered")
    assert caught.value.errors == {"offset": "A value is needed."}
    assert metrics.check_truth("powered", TRUTH.encode()).findings[0].code == "parameter"
    (fit,) = [fit for fit in metrics.suggest(TRUTH.encode()) if fit.key == "powered"]
    assert (fit.fits, fit.reason) == (False, "It must be told offset, for which it has no default.")
    assert metrics.clean_params("powered", {"offset": "3", "clip": "", "strict": "on"})["offset"] == 3


def test_parameters_reach_the_function_in_their_types(drop: Drop) -> None:
    drop("powered", ERROR)
    truth, said = "id,y,w\n1,1,1\n2,5,3\n", "id,y\n1,3\n2,4\n"
    assert (
        score("powered", truth.replace(",w", "").replace(",1\n", "\n").replace(",3\n", "\n"), said, offset=0).overall
        == 1.5
    )
    assert score("powered", truth, said, offset=0, power="2", weights_column_name="w").overall == (4 * 1 + 1 * 3) / 4
    assert score("powered", truth, said, offset=0, mode="sum", clip=1.5, weights_column_name="w").overall == 4.5
    with pytest.raises(metrics.GroundTruthError, match='no "v"'):
        score("powered", truth, said, offset=0, weights_column_name="v")


@pytest.mark.parametrize(
    ("extras", "words"),
    [
        (", labels: np.ndarray", "labels has neither a default nor a type"),
        (", *, x: type", "x has neither"),
        (", x: object", "x has neither"),
    ],
)
def test_a_parameter_that_no_form_can_ask_for_is_told_to_olga(drop: Drop, extras: str, words: str) -> None:
    assert words in drop("asking", body("return 1.0", "import numpy as np", extras)).error


@pytest.mark.parametrize(
    ("text", "said", "overall"),
    [
        (body("return limit * 2", extras=", limit"), "3.5", 7.0),
        (body("return len(limit)", extras=", *, limit"), "'35'", 2.0),
        (body("return scale * limit", extras=", limit, scale=1").replace("score(", "base(") + PARTIAL, "3", 6.0),
        (CALLED, "3", 6.0),
        (CALLED.replace("score = Score()", "score = Score().__call__"), "3", 6.0),
    ],
)
def test_what_has_neither_type_nor_default_is_a_text_or_number(
    drop: Drop, text: str, said: str, overall: float
) -> None:
    assert drop("asking", text).error == ""
    assert score("asking", limit=said).overall == overall
    with pytest.raises(metrics.ParameterError):
        score("asking")


def test_a_metric_that_refuses_the_sample_and_a_perfect_file_is_published_with_a_sample_that_it_takes(
    drop: Drop,
) -> None:
    lines = (
        "if submission.y.dtype != float: raise ParticipantVisibleError('no fractions')\nreturn abs(submission.y).mean()"
    )
    drop("fractions", body(lines, VISIBLE))
    report = metrics.check_truth("fractions", TRUTH.encode())
    assert "submission_columns" in next(str(finding.why) for finding in report.findings if finding.blocking)
    assert metrics.check_truth("fractions", TRUTH.encode(), {"submission_columns": "id,y\n1,0.5"}).ok


# --- who reads what ---------------------------------------------------------------------------------------------


def test_what_the_metric_says_to_participants_reaches_them(drop: Drop) -> None:
    drop("strict", body("raise ParticipantVisibleError('Too few\\n rows. ' + 'x' * 900)", VISIBLE))
    with pytest.raises(metrics.SubmissionError) as caught:
        score("strict")
    (problem,) = caught.value.problems
    assert problem.code == "metric"
    assert problem.message.startswith("Too few rows. xxx")
    assert len(problem.message) == 500


def test_what_it_says_of_the_private_part_does_not(drop: Drop) -> None:
    drop(
        "teller", body("if len(solution) == 4: raise ParticipantVisibleError(str(list(solution.y)))\nreturn 1", VISIBLE)
    )
    with pytest.raises(metrics.SubmissionError) as caught:
        score("teller")
    (problem,) = caught.value.problems
    assert problem.message == "The metric refuses this file, and what it says about it cannot be shown here."
    assert caught.value.host_details == "Of the private part the metric says: [3, 1, 4, 2]"
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.problems, again.host_details) == (caught.value.problems, caught.value.host_details)
    (finding,) = [one for one in metrics.check_truth("teller", TRUTH.encode()).findings if one.blocking]
    assert finding.message.endswith("Of the private part the metric says: [3, 1, 4, 2]")


NOSY = """
total = solution.y.sum()
if (submission.y < 0).any():
    raise ParticipantVisibleError(f"No number may be negative; the answers add up to {total}.")
if (submission.y > 10 * solution.y.max() + 1).any():
    raise ParticipantVisibleError(f"Too large beside {solution.y.max()}.")
return float(total)
"""


@pytest.mark.attack("the truth in what a metric says")
def test_words_about_answers_are_about_answers_that_tell_nothing(drop: Drop) -> None:
    drop("nosy", body(NOSY.strip(), VISIBLE))
    other = TRUTH.replace(",4,", ",5,").replace(",3,P", ",2,P").replace("Public", "Ignored", 2)
    rows = [*range(1, 13)]
    for place in rows:  # the row may be public, private or ignored
        file = ("id,y\n" + "".join(f"{i},{-1 if i == place else i % 4}\n" for i in rows)).encode()
        told = []
        for truth in (TRUTH, other):
            prepared = metrics.prepare("nosy", truth.encode())
            with pytest.raises(metrics.SubmissionError) as caught:
                prepared.evaluate(file)
            with pytest.raises(metrics.SubmissionError) as checked:
                prepared.check(file)
            told += [caught.value.problems, checked.value.problems]
        assert told == [told[0]] * 4
        assert told[0][0].message.startswith("No number may be negative; the answers add up to 6.")


@pytest.mark.attack("the truth in what a metric says")
def test_a_check_cannot_find_an_answer_by_halves(drop: Drop) -> None:
    drop("nosy", body(NOSY.strip(), VISIBLE))
    found = []
    for truth in (TRUTH, TRUTH.replace(",4,", ",9,")):
        prepared = metrics.prepare("nosy", truth.encode())
        for guess in (5, 30, 45, 80, 95, 1000):
            try:
                prepared.check(f"id,y\n{''.join(f'{i},{guess}' + chr(10) for i in range(1, 13))}".encode())
                found.append((guess, ""))
            except metrics.SubmissionError as error:
                found.append((guess, error.problems[0].message))
    assert found[:6] == found[6:]


def test_a_metric_that_cannot_use_such_answers_is_asked_beside_the_true_ones(drop: Drop) -> None:
    picky = "if solution.y.max() < 2: raise ParticipantVisibleError('The truth must have a 2.')\nreturn 1"
    drop("picky", body(picky, VISIBLE))
    assert score("picky").overall == 1.0
    assert metrics.prepare("picky", TRUTH.encode()).check(MINE.encode()) == ()


def test_numbers_beyond_what_metrics_can_square_are_refused_before_the_metric_sees_them(drop: Drop) -> None:
    drop("squares", body("return float(((submission.y - solution.y) ** 2).mean())"))
    with pytest.raises(metrics.SubmissionError) as caught:
        score("squares", submission=MINE.replace("\n12,0", "\n12,1.4e154"))
    (problem,) = caught.value.problems
    assert (problem.code, problem.line, problem.count) == ("too_large_values", 2, 1)


def test_at_home_nothing_is_kept_back(drop: Drop, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drop("teller", body("if len(solution) == 4: raise ParticipantVisibleError('four')\nreturn 1", VISIBLE))
    for name, text in (("truth.csv", TRUTH), ("mine.csv", MINE)):
        (tmp_path / name).write_text(text)
    assert main(["score", "teller", str(tmp_path / "truth.csv"), str(tmp_path / "mine.csv")]) == 2
    assert "Of the private part the metric says: four" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["HostVisibleError", "ValueError", "KeyError"])
def test_everything_else_is_for_the_host(drop: Drop, name: str) -> None:
    head = "class HostVisibleError(Exception): pass\n"
    drop("careless", body(f"raise {name}('canary ' + str(list(solution.y)))", head))
    found = failure("careless")
    assert "canary [1, 2, 4, 0" in found.host_details
    assert "canary" not in str(found)
    assert str(found) == f"The metric careless raised {name} in line 4."
    blocking = [finding for finding in metrics.check_truth("careless", TRUTH.encode()).findings if finding.blocking]
    assert ["canary" in finding.message for finding in blocking] == [True]


def test_the_site_refuses_what_is_missing_before_the_metric_is_asked(drop: Drop) -> None:
    drop("any", body("return 1.0"))
    for cell, words in (
        ("", "missing"),
        ("nan", "no finite number"),
        ("1e999", "no finite number"),
        ("-inf", "finite"),
    ):
        with pytest.raises(metrics.SubmissionError, match=words) as caught:
            score("any", submission=MINE.replace("\n5,1\n", f"\n5,{cell}\n"))
        assert (caught.value.problems[0].line, caught.value.problems[0].id) == (9, "5")
    with pytest.raises(metrics.GroundTruthError, match="missing"):
        score("any", TRUTH.replace("\n5,0,", "\n5,,"))
    with pytest.raises(metrics.SubmissionError, match="1 id of 12 missing"):
        score("any", submission=MINE.replace("5,1\n", ""))


RETURNED = {
    "float('nan')": False,
    "True": False,
    "None": False,
    "1 + 0j": False,
    "np.array([0.5])": False,
    "'0.5'": False,
    "np.float64(0.5)": True,
    "np.float32(0.5)": True,
    "0.5": True,
    "np.int64(0)": True,
}


def test_only_one_finite_number_is_a_score(drop: Drop) -> None:
    drop("returning", body("return eval(what)", "import numpy as np", ", what: str = '0.5'"))
    for what, is_fine in RETURNED.items():
        if is_fine:
            assert score("returning", what=what).overall == float(eval(what, {"np": np}))
            continue
        with pytest.raises(metrics.MetricFailed, match="returned no finite number") as caught:
            score("returning", what=what)
        assert "where one finite number is needed" in caught.value.host_details


# --- broken files, doctests -------------------------------------------------------------------------------------


BROKEN = {
    "import nothing_of_this_name": "the library nothing_of_this_name (line 1)",
    "def score(:": "SyntaxError",
    "x = 1": "neither a function score(solution, submission, row_id_column_name) nor broken = Metric(…)",
    "def score(y_true, y_pred): return 1": "must begin with the parameters solution, submission, row_id_column_name",
    "raise SystemExit(0)": "SystemExit",
    "broken = 1 / 0": "ZeroDivisionError",
}


def test_a_broken_file_is_told_to_olga(drop: Drop) -> None:
    for text, words in BROKEN.items():
        assert words in drop("broken", text).error


def test_a_broken_file_is_offered_to_nobody(drop: Drop) -> None:
    drop("fine", body("return 1.0"))
    drop("broken", "def score(:")
    assert {file.key: bool(file.error) for file in list_custom_files()} == {"broken": True, "fine": False}
    assert [metric.key for metric in metrics.catalogue() if metric.is_custom] == ["fine"]
    with pytest.raises(metrics.UnknownMetric):
        metrics.get("broken")
    assert score("fine").overall == 1.0


def test_a_file_cannot_take_the_name_of_a_built_in_metric(drop: Drop) -> None:
    for key in ("accuracy", "dice"):
        assert f"A metric of this site is called {key}" in drop(key, body("return 1.0")).error
    assert not metrics.get("accuracy").is_custom
    assert "begin with a letter" in drop("9lives", body("return 1.0")).error


def test_failed_doctests_are_shown_and_forbid_nothing(drop: Drop) -> None:
    file = drop("claims", '"""Half. Higher is better.\n\n>>> 1 + 1\n3\n>>> 1 + 2\n3\n"""\n' + body("return 0.5"))
    assert (file.doctest["tried"], file.doctest["failed"]) == (2, 1)
    assert "Expected:\n    3\nGot:\n    2" in file.doctest["text"]
    assert metrics.get("claims").summary == "Half. Higher is better."


KAGGLES_EXAMPLE = '''
import pandas as pd

def score(solution, submission, row_id_column_name):
    """Share of ones. Higher is better.

    >>> frame = pd.DataFrame({"id": [1, 2, 3], "y": [1, 0, 0]})
    >>> score(frame, frame, "id")
    0.333...
    >>> score(frame, frame[:0], "id")
    Traceback (most recent call last):
        ...
    ValueError: ...rows...
    >>> score(frame, frame, "id")
    0.334...
    """
    if not len(submission):
        raise ValueError("It has no rows at all.")
    return float(submission.y.mean())
'''


def test_doctests_may_leave_digits_out_as_kaggles_do(drop: Drop) -> None:
    file = drop("share", KAGGLES_EXAMPLE)
    assert (file.doctest["tried"], file.doctest["failed"]) == (4, 1)
    assert "0.334..." in file.doctest["text"]


# --- direction, best value, publication -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "head", "direction", "who"),
    [
        ("one", 'direction = "minimize"', "minimize", "file"),
        ("one", "higher_is_better = False", "minimize", "file"),
        ("one", '"""A thing. Lower values are better."""', "minimize", "file"),
        ("error_of_it", '"""Higher is better, says who wrote it."""', "maximize", "file"),
        ("mean_error", "", "minimize", "guess"),
        ("one", '"""Root mean squared deviation."""', "minimize", "guess"),
        ("one", '"""F1 of it."""', "maximize", "guess"),
    ],
)
def test_the_direction_is_said_or_guessed(drop: Drop, key: str, head: str, direction: str, who: str) -> None:
    file = drop(key, body("return 1.0", head))
    assert file.direction == (direction, who)
    notes = [note for note in file.notes if "guess" in note]
    assert bool(notes) == (who == "guess")
    # What the note names first is what was guessed.
    other = "minimize" if direction == "maximize" else "maximize"
    assert all(note.index(direction) < note.index(other) for note in notes)
    assert metrics.get(key).direction == direction


def test_olga_says_what_the_file_does_not(drop: Drop, tmp_path: Path) -> None:
    drop("one", body("return float((solution.y - submission['guess']).abs().mean())"))
    settings = {"direction": "minimize", "best": 0, "title": "Gap", "group": "Numbers", "submission_columns": ["guess"]}
    (tmp_path / "metrics" / "one.json").write_text(json.dumps(settings))
    metric = metrics.get("one")
    assert (metric.direction, metric.best, metric.title, metric.group) == ("minimize", 0.0, "Gap", "Numbers")
    report = metrics.check_truth("one", TRUTH.encode())
    assert report.ok
    assert report.submission_columns == ("id", "guess")
    assert (report.self_test["public"], report.self_test["best"]) == (0.0, 0.0)


def test_submissions_may_have_more_columns_than_the_truth(drop: Drop) -> None:
    lines = "return float(((submission.low <= solution.y) & (solution.y <= submission.high)).mean())"
    drop("inside", body(lines, "submission_columns = ['low', 'high']\nbest = 1"))
    truth = metrics.prepare("inside", TRUTH.encode())
    assert truth.submission_columns == ("id", "low", "high")
    assert truth.perfect_submission().decode().splitlines()[:3] == ["id,low,high", "1,1,1", "2,2,2"]
    assert truth.sample_submission().decode().splitlines()[:2] == ["id,low,high", "1,0,0"]
    assert metrics.check_truth("inside", TRUTH.encode()).ok


def test_a_perfect_file_is_scored_at_publication_where_nobody_knows_the_best_value(drop: Drop) -> None:
    drop("one", body("return float((solution.y == submission.y).mean()) * 3"))
    report = metrics.check_truth("one", TRUTH.encode())
    assert report.ok
    assert report.self_test == {"overall": 3.0, "public": 3.0, "private": 3.0, "best": None, "passed": True}
    json.dumps(report.self_test, allow_nan=False)


def constants(key: str, cell: Callable[[int, random.Random], str]) -> dict[str, str]:
    report = metrics.check_truth(key, split_table("id,y", cell, 60))
    assert report.ok, report.findings
    return {one.name: one.says for one in report.baselines if one.is_constant}


def test_quantities_have_a_mean_and_a_median_and_classes_have_none(drop: Drop) -> None:
    drop("gap", body("return float((solution.y - submission.y).abs().mean())", '"""Lower is better."""'))
    found = constants("gap", lambda i, dice: f"{dice.gauss(50, 9):.2f}")
    assert {"Mean", "Median"} <= set(found)
    assert "Most frequent answer" not in found
    assert 40 < float(found["Mean"].strip('"')) < 60
    assert "Mean" in constants("gap", lambda i, dice: str(dice.randint(1, 500)))
    chances = constants("gap", lambda i, dice: "1" if dice.random() < 0.2 else "0")
    assert 0 < float(chances["Mean"].strip('"')) < 0.5
    for names in ("1234", ("cat", "dog")):
        drop("same", body("return float((solution.y == submission.y).mean())", '"""Higher is better."""'))
        found = constants("same", lambda i, dice, names=names: dice.choice(names))  # type: ignore[misc]
        assert "Mean" not in found
        assert any("most frequent answer" in name.lower() for name in found)


def test_a_board_that_would_be_upside_down_is_not_published(drop: Drop) -> None:
    drop("one", body("return float((solution.y - submission.y).abs().mean())"))
    report = metrics.check_truth("one", TRUTH.encode())
    assert not report.ok
    assert [finding.code for finding in report.findings if finding.blocking] == ["direction"]
    drop("one", body("return float((solution.y - submission.y).abs().mean())", 'direction = "minimize"'))
    assert metrics.check_truth("one", TRUTH.encode()).ok


def test_a_best_value_that_is_declared_must_be_reached(drop: Drop) -> None:
    drop("one", body("return float((solution.y == submission.y).mean()) * 3", "best = 1.0"))
    report = metrics.check_truth("one", TRUTH.encode())
    assert "A perfect submission scores 3.0 (public) instead of 1.0." in [f.message for f in report.findings]


def test_a_part_that_cannot_be_scored_is_the_hosts_error_at_publication(drop: Drop) -> None:
    drop("two_classes", body("assert solution.y.nunique() > 1, 'one class'\nreturn 1.0"))
    report = metrics.check_truth("two_classes", b"id,y,Usage\n1,1,Public\n2,0,Public\n3,1,Private\n4,1,Private\n")
    assert not report.ok
    assert "one class" in report.findings[0].message


# --- versions and what is kept ----------------------------------------------------------------------------------


def test_a_changed_file_is_a_new_version_and_the_earlier_one_still_scores(drop: Drop, tmp_path: Path) -> None:
    first = drop("one", body("return 1.0")).version
    second = drop("one", body("return 2.0  # changed")).version
    assert first != second
    assert metrics.get("one").version == metrics.get(f"one@{second}").version == second
    assert (score("one").overall, score(f"one@{second}").overall) == (2.0, 2.0)
    earlier = score(f"one@{first}")
    assert (earlier.overall, earlier.metric, earlier.version) == (1.0, "one", first)
    (tmp_path / "metrics" / "one.py").unlink()
    assert score(f"one@{first}").overall == 1.0
    for gone in ("one", "one@000000000000", "one@../../x"):
        with pytest.raises(metrics.UnknownMetric):
            metrics.get(gone)
    assert metrics.get("accuracy@000000000000").key == "accuracy"


def test_a_text_that_was_tampered_with_is_not_the_earlier_version(drop: Drop, tmp_path: Path) -> None:
    first = drop("one", body("return 1.0")).version
    drop("one", body("return 2.0"))
    (kept,) = (tmp_path / "metrics" / ".inspected").glob(f"one-{first}*.py")
    kept.write_text(body("return 3.0"))
    with pytest.raises(metrics.UnknownMetric):
        metrics.get(f"one@{first}")


def test_what_was_inspected_is_not_inspected_again(drop: Drop, monkeypatch: pytest.MonkeyPatch) -> None:
    drop("one", body("return 1.0"))
    drop("broken", "x = 1")
    custom._facts.clear()

    def no_process(*_: object, **__: object) -> dict[str, Any]:
        raise AssertionError

    monkeypatch.setattr(custom, "_inspector", [no_process])
    assert [metric.key for metric in metrics.catalogue() if metric.is_custom] == ["one"]
    with pytest.raises(AssertionError):
        read_custom_file(Path(os.environ["METRICS_DIR"]) / "one.py", again=True)


def test_a_process_that_loads_no_file_says_so_until_another_one_has(
    drop: Drop, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As the site's web server: what the file does at its import happens elsewhere."""
    monkeypatch.setattr(custom, "_inspector", [None])
    mark = tmp_path / "loaded"
    file = drop("one", body("return 1.0", f"open({str(mark)!r}, 'w').close()"))
    assert file.error == custom.NOT_INSPECTED
    assert not mark.exists()
    with pytest.raises(metrics.UnknownMetric):
        metrics.get("one")
    monkeypatch.setattr(custom, "_inspector", [custom.inspect_here])
    read_custom_file(file.path)
    monkeypatch.setattr(custom, "_inspector", [None])
    assert mark.exists()
    custom._facts.clear()  # this process has seen nothing of it
    mark.unlink()
    assert metrics.get("one").key == "one"
    assert not mark.exists()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"stamp": "old", "facts": {}}', "\0"])
def test_a_spoiled_memory_is_made_anew(drop: Drop, tmp_path: Path, text: str) -> None:
    drop("one", body("return 1.0"))
    for path in (tmp_path / "metrics" / ".inspected").glob("*.json"):
        path.write_text(text)
    custom._facts.clear()
    assert metrics.get("one").title == "One"


def test_what_is_spoiled_takes_no_other_metric_along(drop: Drop, tmp_path: Path) -> None:
    drop("one", body("return 1.0"))
    drop("two", body("return 2.0"))
    kept = tmp_path / "metrics" / ".inspected"
    (path,) = kept.glob("one-*.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "facts": {"declared": {}}}))
    (tmp_path / "metrics" / "two.json").write_text(
        json.dumps(
            {"best": "high", "title": 5, "direction": "up", "submission_columns": 5, "group": "Numbers", "more": 1}
        )
    )
    custom._facts.clear()
    assert [(metric.key, metric.group) for metric in metrics.catalogue() if metric.is_custom] == [("two", "Numbers")]
    assert (metrics.get("two").title, metrics.get("two").has_best) == ("Two", False)
    with pytest.raises(metrics.UnknownMetric):
        metrics.get("one")


def test_a_folder_that_cannot_be_written_costs_only_time(
    drop: Drop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("METRICS_CACHE", str(tmp_path / "file" / "below"))
    drop("one", body("return 1.0"))
    assert score("one").overall == 1.0


def test_without_a_folder_nothing_is_looked_at(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("METRICS_DIR", str(tmp_path / "nowhere"))
    assert list_custom_files() == ()
    assert not any(metric.is_custom for metric in metrics.catalogue())


# --- files in the form of metrics/ ------------------------------------------------------------------------------


def source_of(key: str) -> str:
    """The file of a built-in metric, as the metric ``own_<key>`` at the top of the library."""
    path = metrics.get(key).source_path
    text = path.read_text().replace(f"\n{key} = ", f"\nown_{key} = ")
    if path.parent.name == "special":
        text = text.replace("\nfrom .", "\nfrom .special.").replace("\nfrom .special..", "\nfrom .")
    return text


def test_a_file_in_the_form_of_ours_scores_as_a_built_in_one(drop: Drop) -> None:
    assert drop("own_rmse", source_of("rmse")).error == ""
    ours, theirs = metrics.get("rmse"), metrics.get("own_rmse")
    assert (theirs.summary, theirs.description, theirs.best) == (ours.summary, ours.description, ours.best)
    assert (theirs.title, theirs.group, theirs.direction) == (ours.title, ours.group, ours.direction)
    assert (theirs.columns, theirs.is_custom) == (ours.columns, True)
    first, second = score("rmse"), score("own_rmse")
    assert (first.overall, first.public, first.private, first.parts) == (
        (second.overall, second.public, second.private, second.parts)
    )
    assert second.version == theirs.version
    assert metrics.check_truth("own_rmse", TRUTH.encode()).ok
    with pytest.raises(metrics.SubmissionError, match="decimal comma"):
        score("own_rmse", submission=MINE.replace("5,1\n", '5,"0,5"\n'))
    with pytest.raises(metrics.SubmissionError, match="too large"):
        score("own_rmse", submission=MINE.replace("5,1\n", "5,1e300\n"))


@pytest.mark.parametrize("key", ["accuracy", "weighted_mae", "pinball", "rmse", "concordance_index"])
def test_its_roles_parameters_and_kinds_of_columns_are_those_of_its_file(drop: Drop, key: str) -> None:
    assert drop(f"own_{key}", source_of(key)).error == ""
    ours, theirs = metrics.get(key), metrics.get(f"own_{key}")
    assert theirs.parameters == ours.parameters
    assert (theirs.columns, theirs.format) == (ours.columns, ours.format)
    assert {name: role.help for name, role in theirs.roles.items()} == {n: role.help for n, role in ours.roles.items()}
    example = ours.example
    found = score(theirs.key, example.truth, example.submission, **example.params)
    assert (found.overall, found.params) == (
        score(key, example.truth, example.submission, **example.params).overall,
        ({**example.params, **found.params}),
    )


def test_every_kind_of_column_crosses_or_is_refused_in_words(drop: Drop) -> None:
    refused = set()
    for metric in metrics.catalogue():
        file = drop(f"own_{metric.key}", source_of(metric.key))
        if file.error:
            assert file.error.startswith("NoMetric: In this folder a metric cannot"), file.error
            refused.add(metric.key)
            continue
        theirs = metrics.get(file.key)
        for one, other in ((metric.truth, theirs.truth), (metric.submission, theirs.submission)):
            assert (type(one), vars(one)) == (type(other), vars(other))
    assert {"map_at_k", "rmsle", "mean_haversine"} <= refused
    assert not {"accuracy", "f1", "log_loss", "weighted_mae", "word_jaccard"} & refused


@pytest.mark.parametrize(
    ("value", "reason", "details"),
    [
        ("1 / 0", "raised ZeroDivisionError in line", "division by zero"),
        ("float('nan')", "returned no finite number", ""),
        ("metrics.score('none', truth, prediction)", "raised UnknownMetric in line", "none"),
        ("exit(str(truth))", "raised SystemExit", "0."),
    ],
)
def test_what_its_functions_do_wrong_reaches_no_student(drop: Drop, value: str, reason: str, details: str) -> None:
    computation = f"WholeColumn(score=lambda truth, prediction: {value})"
    text = source_of("rmse").replace("root_mean_over_rows(squared_error)", computation)
    text = text.replace("import Example, Metric", "import Example, Metric, WholeColumn\nimport metrics")
    assert drop("own_rmse", text).error == ""
    found = failure("own_rmse")
    assert reason in found.reason
    assert details in found.host_details


def test_answers_that_its_rules_cannot_score_fail_with_a_reason_for_the_host(drop: Drop) -> None:
    drop("own_index", source_of("concordance_index").replace("own_concordance_index", "own_index"))
    found = failure("own_index", "id,y\n1,1\n2,1\n", "id,y\n1,0.5\n2,0.25\n")
    assert found.reason == "raised GroundTruthError"
    assert "cannot be scored" in found.host_details


def test_a_column_under_its_other_name_is_found_in_any_order(drop: Drop) -> None:
    text = source_of("rmse").replace("= Metric(", '= Metric(\n    format=SubmissionFormat(aliases=("guess",)),')
    drop("own_rmse", text.replace("import Example, Metric", "import Example, Metric, SubmissionFormat"))
    assert score("own_rmse", "id,y\n1,5\n2,7\n", "guess,id\n5,1\n7,2\n").overall == 0


def test_a_kind_of_column_of_its_own_is_refused(drop: Drop) -> None:
    text = source_of("rmse").replace("\nown_rmse = ", "\nclass Mine(Number):\n    pass\n\n\nown_rmse = ")
    assert "cannot read Mine" in drop("own_rmse", text.replace("truth=Number()", "truth=Mine()")).error


# --- the home scorer, the stand-in --------------------------------------------------------------


def test_it_scores_at_home(drop: Drop, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drop("one", body("if (submission.y > 3).any(): raise ValueError('above 3')\nreturn 0.25"))
    truth, mine, bad = tmp_path / "truth.csv", tmp_path / "mine.csv", tmp_path / "bad.csv"
    truth.write_text(TRUTH)
    mine.write_text(MINE)
    bad.write_text(MINE.replace("5,1\n", "5,9\n"))
    assert main(["score", "one", str(truth), str(mine), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["public"] == 0.25
    assert main(["score", "one", str(truth), str(bad)]) == 1
    assert "above 3" in capsys.readouterr().err
    assert main(["list", "--json"]) == 0
    told = {one["key"]: one for one in json.loads(capsys.readouterr().out)}
    assert told["one"]["best"] is None
    assert main(["show", "one"]) == 0
    assert "its best value is not known" in capsys.readouterr().out
    explained = metrics.explain("one", TRUTH.encode(), MINE.encode())
    assert (explained.result.overall, len(explained.rows), explained.contributions) == (0.25, 12, [])


def test_the_stand_in_sorts_errors_by_what_they_tell() -> None:
    numbers, truths = np.array([1.0, 2.0]), np.array([True, False])
    assert stand_in.treat_as_participant_error("Mixed shapes.", numbers)
    assert not stand_in.treat_as_participant_error("Row 2 is bad.", numbers)
    assert not stand_in.treat_as_participant_error("Is FALSE.", truths)
    assert stand_in.treat_as_participant_error("Is bad.", truths)
    assert not stand_in.treat_as_participant_error("Is bad.", pd.DataFrame({"a": [1], "b": ["x"]}))

    def metric(solution: Any, submission: Any, error: Exception) -> float:
        raise error

    class ParticipantVisibleError(Exception):
        pass

    class HostVisibleError(Exception):
        pass

    cases = [
        (ParticipantVisibleError("of 5"), stand_in.ParticipantVisibleError),
        (HostVisibleError("no digit"), stand_in.HostVisibleError),
        (ValueError("no digit"), stand_in.ParticipantVisibleError),
        (ValueError("of 5"), ValueError),
    ]
    for error, expected in cases:
        with pytest.raises(expected, match=str(error)):
            stand_in.safe_call_score(metric, numbers, numbers, error=error)
    assert stand_in.safe_call_score(lambda a, b, k: float((a == b).mean()) * k, numbers, numbers, k=2) == 2.0


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([[0.5, 0.6]], "add up to one"),
        ([[-0.5, 1.5]], "at least zero"),
        ([[2.0, 0.0]], "no greater than one"),
        ([["a", 1.0]], "must be numbers"),
    ],
)
def test_the_stand_in_knows_probabilities(rows: list[list[Any]], words: str) -> None:
    stand_in.verify_valid_probabilities(pd.DataFrame([[0.25, 0.75], [1.0, 0.0]]), "submission")
    with pytest.raises(stand_in.ParticipantVisibleError, match=words):
        stand_in.verify_valid_probabilities(pd.DataFrame(rows), "submission")
