"""Olga hosts files that were written for Kaggle, unchanged, and Ada says for each what a submission looks like."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import metrics
from metrics.core import custom
from metrics.core.custom import CustomFile, read_custom_file
from metrics.tests.kaggle_files import HEAD, KAGGLE_FILES, KaggleFile

EACH_FILE = pytest.mark.parametrize("file", KAGGLE_FILES, ids=lambda file: file.key)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """METRICS_DIR."""
    monkeypatch.setenv("METRICS_DIR", str(tmp_path))
    custom._facts.clear()
    yield tmp_path
    custom._facts.clear()


def put(folder: Path, file: KaggleFile) -> CustomFile:
    (folder / f"{file.key}.py").write_text(file.text)
    return read_custom_file(folder / f"{file.key}.py")


def prepared(file: KaggleFile) -> metrics.Truth:
    return metrics.prepare(file.key, file.truth.encode(), file.params, file.id_column)


@EACH_FILE
def test_bo_gets_the_score_that_kaggle_would_give(folder: Path, file: KaggleFile) -> None:
    assert put(folder, file).error == ""
    result = prepared(file).evaluate(file.submission.encode())
    assert result.overall == pytest.approx(file.score, rel=1e-12)


@EACH_FILE
def test_ada_can_publish_it_and_is_told_where_no_perfect_file_is_known(folder: Path, file: KaggleFile) -> None:
    put(folder, file)
    report = metrics.check_truth(file.key, file.truth.encode(), file.params, file.id_column)
    assert report.ok, [finding.message for finding in report.findings]
    codes = [finding.code for finding in report.findings]
    assert ("no_perfect_file" in codes) == (not file.knows_perfect)
    assert ("Perfect file" in [one.name for one in report.baselines]) == file.knows_perfect
    assert ("overall" in report.self_test) == file.knows_perfect
    assert report.self_test["passed"]


@pytest.mark.parametrize("file", [one for one in KAGGLE_FILES if one.refused], ids=lambda file: file.key)
def test_bo_reads_what_the_metric_says_of_a_faulty_file(folder: Path, file: KaggleFile) -> None:
    put(folder, file)
    truth = prepared(file)
    for ask in (truth.evaluate, truth.check):
        with pytest.raises(metrics.SubmissionError) as caught:
            ask(file.refused.encode())
        (problem,) = caught.value.problems
        assert file.words in problem.message


# --- complaints about answers that are not the true ones --------------------------------------------------------

SAME_LABEL = """
def score(solution, submission, row_id_column_name):
    shares = submission['strength'] / submission['strength'].sum()
    if shares.isna().any():
        raise ZeroDivisionError
    if solution['label'].nunique() < 2:
        raise ParticipantVisibleError('All rows have the same label.')
    order = np.argsort(-shares.values, kind='stable')
    hits = solution['label'].values[order] == 'b'
    return float((hits * (1 - np.arange(len(hits)) / 4)).sum() / hits.sum())
"""
STRICT = SAME_LABEL.replace(
    "    shares =",
    """    if (submission['strength'] < 0).any():
        raise ParticipantVisibleError('A strength is negative.')
    shares =""",
)
CLASSES_OF_GROUPS = """
def score(solution, submission, row_id_column_name, group_column: str = 'g'):
    shares = submission['strength'] / submission['strength'].sum()
    if shares.isna().any():
        raise ZeroDivisionError
    if (solution.groupby(group_column)['label'].nunique() < 2).any():
        raise ParticipantVisibleError('A group has a single class.')
    return float(shares[solution['label'] == 'b'].sum())
"""
UNKNOWN_LABEL = """
def score(solution, submission, row_id_column_name):
    if set(submission['label']) - set(solution['label']):
        raise ParticipantVisibleError('A label is not one of the answers.')
    return float((solution['label'] == submission['label']).mean())
"""
SUM_OF_ANSWERS = """
def score(solution, submission, row_id_column_name):
    if (submission['y'] < 0).any():
        raise ParticipantVisibleError(f"Negative, and the answers add up to {solution['y'].sum()}.")
    return float((solution['y'] / submission['y'].sum()).mean())
"""


def hosted(folder: Path, key: str, text: str, truth: str, **params: Any) -> metrics.Truth:
    assert put(folder, KaggleFile(key, HEAD + text, truth, "", 0.0)).error == ""
    return metrics.prepare(key, truth.encode(), params)


def test_a_complaint_about_answers_of_ours_reaches_nobody_where_the_sample_fails_for_another_reason(
    folder: Path,
) -> None:
    truth = hosted(folder, "same", SAME_LABEL, "id,label\n1,a\n2,a\n3,b\n", submission_columns="strength\n0")
    file = b"id,strength\n1,3\n2,1\n3,2\n"
    assert truth.evaluate(file).overall == 0.75
    assert truth.check(file) == ()
    with pytest.raises(metrics.MetricFailed):
        truth.evaluate(truth.sample_submission())


def test_a_complaint_about_groups_of_ours_reaches_nobody(folder: Path) -> None:
    rows = "".join(f"{i},{'ab'[i % 2]},{'xy'[i // 2 % 2]}\n" for i in range(8))
    truth = hosted(folder, "groups", CLASSES_OF_GROUPS, f"id,label,g\n{rows}", submission_columns="strength\n0")
    file = ("id,strength\n" + "".join(f"{i},{1 + i % 2 * 2}\n" for i in range(8))).encode()
    assert truth.evaluate(file).overall == 0.75
    assert truth.check(file) == ()


def test_a_file_is_not_refused_for_labels_that_the_sample_lacks(folder: Path) -> None:
    truth = hosted(folder, "unknown", UNKNOWN_LABEL, "id,label\n1,cat\n2,dog\n3,dog\n4,cow\n")
    file = b"id,label\n1,cat\n2,dog\n3,cow\n4,cow\n"
    assert truth.evaluate(file).overall == 0.75
    assert truth.check(file) == ()


def test_a_fault_of_the_file_is_told_where_the_sample_cannot_be_scored(folder: Path) -> None:
    truth = hosted(folder, "same", STRICT, "id,label\n1,a\n2,a\n3,b\n", submission_columns="strength\n0")
    for ask in (truth.evaluate, truth.check):
        with pytest.raises(metrics.SubmissionError, match="A strength is negative"):
            ask(b"id,strength\n1,3\n2,-1\n3,2\n")


@pytest.mark.attack("the truth in what a metric says")
@pytest.mark.parametrize("answers", ["id,y\n1,5\n2,6\n", "id,y\n1,7\n2,900\n"])
def test_words_about_true_answers_reach_no_student_where_the_sample_fails(folder: Path, answers: str) -> None:
    truth = hosted(folder, "sums", SUM_OF_ANSWERS, answers, submission_columns="y\n0")
    with pytest.raises(metrics.SubmissionError) as caught:
        truth.evaluate(b"id,y\n1,-1\n2,5\n")
    assert "add up" not in caught.value.problems[0].message
    assert "add up" in caught.value.host_details


# --- the columns of a submission --------------------------------------------------------------------------------

MEAN_GAP = """
'Lower is better.'
def score(solution, submission, row_id_column_name, group_column: str = 'site'):
    return float((solution['y'] - submission['guess']).abs().mean() + 0 * len(solution[group_column]))
"""
SITES = "id,y,site\n1,1,a\n2,2,a\n3,3,b\n4,4,b\n"


@pytest.mark.parametrize(
    ("header", "columns", "sample"),
    [
        ("guess", ("id", "guess"), "1,1"),
        ("id,guess", ("id", "guess"), "1,1"),
        ("guess, id\n0.5, 9", ("id", "guess"), "1,0.5"),
        ("id,guess,site\n1,0.5,b", ("id", "guess", "site"), "1,0.5,b"),
        ('id,guess\n1,"a, b"', ("id", "guess"), '1,"a, b"'),
    ],
)
def test_ada_says_which_columns_a_submission_has(
    folder: Path, header: str, columns: tuple[str, ...], sample: str
) -> None:
    truth = hosted(folder, "gap", MEAN_GAP, SITES, submission_columns=header)
    assert truth.submission_columns == columns
    assert truth.sample_submission().decode().splitlines()[:2] == [",".join(columns), sample]


@pytest.mark.parametrize(
    ("header", "words"), [("a,a", "name of its own"), ("a,,b", "name of its own"), ("a,b\n1", "1 cells")]
)
def test_ada_is_told_which_columns_cannot_be(folder: Path, header: str, words: str) -> None:
    with pytest.raises(metrics.ParameterError, match=words):
        hosted(folder, "gap", MEAN_GAP, SITES, submission_columns=header)


def test_the_columns_are_suggested_from_adas_sample(folder: Path) -> None:
    hosted(folder, "gap", MEAN_GAP, SITES, submission_columns="guess")
    sample = b"id,guess\n1,0.5\n2,0.5\n3,0.5\n4,0.5\n"
    (fit,) = [fit for fit in metrics.suggest(SITES.encode(), sample) if fit.key == "gap"]
    assert (fit.fits, fit.params["submission_columns"]) == (True, "id,guess\n1,0.5")
    assert metrics.prepare("gap", SITES.encode(), fit.params).submission_columns == ("id", "guess")
