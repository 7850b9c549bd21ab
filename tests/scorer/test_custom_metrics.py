"""Custom metric files on the site: Olga adds them, Ada chooses one, Bo is scored by it or told why not."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

import metrics
from leaderboard.accounts.models import User
from leaderboard.boards import queries as boards
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import CandidateProblem, Competition, DailyAttempts, Score, Submission
from leaderboard.competitions.models.competition import Split
from leaderboard.ground_truths.services import checks, data_files, drafts, publishing
from leaderboard.ground_truths.specs import GroundTruthSpec
from leaderboard.submissions import claims, outside_queue
from metrics.core import custom
from tests.conftest import enter, make_competition, save_truth, submit
from tests.pages import signed_in, tidy
from tests.scorer_in_process import forget

pytestmark = pytest.mark.thorough

TRUTH = "id,y,Usage\n" + "".join(f"{i},{i % 4},{'Public' if i % 2 else 'Private'}\n" for i in range(1, 13))
MINE = ("id,y\n" + "".join(f"{i},{(i + 1) % 4}\n" for i in range(1, 13))).encode()
PERFECT = ("id,y\n" + "".join(f"{i},{i % 4}\n" for i in range(1, 13))).encode()

GAP = '''"""Mean gap. Lower is better.

>>> 1 + 1
3
"""

class ParticipantVisibleError(Exception):
    pass

def score(solution, submission, row_id_column_name, power: float = 1.0):
    if (submission.y < 0).any():
        raise ParticipantVisibleError("Gaps need numbers from 0 on.")
    if (submission.y > 50).any():
        raise ValueError("canary " + str(list(solution.y)))
    if (submission.y == 33).any() and solution.y.max() > 1:
        raise ParticipantVisibleError(f"Answer 33 is not {list(solution.y)}.")
    return float(((solution.y - submission.y).abs() ** power).mean())
'''

Drop = Callable[[str, str], Path]


@pytest.fixture
def metrics_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of custom metric files."""
    folder = tmp_path / "metrics"
    folder.mkdir()
    monkeypatch.setenv("METRICS_DIR", str(folder))
    custom._facts.clear()
    forget()
    (folder / "gap.py").write_text(GAP)
    return folder


@pytest.fixture
def gaps(metrics_folder: Path, ada: User, bo: User) -> Competition:
    competition = make_competition(ada, slug="gaps", metric="gap", truth=TRUTH)
    enter(competition, bo)
    return competition


def page_of(user: User, url: str) -> str:
    client = signed_in(user)
    response = client.get(url)
    assert response.status_code == 200, url
    return response.content.decode()


def used(user: User) -> int:
    return sum(DailyAttempts.objects.filter(team__memberships__user=user).values_list("used", flat=True))


def values(submission: Submission) -> dict[str, float]:
    return dict(Score.objects.filter(submission=submission).values_list("split", "value"))


def test_ada_chooses_it_and_bo_is_scored_by_it(gaps: Competition, bo: User) -> None:
    assert gaps.ground_truth is not None
    assert gaps.ground_truth.metric_version == metrics.get("gap").version
    mine = submit(gaps, bo, MINE)
    assert mine.status == "scored", mine.problems or mine.host_details
    assert values(mine) == {"public": 2.0, "private": 1.0}
    assert values(submit(gaps, bo, PERFECT)) == {"public": 0.0, "private": 0.0}
    (line,) = boards.ranked_lines(gaps, Split.PUBLIC)
    assert line.value == 0.0
    for url in ("", "leaderboard/", "submissions/", f"submissions/{mine.pk}/"):
        assert "Gap" in page_of(bo, f"/c/gaps/{url}")


def test_ada_chooses_a_file_in_the_form_of_ours_with_a_weight(
    metrics_folder: Path, tmp_path: Path, ada: User, bo: User
) -> None:
    text = metrics.get("weighted_mae").source_path.read_text()
    (tmp_path / "own_mae.py").write_text(text.replace("\nweighted_mae = ", "\nown_mae = "))
    call_command("add_metric", str(tmp_path / "own_mae.py"))
    truth = "id,y,weight,Usage\n1,1,1,Public\n2,2,3,Public\n3,3,1,Private\n4,4,1,Private\n"
    competition = make_competition(ada, slug="weighted", metric="own_mae", truth=truth)
    enter(competition, bo)
    mine = submit(competition, bo, b"id,y\n1,1\n2,4\n3,3\n4,4\n")
    assert mine.status == "scored", mine.problems or mine.host_details
    assert values(mine) == {"public": 1.5, "private": 0.0}
    refused = submit(competition, bo, b"id,y\n1,1\n2,4\n3,3\n4,many\n")
    assert (refused.status, refused.problems[0]["line"], used(bo)) == ("invalid", 5, 1)
    for url in ("/c/weighted/", f"/c/weighted/submissions/{mine.pk}/", "/metrics/own_mae/"):
        assert "Weighted" in page_of(bo, url)


def test_what_the_metric_says_of_bos_file_reaches_bo_and_costs_no_attempt(gaps: Competition, bo: User) -> None:
    mine = submit(gaps, bo, MINE.replace(b"\n1,2", b"\n1,-2"))
    assert (mine.status, mine.problems[0]["message"]) == ("invalid", "Gaps need numbers from 0 on.")
    assert used(bo) == 0
    assert "Gaps need numbers from 0 on." in page_of(bo, f"/c/gaps/submissions/{mine.pk}/")


def test_what_it_says_of_bos_file_is_the_same_in_whatever_part_a_row_is(gaps: Competition, bo: User) -> None:
    # Row 1 is public, row 2 private.
    files = [MINE.replace(b"\n1,2", b"\n1,-2"), MINE.replace(b"\n2,3", b"\n2,-2")]
    said_to_user = [(mine.status, mine.problems) for mine in (submit(gaps, bo, file) for file in files)]
    assert said_to_user[0] == said_to_user[1]
    assert [problem["message"] for problem in said_to_user[0][1]] == ["Gaps need numbers from 0 on."]


@pytest.mark.parametrize("changed", [b"\n1,33", b"\n2,33"])
@pytest.mark.attack("the truth in what a metric says")
def test_what_it_says_beside_the_true_answers_reaches_ada_alone(
    gaps: Competition, ada: User, bo: User, changed: bytes
) -> None:
    """Row 1 is public, row 2 private."""
    file = MINE.replace(b"\n1,2" if changed[1:2] == b"1" else b"\n2,3", changed)
    mine = submit(gaps, bo, file)
    assert (mine.status, mine.failure, used(bo)) == ("invalid", "", 0)
    assert "cannot be shown here" in mine.problems[0]["message"]
    part = "public" if changed[1:2] == b"1" else "private"
    assert f"Of the {part} part the metric says: Answer 33 is not" in page_of(ada, "/host/gaps/submissions/")
    for url in ("", "leaderboard/", "submissions/", f"submissions/{mine.pk}/"):
        assert "Answer 33" not in page_of(bo, f"/c/gaps/{url}")


@pytest.mark.attack("the truth in what a metric says")
def test_what_it_says_of_itself_reaches_ada_alone(
    gaps: Competition, ada: User, bo: User, caplog: pytest.LogCaptureFixture
) -> None:
    mine = submit(gaps, bo, MINE.replace(b"\n1,2", b"\n1,99"))
    assert (mine.status, mine.failure) == ("failed", claims.OUR_FAULT)
    assert mine.host_details.startswith("The metric gap raised ValueError in line 14. ValueError: canary [1, 3, 1")
    assert used(bo) == 0
    assert "canary" not in caplog.text
    assert "The metric gap raised ValueError" in caplog.text
    assert "canary [1, 3, 1" in page_of(ada, "/host/gaps/submissions/")
    for url in ("", "leaderboard/", "submissions/", f"submissions/{mine.pk}/"):
        assert "canary" not in page_of(bo, f"/c/gaps/{url}")


def test_a_ground_truth_goes_on_being_scored_by_the_version_it_was_published_with(
    gaps: Competition, metrics_folder: Path, ada: User, bo: User
) -> None:
    first = submit(gaps, bo, MINE)
    (metrics_folder / "gap.py").write_text(GAP.replace(".mean())", ".mean()) * 10"))
    forget()
    second = submit(gaps, bo, MINE + b"\n")
    assert values(first) == values(second) == {"public": 2.0, "private": 1.0}
    drafts.save_draft(competition=gaps, spec=GroundTruthSpec(metric="gap"))
    ground_truth = publishing.publish_draft(competition=gaps, user=ada)
    assert ground_truth.metric_version != gaps.ground_truth.metric_version  # type: ignore[union-attr]
    while outside_queue.rescore_batch(ground_truth.pk):
        pass
    assert dict(Score.objects.filter(ground_truth=ground_truth, submission=first).values_list("split", "value")) == {
        "public": 20.0,
        "private": 10.0,
    }


def test_without_its_file_nothing_is_scored_by_another_and_no_page_breaks(
    gaps: Competition, metrics_folder: Path, ada: User, bo: User
) -> None:
    submit(gaps, bo, MINE)
    for path in [*metrics_folder.glob("*.py"), *metrics_folder.glob(".inspected/*")]:
        path.unlink()
    forget()
    late = submit(gaps, bo, PERFECT)
    assert late.status == "failed"
    assert late.host_details.startswith('No metric is called "gap@')
    for url in ("", "leaderboard/", "submissions/", f"submissions/{late.pk}/", "submit/"):
        page_of(bo, f"/c/gaps/{url}")
    for url in ("", "truth/", "submissions/"):
        page_of(ada, f"/host/gaps/{url}")
    (line,) = boards.ranked_lines(gaps, Split.PUBLIC)
    assert line.value == 2.0
    assert gaps.ground_truth.sort_sign == 1.0  # type: ignore[union-attr]


def test_a_file_that_breaks_while_measuring_again_is_told_to_ada(
    gaps: Competition, metrics_folder: Path, ada: User, bo: User
) -> None:
    first = submit(gaps, bo, MINE.replace(b"\n1,2", b"\n1,40"))
    (metrics_folder / "gap.py").write_text(GAP.replace("> 50", "> 30"))
    drafts.save_draft(competition=gaps, spec=GroundTruthSpec(metric="gap"))
    ground_truth = publishing.publish_draft(competition=gaps, user=ada)
    while outside_queue.rescore_batch(ground_truth.pk):
        pass
    assert CandidateProblem.objects.get(submission=first).problems == [{"code": "failed", "message": claims.OUR_FAULT}]
    first.refresh_from_db()
    assert "canary" in first.host_details


def test_an_upside_down_board_is_not_published(metrics_folder: Path, ada: User) -> None:
    (metrics_folder / "gap.py").write_text(GAP.replace("Lower is better.", "Higher is better."))
    with pytest.raises(competitions.CannotHost) as caught:
        make_competition(ada, metric="gap", truth=TRUTH)
    assert any("With this metric higher is said to be better" in line for line in caught.value.details)


def test_a_broken_file_breaks_no_page(metrics_folder: Path, ada: User) -> None:
    (metrics_folder / "broken.py").write_text("import nothing_like_this")
    (metrics_folder / "asking.py").write_text("def score(solution, submission, row_id_column_name, k: int): return 1.0")
    make_competition(ada, launched=False)
    gallery = page_of(ada, "/metrics/")
    assert "Gap" in gallery
    assert "Asking" in gallery
    assert "broken" not in gallery.lower()
    assert "Mean gap." in page_of(ada, "/metrics/gap/")
    page_of(ada, "/metrics/asking/")
    assert "Required." in page_of(ada, "/host/pets/truth/metric/?metric=asking")
    assert "inf" not in tidy(page_of(ada, "/metrics/gap/")).partition("<dt>Best value</dt>")[2][:40]
    assert Client().get("/metrics/broken/").status_code == 404


def test_a_worker_has_a_new_file_loaded(metrics_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(custom, "_inspector", [None])
    assert Client().get("/metrics/gap/").status_code == 404
    call_command("inspect_metrics")
    assert "This metric has no example" in Client().get("/metrics/gap/").content.decode()


def test_the_help_of_a_parameter_ends_before_its_default_begins(metrics_folder: Path, ada: User) -> None:
    head = '    """Args:\n        power: exponent of each gap\n        floor: Does it begin at 0?\n    """\n'
    text = GAP.replace("power: float = 1.0):\n", "power: float = 1.0, floor: bool = True, k: int = 3):\n" + head)
    (metrics_folder / "gap.py").write_text(text)
    make_competition(ada, launched=False)
    page = page_of(ada, "/host/pets/truth/metric/?metric=gap")
    assert "exponent of each gap. Default: 1.0." in page
    assert "Does it begin at 0? Default: True." in page
    assert ">Default: 3." in tidy(page)


RISKS = """
class ParticipantVisibleError(Exception):
    pass

def score(solution, submission, row_id_column_name):
    'Higher is better.'
    if (submission['risk'] > 9).any():
        raise ParticipantVisibleError("A risk is above 9.")
    early = solution['time'] < solution['time'].median()
    return float((submission['risk'] * early * solution['event']).mean())
"""
TIMES = "id,time,event,Usage\n" + "".join(
    f"{i},{i * 7 % 13},{i % 2},{'Public' if i % 4 > 1 else 'Private'}\n" for i in range(1, 13)
)


def test_the_columns_of_a_submission_come_from_adas_sample_and_no_perfect_file_is_needed(
    metrics_folder: Path, ada: User, bo: User
) -> None:
    (metrics_folder / "risks.py").write_text(RISKS)
    competition = make_competition(ada, slug="risks", launched=False)
    sample = "id,risk\n" + "".join(f"{i},0.5\n" for i in range(1, 13))
    data_files.add_data_file(competition=competition, file_name="sample_submission.csv", chunks=[sample.encode()])
    draft = save_truth(competition, TIMES, metric="risks")
    assert draft.params == {"submission_columns": "id,risk\n1,0.5"}
    assert draft.report["ok"], draft.report["findings"]
    (finding,) = [finding for finding in draft.report["findings"] if finding["code"] == "no_perfect_file"]
    assert not finding["blocking"]
    page = page_of(ada, "/host/risks/truth/metric/?metric=risks")
    assert "id,risk" in page
    ground_truth = publishing.publish_draft(competition=competition, user=ada)
    assert publishing.sample_submission_of(ground_truth) == sample.encode()
    publishing.launch_competition(competition=competition)
    enter(competition, bo)
    assert submit(competition, bo, sample.encode()).status == "scored"
    refused = submit(competition, bo, sample.replace("3,0.5", "3,10").encode())
    assert (refused.status, refused.problems[0]["message"]) == ("invalid", "A risk is above 9.")
    assert "id,risk" in tidy(page_of(bo, "/c/risks/submit/")).replace(", ", ",")


def test_a_metric_that_accepts_any_columns_is_chosen_by_ada_alone(metrics_folder: Path, ada: User) -> None:
    (metrics_folder / "risks.py").write_text(RISKS)
    competition = make_competition(ada, slug="risks", launched=False)
    sample = "id,risk\n" + "".join(f"{i},0.5\n" for i in range(1, 13))
    data_files.add_data_file(competition=competition, file_name="sample_submission.csv", chunks=[sample.encode()])
    spec = GroundTruthSpec(file_name="truth.csv", chunks=[TIMES.encode()])
    draft = drafts.save_draft(competition=competition, spec=spec, suggests_metrics=True)
    assert not metrics.get(draft.metric).is_custom
    assert [fit["fits"] for fit in draft.fits if fit["key"] == "risks"] == [True]


def test_ada_names_the_columns_and_a_sample_that_comes_later_changes_nothing(metrics_folder: Path, ada: User) -> None:
    (metrics_folder / "risks.py").write_text(RISKS)
    competition = make_competition(ada, slug="risks", launched=False)
    draft = save_truth(competition, TIMES, metric="risks", params={"submission_columns": "risk\n0"})
    assert list(draft.report["submission_columns"]) == ["id", "risk"]
    sample = "id,risk\n" + "".join(f"{i},0.5\n" for i in range(1, 13))
    data_files.add_data_file(competition=competition, file_name="sample_submission.csv", chunks=[sample.encode()])
    checks.recheck_draft(competition=competition)
    draft.refresh_from_db()
    assert draft.params["submission_columns"] == "risk\n0"


def test_the_page_of_the_metric_names_numpy_and_pandas(metrics_folder: Path, ada: User) -> None:
    page = tidy(page_of(ada, "/metrics/gap/"))
    for name in ("numpy", "pandas"):
        assert version(name) in page
    assert "<dt>pandas</dt>" not in tidy(page_of(ada, "/metrics/accuracy/"))


def test_olga_adds_a_file_and_sees_how_its_doctests_came_out(
    metrics_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = tmp_path / "far.py"
    new.write_text(GAP.replace("Lower is better.", "Far."))
    with pytest.raises(CommandError, match="Give --direction"):
        call_command("add_metric", str(new))
    call_command("add_metric", str(new), "--check")
    assert not (metrics_folder / "far.py").exists()
    call_command("add_metric", str(new), "--direction", "minimize", "--best", "0", "--title", "Distance")
    said_to_user = capsys.readouterr().out
    assert "doctests: 1 of 1 failed" in said_to_user
    assert "Expected:\n        3" in said_to_user
    assert "parameter power: float, default 1.0" in said_to_user
    assert (metrics_folder / "far.py").read_text() == new.read_text()
    assert json.loads((metrics_folder / "far.json").read_text()) == {
        "direction": "minimize",
        "best": 0.0,
        "title": "Distance",
    }
    assert (metrics.get("far").title, metrics.get("far").best) == ("Distance", 0.0)
    new.write_text(new.read_text() + "\n# a remark\n")
    call_command("add_metric", str(new))  # what was said once still holds
    assert metrics.get("far").title == "Distance"


def test_olga_lists_the_folder(metrics_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("add_metric")
    assert "Files that can be used: 1." in capsys.readouterr().out
    (metrics_folder / "broken.py").write_text("x = ")
    with pytest.raises(CommandError, match="1 of 2 files can't be used"):
        call_command("add_metric")
    assert "can't be used: SyntaxError" in capsys.readouterr().out


def test_olga_is_told_what_cannot_be(metrics_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("x = 1")
    with pytest.raises(CommandError, match="It was not added"):
        call_command("add_metric", str(bad))
    with pytest.raises(CommandError, match="There is no file"):
        call_command("add_metric", str(tmp_path / "none.py"))
    monkeypatch.delenv("METRICS_DIR")
    with pytest.raises(CommandError, match="METRICS_DIR names no folder"):
        call_command("add_metric", str(bad))
