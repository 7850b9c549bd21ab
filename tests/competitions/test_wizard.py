"""Ada's six pages from nothing to the launch, in any order, and who is stopped on the way."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.classroom import roles
from leaderboard.classroom.models import HostingRole
from leaderboard.common.models import AuditEntry
from leaderboard.common.storage import path_of
from leaderboard.competitions import tasks
from leaderboard.competitions.models import (
    Competition,
    DataFile,
    GroundTruth,
    LaunchPlan,
    Limits,
    StudentPreview,
    Submission,
    Team,
    TruthCheck,
    TruthDraft,
)
from leaderboard.competitions.ranking import boards as boards_module
from leaderboard.competitions.scoring import score
from leaderboard.competitions.services import boards, competitions, copying, data_files, launches, truth_drafts
from leaderboard.notifications import notices
from leaderboard.notifications.models import Notice
from leaderboard.scorer import jobs_for_pages
from tests.common.languages import CODE, second_language
from tests.conftest import TRUTH, answers, enter, hand_in, make_competition, person
from tests.pages import signed_in, text_of, tidy, upload

ANSWERS = "id,label\n" + "".join(f"{i},{'cat' if i % 3 else 'dog'}\n" for i in range(1, 61))
SPLIT = {"public_percent": "40", "seed": "3", "split_by": "stratified", "action": "check"}
STEPS = ("basics", "data", "metric", "limits", "people", "launch")


@pytest.fixture
def hers(ada: User) -> Client:
    return signed_in(ada)


@pytest.fixture
def pond(ada: User) -> Competition:
    """A draft after its first step."""
    return copying.create_default_draft(user=ada, title="Pond life", slug="pond", overview="What swims there?")


def look(client: Client, text: str = ANSWERS, **fields: Any) -> Any:
    return client.post("/host/pond/setup/data/", {**SPLIT, "file": upload(text), **fields})


def choose(client: Client, metric: str = "accuracy", **fields: Any) -> Any:
    sent = {"metric": metric, "parameters_of": metric, "action": "use", **fields}
    return client.post("/host/pond/setup/metric/", sent)


def filled_in(page: str) -> dict[str, str]:
    """What a browser would send of a page's form, as it is proposed."""
    sent = dict(re.findall(r'<input type="(?:text|number|datetime-local)" name="(\w+)" value="([^"]*)"', page))
    sent |= {name: "on" for name in re.findall(r'<input type="checkbox" name="(\w+)"[^>]* checked', page)}
    sent |= dict(re.findall(r'<input type="radio" name="(\w+)" value="(\w+)"[^>]* checked', page))
    zone = re.search(r'<option value="([^"]+)" selected', page)
    return {**sent, "zone": zone[1]} if zone else sent


def student_preview(client: Client, slug: str = "pond") -> Any:
    """Send the sample and let the worker measure it."""
    client.post(f"/host/{slug}/walk/")
    score.measure_preview(Competition.objects.get(slug=slug).ground_truth_id or 0)
    return client.get(f"/host/{slug}/walk/")


def test_one_answer_file_is_enough_for_a_launch(hers: Client) -> None:
    made = hers.post("/host/new/", {"title": "Pond", "overview": "What swims there?", "zone": "Europe/Vienna"})
    assert made["Location"] == "/host/pond/setup/data/"
    assert look(hers)["Location"] == "/host/pond/setup/data/#check"
    page = text_of(hers.get("/host/pond/setup/data/"))
    assert "Ids id" in page
    assert "Answers label" in page
    assert "40 % public, seed 3, stratified" in page
    assert re.search(r"Two scores mean something from a difference of 0\.\d+ on 24 public rows", page)
    assert "How often each answer is in the parts" in page
    metric = text_of(hers.get("/host/pond/setup/metric/"))
    for name in ("Sample submission = most frequent answer", "Perfect file", "Random answers"):
        assert name in metric
    assert choose(hers)["Location"] == "/host/pond/setup/limits/"
    proposed = filled_in(hers.get("/host/pond/setup/limits/").content.decode())
    assert hers.post("/host/pond/setup/limits/", proposed)["Location"] == "/host/pond/setup/people/"
    entry = filled_in(hers.get("/host/pond/setup/people/").content.decode())
    assert hers.post("/host/pond/setup/people/", entry)["Location"] == "/host/pond/setup/launch/"
    review = hers.get("/host/pond/setup/launch/").content.decode()
    assert "Launch now" not in review
    assert 'href="/host/pond/walk/"' in review
    assert "on the steady board students read it in steps of" in text_of(student_preview(hers))
    assert "Launch now" in hers.get("/host/pond/setup/launch/").content.decode()
    assert hers.post("/host/pond/launch/")["Location"] == "/host/pond/"
    launched = Competition.objects.get()
    assert launched.launched_at is not None
    assert launched.zone == "Europe/Vienna"
    assert (launched.closes_at - launched.opens_at).days == 14


def test_what_was_saved_is_there_when_ada_comes_back_to_any_step(hers: Client, pond: Competition) -> None:
    look(hers)
    basics = filled_in(hers.get("/host/pond/setup/basics/").content.decode())
    answer = hers.post("/host/pond/setup/basics/", {**basics, "overview": "Newts?", "rules": "", "zone": "UTC"})
    assert answer["Location"] == "/host/pond/setup/data/"
    assert Competition.objects.get().overview == "Newts?"
    page = text_of(hers.get("/host/pond/setup/data/"))
    assert "truth.csv" in page
    assert "40 % public" in page


def done(client: Client) -> list[str]:
    page = tidy(client.get("/host/pond/setup/launch/").content.decode())
    return re.findall(r"<span>([^<]+)<span class=\"visually-hidden\">\(done\)", page)


def test_a_step_is_done_when_ada_has_saved_it_and_not_because_something_is_proposed(
    hers: Client, pond: Competition
) -> None:
    look(hers)
    choose(hers)
    assert done(hers) == ["Basics", "Data and truth", "Metric"]
    assert hers.get("/host/pond/setup/")["Location"] == "/host/pond/setup/limits/"
    for step in ("limits", "people"):
        hers.post(f"/host/pond/setup/{step}/", filled_in(hers.get(f"/host/pond/setup/{step}/").content.decode()))
    assert done(hers) == ["Basics", "Data and truth", "Metric", "Limits and dates", "People"]
    assert hers.get("/host/pond/setup/")["Location"] == "/host/pond/setup/launch/"
    copy = copying.clone_competition(
        competition=Competition.objects.get(), user=User.objects.get(username="ada"), title="Lake"
    )
    assert (copy.limits.is_proposed, copy.admission.is_proposed) == (True, True)


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
    split = {name: SPLIT[name] for name in ("public_percent", "seed", "action")}
    sent = {**split, **fields, "file": upload(pools)}
    assert hers.post("/host/pond/setup/data/", sent)["Location"] == "/host/pond/setup/data/#check"
    draft = TruthDraft.objects.get()
    assert (draft.is_stratified, draft.group_column) == stored
    page = hers.get("/host/pond/setup/data/").content.decode()
    chosen = re.findall(r'name="split_by" value="(\w+)"[^>]*checked', page)
    assert chosen == [fields.get("split_by") or ("grouped" if "group_column" in fields else "stratified")]


def test_groups_without_their_column_are_asked_for(hers: Client, pond: Competition) -> None:
    refused = look(hers, split_by="grouped")
    assert refused.status_code == 422
    assert "Name the column whose rows belong together" in text_of(refused)
    assert not TruthDraft.objects.exists()


@pytest.mark.parametrize("step", STEPS)
def test_every_step_opens_in_a_draft_of_any_age_and_leads_on_afterwards(
    hers: Client, pond: Competition, pets: Competition, step: str
) -> None:
    assert hers.get(f"/host/pond/setup/{step}/").status_code == 200
    moved = hers.get(f"/host/pets/setup/{step}/")
    assert moved.status_code == 302
    assert "setup" not in moved["Location"]


@pytest.mark.parametrize("step", STEPS)
def test_a_step_takes_few_queries(hers: Client, pond: Competition, step: str) -> None:
    look(hers)
    choose(hers)
    with CaptureQueriesContext(connection) as queries:
        hers.get(f"/host/pond/setup/{step}/")
    assert len(queries) <= 12, [query["sql"] for query in queries]


def test_the_way_goes_on_where_something_is_missing(hers: Client, ada: User) -> None:
    copying.create_default_draft(user=ada, title="Pond", slug="pond")
    assert hers.get("/host/pond/setup/")["Location"] == "/host/pond/setup/basics/"
    Competition.objects.update(overview="What?")
    assert hers.get("/host/pond/setup/")["Location"] == "/host/pond/setup/data/"
    look(hers)
    assert hers.get("/host/pond/setup/")["Location"] == "/host/pond/setup/metric/"
    choose(hers)
    assert hers.get("/host/pond/setup/")["Location"] == "/host/pond/setup/limits/"


# --- data and metric --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", ["host_competition", "host_setup_launch"])
def test_who_comes_from_the_checklist_is_led_back_to_it(hers: Client, pond: Competition, origin: str) -> None:
    now = timezone.now()
    past = {"opens_at": now - timedelta(days=2), "closes_at": now - timedelta(days=1)}
    competitions.change_competition(competition=pond, user=None, overview="", **past)
    checklist = reverse(origin, kwargs={"slug": "pond"})
    links = re.findall(r'<a href="([^"]+)">Do this', tidy(hers.get(checklist).content.decode()))
    truth, basics, limits = links[:3]
    for link, fields in ((basics, {"overview": "Newts?"}), (limits, {"closes_at": "2099-01-01T12:00"})):
        page = hers.get(link).content.decode()
        assert "Save and go back to the checklist" in page
        assert f'<a class="button quiet" href="{checklist}">' in page
        assert hers.post(link, filled_in(page) | {"zone": "UTC"} | fields)["Location"] == checklist, link
    looked = hers.post(truth, {**SPLIT, "file": upload(ANSWERS)})
    assert looked["Location"] == f"/host/pond/setup/data/?back={origin}#check"
    page = tidy(hers.get(looked["Location"]).content.decode())
    metric = re.search(r'href="([^"]+)">Continue to the metric', page)
    assert metric
    sent = {"metric": "accuracy", "parameters_of": "accuracy"}
    measured = hers.post(metric[1], {**sent, "action": "look"})
    assert measured["Location"] == f"/host/pond/setup/metric/?back={origin}#check"
    assert hers.post(metric[1], {**sent, "action": "use"})["Location"] == checklist


def test_nobody_is_led_anywhere_else_by_an_address(hers: Client, pond: Competition) -> None:
    for elsewhere in ("https://evil.example", "//evil.example", "host_delete", "my_data", "no such page"):
        page = hers.get("/host/pond/setup/people/", {"back": elsewhere}).content.decode()
        assert "Save and continue" in page
        answer = hers.post(f"/host/pond/setup/people/?back={elsewhere}", filled_in(page))
        assert answer["Location"] == "/host/pond/setup/launch/"


def test_the_split_is_drawn_again_with_another_seed_without_a_new_upload(hers: Client, pond: Competition) -> None:
    look(hers)
    first = TruthDraft.objects.get()
    answer = hers.post("/host/pond/setup/data/", {**SPLIT, "seed": "4", "public_percent": "50"})
    assert answer.status_code == 303
    again = TruthDraft.objects.get()
    assert (again.file_key, again.seed, again.report["public_rows"]) == (first.file_key, 4, 30)


def test_a_split_that_is_published_is_drawn_again_until_the_launch(hers: Client, pond: Competition) -> None:
    look(hers)
    assert "Draw the split anew" not in hers.get("/host/pond/setup/data/").content.decode()
    choose(hers)
    assert "Draw the split anew" in hers.get("/host/pond/setup/data/").content.decode()
    again = {**SPLIT, "public_percent": "50"}
    hers.post("/host/pond/setup/data/", again)
    assert TruthDraft.objects.get().report["public_rows"] == 24  # not asked for
    hers.post("/host/pond/setup/data/", {**again, "redraws_split": "on"})
    assert TruthDraft.objects.get().report["public_rows"] == 30
    choose(hers)
    assert Competition.objects.get().ground_truth.public_rows == 30  # type: ignore[union-attr]


def test_another_metric_is_measured_before_it_is_used(hers: Client, pond: Competition) -> None:
    look(hers)
    assert choose(hers, "error_rate", action="look")["Location"] == "/host/pond/setup/metric/#check"
    assert not GroundTruth.objects.exists()
    assert "Measured with Error rate" in text_of(hers.get("/host/pond/setup/metric/"))
    choose(hers, "error_rate")
    assert GroundTruth.objects.get().metric == "error_rate"


def test_a_metric_that_cannot_score_the_answers_is_not_used_and_says_why(hers: Client, pond: Competition) -> None:
    look(hers)
    assert choose(hers, "rmse")["Location"] == "/host/pond/setup/metric/#check"
    assert not GroundTruth.objects.exists()
    page = text_of(hers.get("/host/pond/setup/metric/"))
    assert "Something blocks" in page
    assert "are no plain number" in page


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        (ANSWERS.replace(",", ";"), "Or correct the file yourself and choose it again below."),
        (ANSWERS + "1,cat\n", "Correct the file and choose it again below."),
    ],
    ids=["semicolons", "an id twice"],
)
def test_a_file_that_no_metric_can_score_is_to_be_replaced_and_no_step_is_done(
    hers: Client, pond: Competition, text: str, advice: str
) -> None:
    look(hers, text)
    page = text_of(hers.get("/host/pond/setup/data/"))
    assert "Something blocks" in page
    assert advice in page
    assert "Continue to the metric" not in page
    assert "Data and truth (done)" not in page
    assert "Choose another file" in text_of(hers.get("/host/pond/setup/metric/"))
    assert hers.get("/host/pond/setup/")["Location"] == "/host/pond/setup/data/"
    look(hers)
    page = text_of(hers.get("/host/pond/setup/data/"))
    assert "Continue to the metric" in page
    assert "Data and truth (done)" in page


def test_a_metric_that_does_not_fit_is_no_fault_of_the_file(hers: Client, pond: Competition) -> None:
    look(hers)
    choose(hers, "rmse")
    page = text_of(hers.get("/host/pond/setup/data/"))
    assert "Data and truth (done)" in page
    assert "Choose another file" not in text_of(hers.get("/host/pond/setup/metric/"))


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


def test_ada_reads_how_many_steps_a_steady_board_would_have(hers: Client, pond: Competition) -> None:
    look(hers)
    choose(hers)
    ground_truth = GroundTruth.objects.get()
    page = text_of(hers.get("/host/pond/setup/limits/"))
    found = re.search(r"From the best file that knows nothing \(([\d.]+)\) to a perfect one it is (\d+) step", page)
    assert found
    assert ground_truth.step
    assert int(found[2]) == int((1 - float(found[1])) / ground_truth.step)
    assert "A class sees little progress then" in page
    GroundTruth.objects.update(step=0.001)
    assert "A class sees little progress then" not in text_of(hers.get("/host/pond/setup/limits/"))


def test_a_planned_launch_stands_in_the_list_of_competitions(hers: Client, pond: Competition) -> None:
    assert "launches" not in text_of(hers.get("/host/"))
    LaunchPlan.objects.update(launches_at=timezone.now() + timedelta(days=1))
    assert "launches" in text_of(hers.get("/host/"))


def test_a_proposed_steady_board_becomes_plain_where_no_step_follows(hers: Client, pond: Competition) -> None:
    """One row in each part: no uncertainty can be worked out, and the next step must not be blocked by that."""
    look(hers, "id,label,Usage\n1,cat,Public\n2,dog,Private\n")
    page = text_of(hers.post("/host/pond/setup/metric/", {"metric": "accuracy", "action": "use"}, follow=True))
    assert "it is plain now" in page
    assert Competition.objects.get().board.mode == "plain"


def test_a_check_that_breaks_loses_nothing(hers: Client, pond: Competition, monkeypatch: pytest.MonkeyPatch) -> None:
    look(hers)

    def breaks(*_: object, **__: object) -> None:
        raise jobs_for_pages.JobFailed("it died")

    monkeypatch.setattr(jobs_for_pages, "run_page_job", breaks)
    broken = look(hers, seed="9")
    assert broken.status_code == 503
    assert "no fault of your file" in text_of(broken)
    assert "it died" not in text_of(broken)
    assert choose(hers, "error_rate").status_code == 503
    assert TruthDraft.objects.get().seed == 3


def test_answers_in_a_file_for_students_block_wherever_they_come_from(hers: Client, pond: Competition) -> None:
    look(hers)
    refused = hers.post("/host/pond/setup/data/", {"action": "add", "file": upload(ANSWERS, "test.csv")})
    assert refused.status_code == 409
    assert "is the ground-truth file itself" in text_of(refused)
    assert not DataFile.objects.exists()
    truth_drafts.discard_draft(competition=pond)
    hers.post("/host/pond/setup/data/", {"action": "add", "file": upload(ANSWERS + "99,cat\n", "test.csv")})
    look(hers)
    page = text_of(hers.get("/host/pond/setup/data/"))
    assert "holds the answers of 60 scored ids" in page
    assert choose(hers)["Location"] == "/host/pond/setup/metric/#check"
    assert not GroundTruth.objects.exists()


# --- the walk and the launch ------------------------------------------------------------------------------------


@pytest.fixture
def ready(hers: Client, pond: Competition) -> Competition:
    """Everything is there but the walk."""
    look(hers)
    choose(hers)
    return Competition.objects.get()


def test_nobody_launches_from_a_page_without_having_walked(hers: Client, ready: Competition) -> None:
    page = text_of(hers.post("/host/pond/launch/", follow=True))
    assert "Missing: You have walked the student's way with the sample submission." in page
    assert Competition.objects.get().launched_at is None


def test_the_preview_uses_no_attempt_and_is_on_no_board(hers: Client, ready: Competition) -> None:
    student_preview(hers)
    found = StudentPreview.objects.get()
    assert found.public is not None
    assert found.private is not None
    assert not Submission.objects.exists()
    assert not Team.objects.exists()
    assert list(boards_module.ranked_lines(ready, "public")) == []  # type: ignore[arg-type]


def test_another_ground_truth_is_walked_again(hers: Client, ready: Competition) -> None:
    student_preview(hers)
    choose(hers, "error_rate")
    assert "Launch now" not in text_of(hers.get("/host/pond/setup/launch/"))


def test_a_sample_that_cannot_be_scored_stops_the_launch_and_says_why(
    hers: Client, ready: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    from leaderboard.competitions.scoring.measuring import MeasuringOutcome

    monkeypatch.setattr(
        score, "measure_slow_submission", lambda *_: MeasuringOutcome(failure="It broke.", host_details="At line 3")
    )
    page = text_of(student_preview(hers))
    assert "The sample submission could not be scored" in page
    assert "At line 3" in page
    assert "Missing: You have walked" in text_of(hers.post("/host/pond/launch/", follow=True))


def test_a_preview_that_waits_is_asked_for_until_it_ends(hers: Client, ready: Competition) -> None:
    hers.post("/host/pond/walk/")
    waiting = hers.get("/host/pond/walk/", headers={"HX-Request": "true"})
    assert waiting.status_code == 200
    assert "waiting for the scorer" in text_of(waiting)
    score.measure_preview(ready.ground_truth_id or 0)
    assert hers.get("/host/pond/walk/", headers={"HX-Request": "true"}).status_code == 286


def test_a_preview_whose_wake_up_was_lost_is_rung_for_again(
    hers: Client, ready: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    hers.post("/host/pond/walk/")
    rung: list[Any] = []

    def wake_workers(task: Any, *ids: object, **_: object) -> bool:
        rung.append((task.name, ids))
        return True

    monkeypatch.setattr(tasks, "wake_workers", wake_workers)
    tasks.sweep()
    assert rung == []
    StudentPreview.objects.update(sent_at=timezone.now() - timedelta(minutes=1))
    tasks.sweep()
    assert rung == [("leaderboard.competitions.tasks.measure_preview", (ready.ground_truth_id,))]


def test_a_planned_time_stands_in_its_field_and_a_second_tab_is_told_that_it_was_cancelled(
    hers: Client, pond: Competition
) -> None:
    LaunchPlan.objects.update(launches_at=datetime(2050, 7, 1, 6, 30, tzinfo=ZoneInfo("UTC")))
    Competition.objects.update(zone="Europe/Vienna")
    assert 'value="2050-07-01T08:30"' in hers.get("/host/pond/setup/launch/").content.decode()
    cancel = {"action": "cancel", **seen_on(hers)}
    assert "The launch is cancelled" in text_of(hers.post("/host/pond/setup/launch/", cancel, follow=True))
    assert "No launch is planned any more" in text_of(hers.post("/host/pond/setup/launch/", cancel, follow=True))


def seen_on(client: Client) -> dict[str, str]:
    """What the forms of the last page carry of the plan that it showed."""
    return dict(re.findall(r'name="(seen)" value="([^"]*)"', client.get("/host/pond/setup/launch/").content.decode()))


def test_a_plan_of_another_tab_is_shown_and_not_overwritten(hers: Client, ada: User, pond: Competition) -> None:
    monday, tuesday, friday = (f"{timezone.now() + timedelta(days=day):%Y-%m-%dT%H:%M}" for day in (1, 2, 5))

    def plan(wall: str, seen: dict[str, str], action: str = "schedule") -> Any:
        return hers.post("/host/pond/setup/launch/", {"action": action, "launches_at": wall, **seen})

    nothing = seen_on(hers)
    assert plan(monday, nothing).status_code == 303
    first = seen_on(hers)
    assert plan(tuesday, first).status_code == 303
    held = Competition.objects.get().launch_plan.launches_at
    for late in (nothing, first):
        refused = plan(friday, late)
        assert refused.status_code == 409
        assert "The plan was changed meanwhile: the launch is now planned for" in text_of(refused)
        assert f'value="{friday}"' in refused.content.decode(), "what was typed is still there"
        assert Competition.objects.get().launch_plan.launches_at == held
    stored = plan("", first, "cancel")
    assert (stored.status_code, Competition.objects.get().launch_plan.launches_at) == (409, held)
    assert "Yours was not taken" in text_of(stored)
    again = dict(re.findall(r'name="(seen)" value="([^"]*)"', refused.content.decode()))
    assert plan(friday, again).status_code == 303, "who has read it and means it sends the same page once more"
    assert AuditEntry.objects.filter(event="launch_scheduled").count() == 3


def test_who_changes_a_plan_that_was_cancelled_meanwhile_is_told(hers: Client, pond: Competition) -> None:
    LaunchPlan.objects.update(launches_at=timezone.now() + timedelta(days=1))
    seen = seen_on(hers)
    hers.post("/host/pond/setup/launch/", {"action": "cancel", **seen})
    later = f"{timezone.now() + timedelta(days=2):%Y-%m-%dT%H:%M}"
    refused = hers.post("/host/pond/setup/launch/", {"action": "schedule", "launches_at": later, **seen})
    assert refused.status_code == 409
    assert "no launch is planned any more" in text_of(refused)
    assert Competition.objects.get().launch_plan.launches_at is None


def planned(client: Client, competition: Competition) -> None:
    """Plan a launch and let its moment come."""
    soon = (timezone.now() + timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M")
    answer = client.post("/host/pond/setup/launch/", {"action": "schedule", "launches_at": soon})
    assert answer.status_code == 303
    LaunchPlan.objects.filter(pk=competition.pk).update(launches_at=timezone.now() - timedelta(seconds=1))


def test_a_planned_launch_happens_by_itself_and_is_in_the_audit_log(hers: Client, ready: Competition) -> None:
    student_preview(hers)
    tasks.launch_due_competitions()
    assert Competition.objects.get().launched_at is None
    planned(hers, ready)
    tasks.launch_due_competitions()
    tasks.launch_due_competitions()
    launched = Competition.objects.get()
    assert launched.launched_at is not None
    assert launched.launch_plan.launches_at is None
    events = list(AuditEntry.objects.order_by("number").values_list("event", flat=True))
    assert events.count("launched") == 1
    assert [notice.title for notice in Notice.objects.all()] == ["“Pond life” is launched, as planned."]
    assert "launch_scheduled" in events


def test_who_takes_away_what_a_planned_launch_needs_reads_so_on_the_next_page(hers: Client, ready: Competition) -> None:
    student_preview(hers)
    planned(hers, ready)
    warning = "What is missing then leaves it a draft"
    assert warning not in text_of(hers.get("/host/pond/setup/data/"))
    Competition.objects.update(overview="")
    page = text_of(hers.get("/host/pond/setup/data/"))
    assert warning in page
    assert "Missing: The overview says what the question is." in page
    LaunchPlan.objects.update(launches_at=None)
    assert warning not in text_of(hers.get("/host/pond/setup/data/"))


def test_the_list_says_of_a_planned_launch_that_something_is_missing(
    hers: Client, ready: Competition, cy: User, django_assert_max_num_queries: Any
) -> None:
    student_preview(hers)
    warning = '<span class="badge warning">Something is missing</span>'
    way = 'href="/host/pond/setup/launch/"'
    ready.assistants.add(cy)
    planned(hers, ready)
    assert warning not in hers.get("/host/").content.decode()
    competitions.change_competition(competition=ready, user=ready.hosts.get(), overview="")
    page = hers.get("/host/").content.decode()
    assert warning in page
    assert way in page
    for number in range(12):
        other = copying.create_default_draft(user=ready.hosts.get(), title=f"Draft {number}", slug=f"draft-{number}")
        LaunchPlan.objects.filter(pk=other.pk).update(launches_at=timezone.now() + timedelta(days=1))
    with django_assert_max_num_queries(12):
        assert hers.get("/host/").content.decode().count(warning) == 13
    # An assistant reads it, and is led to no page that is shut.
    page = signed_in(cy).get("/host/").content.decode()
    assert warning in page
    assert way not in page
    LaunchPlan.objects.update(launches_at=None)
    assert warning not in hers.get("/host/").content.decode()


def test_a_launch_that_came_hours_late_is_not_called_punctual(hers: Client, ready: Competition) -> None:
    student_preview(hers)
    planned(hers, ready)
    LaunchPlan.objects.update(launches_at=timezone.now() - timedelta(hours=3))
    tasks.launch_due_competitions()
    notice = Notice.objects.get()
    assert notice.title == "“Pond life” is launched, later than planned"
    assert re.fullmatch(r"It was planned for .+\. This site was not able to launch it before .+\.", notice.text)


@pytest.mark.parametrize("is_previewed", [True, False])
def test_who_dies_between_a_planned_launch_and_its_telling_leaves_both_to_the_next(
    hers: Client, ready: Competition, monkeypatch: pytest.MonkeyPatch, is_previewed: bool
) -> None:
    if is_previewed:
        student_preview(hers)
    planned(hers, ready)

    def dies(*_args: object, **_more: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(notices, "notify", dies)
        with pytest.raises(SystemExit):
            tasks.launch_due_competitions()
    waits = Competition.objects.get()
    assert (waits.launched_at, waits.launch_plan.trouble) == (None, [])
    assert waits.launch_plan.launches_at is not None
    assert not AuditEntry.objects.filter(event__in=["launched", "launch_missed"]).exists()
    tasks.launch_due_competitions()
    tasks.launch_due_competitions()
    assert (Competition.objects.get().launched_at is not None) == is_previewed
    assert Notice.objects.count() == 1
    assert AuditEntry.objects.filter(event__in=["launched", "launch_missed"]).count() == 1


def test_a_planned_launch_with_something_missing_leaves_a_draft_that_says_so(
    hers: Client, ada: User, ready: Competition
) -> None:
    planned(hers, ready)
    tasks.launch_due_competitions()
    tasks.launch_due_competitions()
    assert Competition.objects.get().launched_at is None
    page = text_of(hers.get("/host/pond/"))
    assert "The planned launch did not happen" in page
    assert "Missing: You have walked the student's way" in page
    assert AuditEntry.objects.filter(event="launch_missed").count() == 1
    said_to_user = Notice.objects.get(user=ada)
    assert said_to_user.title == "The planned launch of “Pond life” did not happen"
    assert "Missing: You have walked" in said_to_user.text


def test_why_a_planned_launch_did_not_happen_is_read_and_told_in_each_hosts_language(
    hers: Client, ready: Competition, ada: User, cy: User
) -> None:
    ready.hosts.add(cy)
    with second_language():
        User.objects.filter(pk=cy.pk).update(language=CODE)
        planned(hers, ready)
        tasks.launch_due_competitions()
        said_to_user = dict(Notice.objects.values_list("user__username", "text"))
        assert "Missing: You have walked the student's way" in said_to_user["ada"]
        assert "⟦Missing: ⟦You have walked the student's way" in said_to_user["cy"]
        for page in ("/host/pond/", "/host/pond/setup/launch/"):
            assert "<li>Missing: You have walked" in hers.get(page).content.decode().replace("&#x27;", "'")
            assert "<li>⟦Missing: ⟦You have walked" in signed_in(cy).get(page).content.decode()
    # Kept by an earlier version, as a sentence.
    LaunchPlan.objects.update(trouble=["Missing: A deadline."])
    assert "<li>Missing: A deadline.</li>" in hers.get("/host/pond/").content.decode()


def test_a_planned_launch_is_taken_back(hers: Client, ready: Competition) -> None:
    student_preview(hers)
    planned(hers, ready)
    assert "It launches by itself" in text_of(hers.get("/host/pond/"))
    hers.post("/host/pond/setup/launch/", {"action": "cancel", **seen_on(hers)})
    tasks.launch_due_competitions()
    assert Competition.objects.get().launched_at is None


def test_a_planned_launch_is_taken_back_while_its_moment_is_looked_at(
    hers: Client, ready: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    student_preview(hers)
    planned(hers, ready)
    looked_at, cancel = launches.launch_needs, {"action": "cancel", **seen_on(hers)}

    def slowly(competition: Competition) -> list[launches.LaunchNeed]:
        hers.post("/host/pond/setup/launch/", cancel)
        return looked_at(competition)

    monkeypatch.setattr(launches, "launch_needs", slowly)
    tasks.launch_due_competitions()
    assert Competition.objects.get().launched_at is None
    assert not Notice.objects.exists()


@pytest.mark.parametrize(
    ("moment", "words"),
    [("2020-01-01T00:00", "has passed"), ("2090-01-01T00:00", "before the deadline"), ("soon", "a date with a time")],
)
def test_a_launch_is_planned_for_a_moment_that_can_be(
    hers: Client, ready: Competition, moment: str, words: str
) -> None:
    answer = hers.post("/host/pond/setup/launch/", {"action": "schedule", "launches_at": moment})
    assert answer.status_code in (409, 422)
    assert words in text_of(answer)
    assert Competition.objects.get().launch_plan.launches_at is None


# --- the check, and copies --------------------------------------------------------------------------------------


def test_a_published_ground_truth_is_checked_again_beside_new_files(hers: Client, pets: Competition) -> None:
    page = text_of(hers.get("/host/pets/truth/check/"))
    assert "No file for students holds the answers Fine" in page
    DataFile.objects.create(
        competition=pets,
        name="late.csv",
        file_key=pets.ground_truth.file_key,  # type: ignore[union-attr]
        sha256="x",
        size=1,
    )
    hers.post("/host/pets/truth/check/")
    page = text_of(hers.get("/host/pets/truth/check/"))
    assert "No file for students holds the answers No, and it blocks" in page
    assert "late.csv" in page
    assert "Remove the file" in page


def test_the_check_of_an_old_ground_truth_shows_what_was_found_then(hers: Client, pets: Competition) -> None:
    TruthCheck.objects.all().delete()
    assert "Found at publication." in text_of(hers.get("/host/pets/truth/check/"))


def test_a_copy_has_everything_but_people_and_their_files(hers: Client, pets: Competition, bo: User) -> None:
    enter(pets, bo)
    hand_in(pets, bo, answers())
    data_files.add_data_file(competition=pets, file_name="train.csv", chunks=[b"id,x\n1,2\n"], description="Learn")
    Limits.objects.update(daily_attempts=7)
    Competition.objects.update(opens_at=timezone.now() - timedelta(days=9))
    answer = hers.post("/host/pets/clone/", {"title": "Cats or dogs", "slug": ""})
    assert answer["Location"] == "/host/cats-or-dogs/setup/"
    copy = Competition.objects.get(slug="cats-or-dogs")
    assert (copy.overview, copy.rules, copy.limits.daily_attempts) == (pets.overview, pets.rules, 7)
    assert copy.launched_at is None
    assert copy.opens_at > timezone.now() - timedelta(minutes=1)
    assert copy.closes_at > timezone.now()
    assert copy.admission.join_code != pets.admission.join_code
    assert [(file.name, file.description) for file in copy.data_files.all()] == [("train.csv", "Learn")]
    assert TruthDraft.objects.get().report["ok"]
    assert not copy.ground_truths.exists()
    assert not copy.teams.exists()
    assert not copy.submissions.exists()
    assert hers.get("/host/cats-or-dogs/setup/metric/").status_code == 200


def test_a_copy_is_open_for_as_many_days_to_the_same_time_of_day(ada: User, pets: Competition) -> None:
    vienna = ZoneInfo("Europe/Vienna")
    opens_at, closes_at = datetime(2026, 3, 2, 23, 50, tzinfo=vienna), datetime(2026, 3, 16, 17, 0, tzinfo=vienna)
    Competition.objects.update(opens_at=opens_at, closes_at=closes_at, zone="Europe/Vienna")
    copy = copying.clone_competition(competition=Competition.objects.get(), user=ada, title="Next term")
    begun, ends = copy.opens_at.astimezone(vienna), copy.closes_at.astimezone(vienna)
    assert (ends.date() - begun.date(), ends.time()) == (timedelta(days=14), closes_at.time())


def test_in_a_copy_teams_can_change_until_as_near_the_deadline(hers: Client, ada: User, pets: Competition) -> None:
    now = timezone.now()
    last_term = {"opens_at": now - timedelta(days=40), "closes_at": now - timedelta(days=10)}
    Competition.objects.update(**last_term)
    Limits.objects.update(teams_close_at=now - timedelta(days=13))
    copy = copying.clone_competition(competition=Competition.objects.get(), user=ada, title="Next term")
    assert copy.limits.teams_close_at == copy.closes_at - timedelta(days=3)
    assert copy.why_teams_are_closed(now) == ""
    Limits.objects.filter(competition__slug="pets").update(teams_close_at=now - timedelta(days=90))
    again = copying.clone_competition(competition=Competition.objects.get(slug="pets"), user=ada, title="After that")
    assert again.limits.teams_close_at is None


def test_a_copy_with_baselines_has_its_ground_truth_published(hers: Client, ada: User, pets: Competition) -> None:
    boards.add_baseline(competition=pets, user=ada, name="Guess", file_name="g.csv", chunks=[answers(public=3)])
    hers.post("/host/pets/clone/", {"title": "Next term", "slug": "next", "with_baselines": "on"})
    copy = Competition.objects.get(slug="next")
    assert copy.ground_truth is not None
    assert [baseline.name for baseline in copy.baselines.all()] == ["Guess"]


def test_a_second_copy_of_the_same_name_gets_an_address_of_its_own(hers: Client, pets: Competition) -> None:
    for _ in range(2):
        hers.post("/host/pets/clone/", {"title": "Pets", "slug": ""})
    assert set(Competition.objects.values_list("slug", flat=True)) == {"pets", "pets-2", "pets-3"}


def test_an_address_in_use_makes_no_copy(hers: Client, pets: Competition) -> None:
    answer = hers.post("/host/pets/clone/", {"title": "Again", "slug": "pets"})
    assert answer.status_code == 422
    assert "Another competition has this address" in text_of(answer)


def test_a_copy_that_fails_midway_leaves_nothing(
    hers: Client, pets: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object, **__: object) -> None:
        raise jobs_for_pages.JobFailed("it died")

    monkeypatch.setattr(jobs_for_pages, "run_page_job", breaks)
    assert hers.post("/host/pets/clone/", {"title": "Again", "slug": "again"}).status_code == 503
    assert Competition.objects.count() == 1


def test_a_co_host_who_may_not_open_competitions_makes_no_copy(pets: Competition, dee: User) -> None:
    roles.give_role(role=HostingRole.HOST, competition=pets, name="dee")
    assert signed_in(dee).post("/host/pets/clone/", {"title": "Mine"}).status_code == 403


def test_a_baseline_is_removed_after_a_question(hers: Client, ada: User, pets: Competition) -> None:
    boards.add_baseline(competition=pets, user=ada, name="Guess", file_name="g.csv", chunks=[answers()])
    asked = hers.post("/host/pets/baselines/", {"action": "remove", "name": "Guess"})
    assert "Remove “Guess”?" in text_of(asked)
    assert pets.baselines.exists()
    hers.post("/host/pets/baselines/", {"action": "remove", "name": "Guess", "is_meant": "yes"})
    assert not pets.baselines.exists()


def test_a_deletion_takes_previews_and_checks_along(hers: Client, ready: Competition) -> None:
    student_preview(hers)
    competitions.delete_competition(competition=ready)
    assert not StudentPreview.objects.exists()
    assert not TruthCheck.objects.exists()


def test_students_and_other_hosts_see_nothing_of_a_draft(pond: Competition, bo: User) -> None:
    hal = person("hal", can_host=True)
    make_competition(hal, slug="hals", truth=TRUTH)
    for user in (bo, hal):
        for step in STEPS:
            assert signed_in(user).get(f"/host/pond/setup/{step}/").status_code == 404


# --- files as a spreadsheet saves them ----------------------------------------------------------------------------

SPREADSHEET = "\ufeff;id;label;USAGE\r\n" + "".join(
    f"{i};{i + 1};{'cat' if i % 3 else 'dog'};{'Public' if i % 4 == 0 else 'private'}\r\n" for i in range(60)
)


def test_a_spreadsheets_file_is_offered_to_be_read_as_it_was_meant_and_read_so_once_ada_agrees(
    hers: Client, pond: Competition
) -> None:
    look(hers, SPREADSHEET)
    page = text_of(hers.get("/host/pond/setup/data/"))
    assert "Columns are cut at semicolons." in page
    assert "The first column, which only counts the rows, is left out." in page
    assert not TruthDraft.objects.get().report["ok"], "nothing is read so before she agrees"
    assert hers.post("/host/pond/setup/data/", {"action": "as_meant"})["Location"] == "/host/pond/setup/data/#check"
    draft = TruthDraft.objects.get()
    assert draft.report["ok"]
    assert draft.report["as_meant"] == []
    assert (draft.report["id_column"], draft.report["target_columns"]) == ("id", ["label"])
    assert (draft.report["public_rows"], draft.report["private_rows"]) == (15, 45)
    assert draft.metric == "accuracy"
    page = text_of(hers.get("/host/pond/setup/data/"))
    assert "Can be used" in page
    assert "Read it like this" not in page


def test_nothing_is_offered_where_nothing_would_help(hers: Client, pond: Competition) -> None:
    look(hers, "id,label\n1,cat\n1,dog\n")
    assert "Read it like this" not in text_of(hers.get("/host/pond/setup/data/"))
    answer = hers.post("/host/pond/setup/data/", {"action": "as_meant"})
    assert answer.status_code == 422
    assert "no file that could be read in another way" in text_of(answer)


def test_a_correction_from_a_spreadsheet_keeps_the_metric_that_counts(ada: User, hers: Client) -> None:
    pets = make_competition(ada)
    text = "id;label;usage\n" + TRUTH.partition("\n")[2].replace(",", ";")
    sent = {"metric": "accuracy", "parameters_of": "accuracy", "file": upload(text), "action": "check"}
    hers.post(f"/host/{pets.slug}/truth/", {**SPLIT, **sent})
    assert "Read it like this" in text_of(hers.get(f"/host/{pets.slug}/truth/"))
    hers.post(f"/host/{pets.slug}/truth/", {"action": "as_meant"})
    draft = TruthDraft.objects.get()
    assert (draft.report["ok"], draft.metric) == (True, "accuracy")


def ticked(page: str) -> tuple[list[str], list[str]]:
    """All columns that are asked about, and those that are proposed as answers."""
    boxes = re.findall(r'name="answers" value="(\w+)"( checked)?', tidy(page))
    return [name for name, _ in boxes], [name for name, is_ticked in boxes if is_ticked]


TEST_SET = "id,pond,size,label\n" + "".join(
    f"{i},pond{i % 7},{i * 37 % 101 / 10},{'cat' if i % 3 else 'dog'}\n" for i in range(1, 61)
)


def test_a_whole_test_set_becomes_answers_once_ada_says_which_column_they_are(hers: Client, pond: Competition) -> None:
    look(hers, TEST_SET)
    page = hers.get("/host/pond/setup/data/").content.decode()
    assert ticked(page) == (["pond", "size", "label"], ["label"])
    assert "Or correct the file yourself" in page
    for nothing in ([], ["id"], ["elsewhere"]):
        refused = hers.post("/host/pond/setup/data/", {"action": "keep", "answers": nothing})
        assert refused.status_code == 422
        assert "Tick at least one column" in text_of(refused)
    stored = hers.post("/host/pond/setup/data/", {"action": "keep", "answers": ["label"]})
    assert stored["Location"] == "/host/pond/setup/data/#check"
    draft = TruthDraft.objects.get()
    assert (draft.report["ok"], draft.metric, draft.report["target_columns"]) == (True, "accuracy", ["label"])
    assert (draft.seed, draft.public_share) == (3, 0.4)
    assert ticked(hers.get("/host/pond/setup/data/").content.decode()) == ([], [])
    choose(hers)
    assert Competition.objects.get().ground_truth.submission_columns == ["id", "label"]  # type: ignore[union-attr]


def test_features_in_numbers_that_a_metric_would_score_are_left_out_and_groups_stay(
    hers: Client, pond: Competition
) -> None:
    lines = [line.rsplit(",", 1)[0] for line in TEST_SET.splitlines()]
    text = "\n".join([f"{lines[0]},price", *(f"{line},{number * 13 % 17}" for number, line in enumerate(lines[1:]))])
    look(hers, text, split_by="grouped", group_column="pond")
    page = hers.get("/host/pond/setup/data/").content.decode()
    assert ticked(page) == (["size", "price"], ["size", "price"])
    assert "Not all of these columns are answers?" in page
    hers.post("/host/pond/setup/data/", {"action": "keep", "answers": ["price"]})
    draft = TruthDraft.objects.get()
    assert (draft.report["ok"], draft.report["target_columns"], draft.group_column) == (True, ["price"], "pond")


def test_one_of_the_other_columns_may_say_which_rows_belong_together(hers: Client, pond: Competition) -> None:
    """Who keeps the answers alone has lost the column of groups, and would have to choose the file again."""
    look(hers, TEST_SET)
    assert '<select id="id_group" name="group"' in hers.get("/host/pond/setup/data/").content.decode()
    hers.post("/host/pond/setup/data/", {"action": "keep", "answers": ["label"], "group": "pond"})
    draft = TruthDraft.objects.get()
    assert (draft.report["ok"], draft.group_column, draft.report["target_columns"]) == (True, "pond", ["label"])
    page = text_of(hers.get("/host/pond/setup/data/"))
    assert "groups of pond together" in page
    choose(hers)
    assert Competition.objects.get().ground_truth.submission_columns == ["id", "label"]  # type: ignore[union-attr]


def test_an_answer_is_no_column_of_groups(hers: Client, pond: Competition) -> None:
    look(hers, TEST_SET)
    hers.post("/host/pond/setup/data/", {"action": "keep", "answers": ["label"], "group": "label"})
    draft = TruthDraft.objects.get()
    assert (draft.report["ok"], draft.group_column, draft.report["target_columns"]) == (True, "", ["label"])


@pytest.mark.parametrize(
    ("title", "slug"),
    [("Größe der Käfer", "grosse-der-kafer"), ("Łódź 2026", "lodz-2026"), ("Øre & Œuvre", "ore-oeuvre")],
)
def test_an_address_keeps_the_letters_of_its_title(hers: Client, title: str, slug: str) -> None:
    assert hers.post("/host/new/", {"title": title, "zone": "UTC"})["Location"] == f"/host/{slug}/setup/data/"


def test_columns_of_a_file_that_cannot_be_read_are_not_asked_about(hers: Client, pond: Competition) -> None:
    look(hers, TEST_SET + "61,pond1\n")
    refused = hers.post("/host/pond/setup/data/", {"action": "keep", "answers": ["label"]})
    assert refused.status_code == 422
    assert "id,pond,size,label" in path_of(TruthDraft.objects.get().file_key).read_text()


def test_a_correction_with_features_proposes_the_columns_that_count(ada: User, hers: Client) -> None:
    pets = make_competition(ada)
    head, *lines = TRUTH.splitlines()
    text = "\n".join([f"{head},size", *(f"{line},{number % 5}.5" for number, line in enumerate(lines))])
    sent = {"metric": "accuracy", "parameters_of": "accuracy", "file": upload(text), "action": "check"}
    hers.post(f"/host/{pets.slug}/truth/", {**SPLIT, **sent})
    assert ticked(hers.get(f"/host/{pets.slug}/truth/").content.decode()) == (["label", "size"], ["label"])
    assert "Tick at least one" in text_of(hers.post(f"/host/{pets.slug}/truth/", {"action": "keep"}, follow=True))
    hers.post(f"/host/{pets.slug}/truth/", {"action": "keep", "answers": ["label"]})
    draft = TruthDraft.objects.get()
    assert (draft.report["ok"], draft.metric, draft.report["target_columns"]) == (True, "accuracy", ["label"])


def test_a_file_that_tells_the_answers_is_removed_on_the_page_that_says_so(hers: Client, pond: Competition) -> None:
    said_to_user = {"file": upload(ANSWERS, "told.csv"), "description": "", "action": "add"}
    hers.post("/host/pond/setup/data/", said_to_user)
    look(hers)
    page = text_of(hers.get("/host/pond/setup/data/"))
    assert "Nothing is wrong with your answers, but a file for students tells them." in page
    assert "Correct the file" not in page
    assert page.index("told.csv” ") < page.index("What a file scores that knows nothing"), "what blocks stands first"
    hers.post("/host/pond/setup/data/", {"action": "remove", "name": "told.csv"})
    assert not DataFile.objects.exists()
    assert TruthDraft.objects.get().report["ok"], "and is looked at once more by itself"
    assert hers.post("/host/pond/setup/data/", {"action": "remove", "name": "told.csv"}).status_code == 404
