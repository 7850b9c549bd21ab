"""Ada's answers, her launch, and copies of competitions."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import queries as boards_module
from leaderboard.boards import services as boards
from leaderboard.classroom import roles
from leaderboard.classroom.models import HostingRole
from leaderboard.common.storage import path_of
from leaderboard.competitions import services as competitions
from leaderboard.competitions import tasks, wake_ups
from leaderboard.competitions.models import (
    Competition,
    DataFile,
    GroundTruth,
    Limits,
    StudentPreview,
    Submission,
    Team,
    TruthCheck,
    TruthDraft,
)
from leaderboard.ground_truths.services import copying, data_files
from leaderboard.scoring import table_jobs
from leaderboard.submissions import outside_queue
from tests.conftest import TRUTH, answers, enter, save_truth, submit
from tests.pages import signed_in, text_of, tidy, upload

ANSWERS = "id,label\n" + "".join(f"{i},{'cat' if i % 3 else 'dog'}\n" for i in range(1, 61))
SPLIT = {"public_percent": "40", "seed": "3", "split_by": "stratified", "split": "yes"}
SETUP = "/host/pond/setup/"


@pytest.fixture
def pond(ada: User) -> Competition:
    """A draft after its first step."""
    return copying.create_default_draft(user=ada, title="Pond life", slug="pond", overview="What swims there?")


def look(client: Client, text: str = ANSWERS, **fields: Any) -> Any:
    """Store a file as the answers, and draw the split."""
    save_truth(Competition.objects.get(slug="pond"), text, metric="")
    return client.post(SETUP, {**SPLIT, **fields})


def choose(client: Client, metric: str = "accuracy", **fields: Any) -> Any:
    sent = {"metric": metric, "parameters_of": metric, "action": "use", **fields}
    return client.post("/host/pond/truth/metric/", sent)


@pytest.mark.parametrize(
    ("fields", "stored"),
    [
        ({"split_by": "random", "group_column": "pool"}, (False, "")),
        ({"split_by": "stratified", "group_column": "pool"}, (True, "")),
        ({"split_by": "grouped", "group_column": "pool"}, (True, "pool")),
        ({"group_column": "pool"}, (True, "pool")),
        ({}, (True, "")),
    ],
)
def test_the_split_is_one_choice_of_three(
    hers: Client, pond: Competition, fields: dict[str, str], stored: tuple[bool, str]
) -> None:
    """A column of groups that was typed before another choice says nothing; one without a choice says enough."""
    lines = ANSWERS.splitlines()
    pools = "\n".join([f"{lines[0]},pool", *(f"{line},{number % 7}" for number, line in enumerate(lines[1:]))])
    save_truth(pond, pools)
    sent = {name: SPLIT[name] for name in ("public_percent", "seed", "split")}
    assert hers.post(SETUP, {**sent, **fields})["Location"] == f"{SETUP}#proposal"
    draft = TruthDraft.objects.get()
    assert (draft.is_stratified, draft.group_column) == stored
    page = hers.get(SETUP).content.decode()
    chosen = re.findall(r'name="split_by" value="(\w+)"[^>]*checked', page)
    assert chosen == [fields.get("split_by") or ("grouped" if "group_column" in fields else "stratified")]


def test_groups_without_their_column_are_asked_for(hers: Client, pond: Competition) -> None:
    look(hers, split_by="grouped")
    assert "Choose the group column, or another split" in text_of(hers.get(SETUP))
    assert TruthDraft.objects.get().seed == 0


# --- data and metric --------------------------------------------------------------------------------------------


def test_the_split_is_drawn_again_with_another_seed_without_a_new_upload(hers: Client, pond: Competition) -> None:
    look(hers)
    first = TruthDraft.objects.get()
    answer = hers.post(SETUP, {**SPLIT, "seed": "4", "public_percent": "50"})
    assert answer.status_code == 303
    again = TruthDraft.objects.get()
    assert (again.file_key, again.seed, again.report["public_rows"]) == (first.file_key, 4, 30)


def test_a_split_that_is_published_is_drawn_again_until_the_launch(hers: Client, pond: Competition) -> None:
    look(hers)
    assert "Redraw the split" not in hers.get(SETUP).content.decode()
    choose(hers)
    assert "Redraw the split" in hers.get(SETUP).content.decode()
    again = {**SPLIT, "public_percent": "50"}
    hers.post(SETUP, again)
    assert TruthDraft.objects.get().report["public_rows"] == 24  # not asked for
    hers.post(SETUP, {**again, "redraws_split": "on"})
    assert TruthDraft.objects.get().report["public_rows"] == 30
    choose(hers)
    assert Competition.objects.get().ground_truth.public_rows == 30  # type: ignore[union-attr]


def test_another_metric_is_measured_before_it_is_used(hers: Client, pond: Competition) -> None:
    look(hers)
    assert choose(hers, "error_rate", action="look")["Location"] == "/host/pond/truth/metric/#check"
    assert not GroundTruth.objects.exists()
    assert "Error rate" in text_of(hers.get("/host/pond/truth/metric/"))
    choose(hers, "error_rate")
    assert GroundTruth.objects.get().metric == "error_rate"


def test_a_metric_that_cannot_score_the_answers_is_not_used_and_says_why(hers: Client, pond: Competition) -> None:
    look(hers)
    assert choose(hers, "rmse")["Location"] == "/host/pond/truth/metric/#check"
    assert not GroundTruth.objects.exists()
    page = text_of(hers.get("/host/pond/truth/metric/"))
    assert "Can't be used yet" in page
    assert "are no plain number" in page


def test_a_file_that_no_metric_can_score_is_to_be_replaced(hers: Client, pond: Competition) -> None:
    look(hers, ANSWERS + "1,cat\n")
    assert "Can't be used yet" in text_of(hers.get(SETUP))
    assert "Choose another file" in text_of(hers.get("/host/pond/truth/metric/"))


def test_a_draft_proposes_whole_minutes(pond: Competition) -> None:
    assert (pond.opens_at.second, pond.opens_at.microsecond) == (0, 0)


def test_a_metric_changed_after_publication_becomes_the_next_ground_truth(hers: Client, pond: Competition) -> None:
    look(hers)
    choose(hers)
    choose(hers)  # the same again is no new one
    assert GroundTruth.objects.count() == 1
    choose(hers, "error_rate")
    pond.refresh_from_db()
    assert (pond.ground_truth.number, pond.ground_truth.metric) == (2, "error_rate")  # type: ignore[union-attr]


def test_a_check_that_breaks_loses_nothing(hers: Client, pond: Competition, monkeypatch: pytest.MonkeyPatch) -> None:
    look(hers)

    def breaks(*_: object, **__: object) -> None:
        raise table_jobs.JobFailed("it died")

    monkeypatch.setattr(table_jobs, "run_page_job", breaks)
    hers.post(SETUP, {**SPLIT, "seed": "9"})
    broken = text_of(hers.get(SETUP))
    assert "no fault of your file" in broken
    assert "it died" not in broken
    assert choose(hers, "error_rate").status_code == 503
    assert TruthDraft.objects.get().seed == 3


# --- the walk and the launch ------------------------------------------------------------------------------------


@pytest.fixture
def ready(hers: Client, pond: Competition) -> Competition:
    """Everything is there, and the sample submission waits for its score."""
    look(hers)
    choose(hers)
    return Competition.objects.get()


def test_the_launch_scores_the_sample_first_which_uses_no_attempt_and_is_on_no_board(
    hers: Client, ready: Competition
) -> None:
    hers.post(SETUP, {"launch": "yes"})
    assert Competition.objects.get().launched_at is not None
    found = StudentPreview.objects.get()
    assert found.public is not None
    assert found.private is not None
    assert not Submission.objects.filter(baseline=None).exists()
    assert not Team.objects.exists()
    assert list(boards_module.ranked_lines(ready, "public")) == []  # type: ignore[arg-type]


def test_another_ground_truth_is_tested_again(hers: Client, ready: Competition) -> None:
    outside_queue.score_preview(ready.ground_truth_id or 0)
    choose(hers, "error_rate")
    assert not StudentPreview.objects.get(ground_truth__metric="error_rate").finished_at
    hers.post("/host/pond/setup/", {"launch": "yes"})
    assert StudentPreview.objects.get(ground_truth__metric="error_rate").is_good
    assert Competition.objects.get().launched_at is not None


def test_a_sample_that_cannot_be_scored_stops_the_launch_and_says_why(
    hers: Client, ready: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    from leaderboard.scoring.scorer_answer import ScorerAnswer

    monkeypatch.setattr(
        outside_queue, "compute_outside_queue", lambda *_: ScorerAnswer(failure="It broke.", host_details="At line 3")
    )
    page = text_of(hers.post(SETUP, {"launch": "yes"}, follow=True))
    assert "sample submission" in page
    assert "At line 3" in page
    assert Competition.objects.get().launched_at is None


def test_a_sample_that_waits_for_a_scorer_stops_the_launch_until_it_is_scored(
    hers: Client, ready: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(outside_queue, "score_preview", lambda _: False)
        page = text_of(hers.post("/host/pond/setup/", {"launch": "yes"}, follow=True))
    assert "The sample submission has no score yet." in page
    hers.post("/host/pond/setup/", {"launch": "yes"})
    assert Competition.objects.get().launched_at is not None


def test_a_preview_whose_wake_up_was_lost_is_rung_for_again(
    hers: Client, ready: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[Any] = []

    def wake_workers(task: Any, *ids: object, **_: object) -> bool:
        rung.append((task, ids))
        return True

    monkeypatch.setattr(wake_ups, "wake_workers", wake_workers)
    tasks.sweep()
    assert rung == []
    StudentPreview.objects.update(sent_at=timezone.now() - timedelta(minutes=1))
    tasks.sweep()
    assert rung == [("leaderboard.submissions.tasks.score_preview", (ready.ground_truth_id,))]


def test_a_published_ground_truth_is_checked_again_beside_new_files(hers: Client, pets: Competition) -> None:
    page = text_of(hers.get("/host/pets/truth/"))
    assert "late.csv" not in page
    DataFile.objects.create(
        competition=pets,
        name="late.csv",
        file_key=pets.ground_truth.file_key,  # type: ignore[union-attr]
        sha256="x",
        size=1,
    )
    hers.post("/host/pets/truth/", {"action": "recheck"})
    page = text_of(hers.get("/host/pets/truth/"))
    assert "late.csv" in page
    assert "Remove the file" in page


def test_a_copy_has_everything_but_people_and_their_files(hers: Client, ada: User, pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
    boards.add_baseline(competition=pets, user=ada, name="Guess", file_name="g.csv", chunks=[answers(public=3)])
    data_files.add_data_file(competition=pets, file_name="train.csv", chunks=[b"id,x\n1,2\n"], description="Learn")
    Limits.objects.update(daily_attempts=7)
    Competition.objects.update(opens_at=timezone.now() - timedelta(days=9))
    this_minute = timezone.now().replace(second=0, microsecond=0)
    answer = hers.post("/host/pets/settings/", {"action": "copy", "copy-title": "Cats or dogs"})
    assert answer["Location"] == "/host/cats-or-dogs/setup/"
    copy = Competition.objects.get(slug="cats-or-dogs")
    assert (copy.overview, copy.rules, copy.limits.daily_attempts) == (pets.overview, pets.rules, 7)
    assert copy.launched_at is None
    assert this_minute <= copy.opens_at <= timezone.now() < copy.closes_at
    assert copy.admission.join_code != pets.admission.join_code
    assert [(file.name, file.description) for file in copy.data_files.all()] == [("train.csv", "Learn")]
    assert TruthDraft.objects.get().report["ok"]
    assert [baseline.name for baseline in copy.baselines.all()] == ["Guess"]
    assert not copy.teams.exists()
    assert not copy.submissions.filter(team__isnull=False).exists()
    assert hers.get("/host/cats-or-dogs/truth/metric/").status_code == 200


def test_a_copy_is_open_for_as_many_days_to_the_same_time_of_day(ada: User, pets: Competition) -> None:
    vienna = ZoneInfo("Europe/Vienna")
    opens_at, closes_at = datetime(2026, 3, 2, 23, 50, tzinfo=vienna), datetime(2026, 3, 16, 17, 0, tzinfo=vienna)
    Competition.objects.update(opens_at=opens_at, closes_at=closes_at, zone="Europe/Vienna")
    copy = copying.clone_competition(competition=Competition.objects.get(), user=ada, title="Next term")
    begun, ends = copy.opens_at.astimezone(vienna), copy.closes_at.astimezone(vienna)
    assert (ends.date() - begun.date(), ends.time()) == (timedelta(days=14), closes_at.time())


def test_a_second_copy_of_the_same_name_gets_an_address_of_its_own(hers: Client, pets: Competition) -> None:
    for _ in range(2):
        hers.post("/host/pets/settings/", {"action": "copy", "copy-title": "Pets"})
    assert set(Competition.objects.values_list("slug", flat=True)) == {"pets", "pets-2", "pets-3"}


def test_a_copy_that_fails_midway_leaves_nothing(
    hers: Client, pets: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object, **__: object) -> None:
        raise table_jobs.JobFailed("it died")

    monkeypatch.setattr(table_jobs, "run_page_job", breaks)
    assert hers.post("/host/pets/settings/", {"action": "copy", "copy-title": "Again"}).status_code == 409
    assert Competition.objects.count() == 1


def test_a_co_host_who_may_not_open_competitions_makes_no_copy(pets: Competition, dee: User) -> None:
    roles.give_role(role=HostingRole.HOST, competition=pets, name="dee")
    assert signed_in(dee).post("/host/pets/settings/", {"action": "copy", "copy-title": "Mine"}).status_code == 403


def test_a_baseline_is_removed_after_a_question(hers: Client, ada: User, pets: Competition) -> None:
    boards.add_baseline(competition=pets, user=ada, name="Guess", file_name="g.csv", chunks=[answers()])
    asked = hers.post("/host/pets/baselines/", {"action": "remove", "name": "Guess"})
    assert "Remove “Guess”?" in text_of(asked)
    assert pets.baselines.exists()
    hers.post("/host/pets/baselines/", {"action": "remove", "name": "Guess", "is_meant": "yes"})
    assert not pets.baselines.exists()


def test_a_deletion_takes_previews_and_checks_along(hers: Client, ready: Competition) -> None:
    outside_queue.score_preview(ready.ground_truth_id or 0)
    competitions.delete_competition(competition=ready)
    assert not StudentPreview.objects.exists()
    assert not TruthCheck.objects.exists()


# --- files as a spreadsheet saves them ----------------------------------------------------------------------------


def test_nothing_is_offered_where_nothing_would_help(hers: Client, pond: Competition) -> None:
    look(hers, "id,label\n1,cat\n1,dog\n")
    assert "Convert to plain CSV" not in text_of(hers.get(SETUP))
    answer = hers.post(SETUP, {"fix": "convert"}, follow=True)
    assert "There is no file to convert" in text_of(answer)


CORRECTION = "/host/pets/truth/"


def test_a_correction_from_a_spreadsheet_keeps_the_metric_that_counts(pets: Competition, hers: Client) -> None:
    text = "id;label;usage\n" + TRUTH.partition("\n")[2].replace(",", ";").replace("3;dog", "3;cat")
    hers.post(CORRECTION, {**SPLIT, "file": upload(text)})
    assert "Convert to plain CSV" in text_of(hers.get(CORRECTION))
    hers.post(CORRECTION, {"fix": "convert"})
    pets.refresh_from_db()
    assert pets.candidate is not None, "what would change is shown at once"
    assert (pets.candidate.metric, pets.title) == ("accuracy", "Cats or dogs")


def ticked(page: str) -> tuple[list[str], list[str]]:
    """All columns that may be answers, and those that are proposed."""
    boxes = re.findall(r'name="column" value="(\w+)"( checked)?', tidy(page))
    return [name for name, _ in boxes], [name for name, is_ticked in boxes if is_ticked]


def test_columns_of_a_file_that_cannot_be_read_are_not_chosen(hers: Client, pond: Competition) -> None:
    look(hers, "id,pond,label\n1,a,cat\n2,b\n")
    refused = hers.post(SETUP, {"predict_these": "yes", "column": ["label"]}, follow=True)
    assert "The file must be readable first" in text_of(refused)
    assert "id,pond,label" in path_of(TruthDraft.objects.get().file_key).read_text()


def test_a_correction_with_features_proposes_the_columns_that_count(pets: Competition, hers: Client) -> None:
    head, *lines = TRUTH.splitlines()
    text = "\n".join([f"{head},size", *(f"{line},{number % 5}.5" for number, line in enumerate(lines))])
    hers.post(CORRECTION, {**SPLIT, "file": upload(text)})
    assert ticked(hers.get(CORRECTION).content.decode()) == (["label", "size"], ["label"])
    nothing = hers.post(CORRECTION, {"predict_these": "yes"}, follow=True)
    assert "Choose at least one column" in text_of(nothing)
    hers.post(CORRECTION, {"predict_these": "yes", "column": ["label"]})
    draft = TruthDraft.objects.get()
    assert (draft.report["ok"], draft.metric, draft.report["target_columns"]) == (True, "accuracy", ["label"])
    assert not pets.data_files.exists(), "students get no copy of a correction"
