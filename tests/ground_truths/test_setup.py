"""Ada brings files, reads what was found in them, and creates a competition from one page."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition, GroundTruth, StudentPreview, Submission, TruthCheck, TruthDraft
from leaderboard.ground_truths.queries import shown_findings
from leaderboard.ground_truths.services import copying
from leaderboard.submissions import score
from tests.conftest import person
from tests.pages import signed_in, text_of, upload

ANSWERS = "id,label\n" + "".join(f"{i},{'cat' if i % 3 else 'dog'}\n" for i in range(1, 61))
_DICE = random.Random(3)
ROWS = [(f"r{_DICE.random():.9f}", _DICE.random(), _DICE.randint(1, 9), _DICE.gauss(100, 20)) for _ in range(90)]
TRAIN = "id,temp,wind,rentals\n" + "".join(f"t{i},{t:.3f},{w},{y + w:.1f}\n" for i, t, w, y in ROWS)
TEST = "id,temp,wind\n" + "".join(f"{i},{t:.3f},{w}\n" for i, t, w, y in ROWS)
WHOLE = "id,temp,wind,rentals\n" + "".join(f"{i},{t:.3f},{w},{y:.1f}\n" for i, t, w, y in ROWS)
ONLY = "id,rentals\n" + "".join(f"{i},{y:.1f}\n" for i, t, w, y in ROWS)


@pytest.fixture
def pond(ada: User) -> Competition:
    return copying.create_default_draft(user=ada, title="Pond life", slug="pond", overview="What swims there?")


def bring(client: Client, address: str = "/host/new/", /, **files: str) -> Any:
    return client.post(address, {"files": [upload(text, name.replace("_csv", ".csv")) for name, text in files.items()]})


def filled_in(page: str) -> dict[str, str]:
    """What a browser would send of the page's fields, as they are proposed."""
    sent = dict(re.findall(r'<input type="(?:text|number|datetime-local)" name="(\w+)" value="([^"]*)"', page))
    sent |= {name: "on" for name in re.findall(r'<input type="checkbox" name="(\w+)"[^>]* checked', page)}
    sent |= dict(re.findall(r'<input type="radio" name="(\w+)" value="(\w+)"[^>]* checked', page))
    zone = re.search(r'<option value="([^"]+)" selected', page)
    return {**sent, "zone": zone[1]} if zone else sent


def students_files(competition: Competition) -> dict[str, list[str]]:
    return {file.name: file.head[0] for file in competition.data_files.all()}


def test_a_test_set_with_answers_is_split_into_answers_and_a_copy_for_students(hers: Client) -> None:
    asked = bring(hers, train_csv=TRAIN, test_csv=WHOLE)["Location"]
    made = hers.post(asked, {"predict": "rentals"})
    assert (made.status_code, made["Location"]) == (303, "/host/predict-rentals/setup/#proposal")
    pond, draft = Competition.objects.get(), TruthDraft.objects.get()
    assert pond.title == "Predict rentals"
    assert draft.file_name == "test.csv"
    assert (draft.report["ok"], draft.report["target_columns"]) == (True, ["rentals"])
    assert students_files(pond) == {"test.csv": ["id", "temp", "wind"], "train.csv": ["id", "temp", "wind", "rentals"]}
    page = hers.get(made["Location"]).content.decode()
    assert 'data-testid="answers-file"' in page
    assert page.count('data-testid="students-file"') == 2
    assert 'aria-pressed="true">\n              rentals' in page


def test_a_teacher_who_changes_nothing_creates_and_launches(hers: Client) -> None:
    address = bring(hers, train_csv=TRAIN, test_csv=TEST, answers_csv=ONLY)["Location"]
    sent = filled_in(hers.get(address).content.decode())
    created = hers.post(address, {**sent, "create": "yes"})
    assert created["Location"] == "/host/predict-rentals/"
    pond = Competition.objects.get()
    assert pond.ground_truth is not None
    assert (pond.overview, pond.board.hides_scores) == (pond.subtitle, False)
    first = Submission.objects.get(baseline__competition=pond)
    assert score.score_one(first.pk) == "scored", "something to beat from the first day"
    assert hers.post(address, {**sent, "launch": "yes"})["Location"] == "/host/predict-rentals/"
    assert StudentPreview.objects.get().is_good
    pond.refresh_from_db()
    assert pond.launched_at is not None
    assert (pond.closes_at - pond.opens_at).days == 14
    assert not TruthDraft.objects.exists(), "what was published counts"
    assert students_files(pond) == {"test.csv": ["id", "temp", "wind"], "train.csv": ["id", "temp", "wind", "rentals"]}


def test_another_proposal_leaves_one_sample_as_the_first_baseline(hers: Client) -> None:
    address = bring(hers, train_csv=TRAIN, test_csv=TEST, answers_csv=ONLY)["Location"]
    sent = filled_in(hers.get(address).content.decode())
    hers.post(address, {**sent, "create": "yes"})
    earlier = Submission.objects.get(baseline__isnull=False)
    hers.post("/host/predict-rentals/setup/", {"metric": "mae"})
    hers.post("/host/predict-rentals/setup/", {"create": "yes"})
    assert Submission.objects.get(baseline__isnull=False).pk != earlier.pk


def test_a_draft_without_files_gets_them_and_keeps_what_was_typed(hers: Client, pond: Competition) -> None:
    address = f"/host/{pond.slug}/setup/"
    page = hers.get(address).content.decode()
    assert re.search(r'name="create" value="yes"\s+disabled', page)
    typed = {**filled_in(page), "title": "Bike rides", "files": upload(ONLY, "answers.csv")}
    assert hers.post(address, typed)["Location"] == "/host/pond/setup/#files"
    assert TruthDraft.objects.get().report["ok"]
    assert Competition.objects.get().title == "Bike rides"


def test_what_cannot_be_is_said_at_its_field_and_nothing_is_created(hers: Client) -> None:
    address = bring(hers, answers_csv=ONLY)["Location"]
    sent = filled_in(hers.get(address).content.decode())
    refused = hers.post(address, {**sent, "closes_at": "2020-01-01T00:00", "create": "yes"})
    assert refused.status_code == 422
    assert 'href="#id_closes_at"' in refused.content.decode()
    assert not GroundTruth.objects.exists()


def test_a_warning_is_accepted_and_stays_accepted_until_it_says_something_else(hers: Client, ada: User) -> None:
    sorted_rows = "id,rentals\n" + "".join(f"{i},{i / 2}\n" for i in range(1, 91))
    address = bring(hers, answers_csv=sorted_rows)["Location"]
    page = hers.get(address).content.decode()
    keys = re.findall(r'name="accept" value="(\w+)"', page)
    assert len(keys) == page.count('data-testid="warning"') > 0
    hers.post(address, {"accept": keys[0]})
    hers.post(address, {"accept": keys[0]})
    hers.post(address, {"accept": "0000000000000000"})
    [accepted] = TruthDraft.objects.get().accepted_findings
    assert (accepted["key"], accepted["by"]) == (keys[0], ada.pk)
    assert re.findall(r'name="accept" value="(\w+)"', hers.get(address).content.decode()) == keys[1:]
    hers.post(address, {"split": "yes", "public_percent": "50", "seed": "1", "split_by": "random"})
    assert keys[0] not in hers.get(address).content.decode()
    hers.post(address, {"create": "yes"})
    [kept] = TruthCheck.objects.get().accepted_findings
    assert kept == accepted
    for key in keys[1:]:
        hers.post(address, {"accept": key})
    assert 'data-testid="warning"' not in hers.get(address).content.decode()


@pytest.mark.parametrize(
    "answers_csv",
    ['id,label\n1,cat\n2,"dog\n3,cat\n', "id;label\n1;cat\n2;dog\n", "PK\x03\x04 a workbook that was cut off"],
    ids=["a quote without its end", "semicolons", "damaged"],
)
def test_answers_that_cannot_be_read_get_no_proposal_and_no_sample(hers: Client, answers_csv: str) -> None:
    page = hers.get(bring(hers, answers_csv=answers_csv)["Location"]).content.decode()
    assert 'data-testid="error"' in page
    assert 'id="proposal"' not in page
    assert "sample_submission.csv" not in page
    assert "can't be read yet" in page.replace("&#x27;", "'")
    assert re.search(r'name="launch" value="yes"\s+disabled', page)
    assert Competition.objects.get().title == copying.NEW_TITLE


def test_a_name_typed_before_the_files_is_kept(hers: Client) -> None:
    made = hers.post("/host/new/", {"name": "Bike rides", "files": upload(ONLY, "answers.csv")})
    assert made["Location"] == "/host/bike-rides/setup/"
    assert Competition.objects.get().title == "Bike rides"


def test_before_the_launch_ada_reads_how_students_reach_her_computer(hers: Client, pond: Competition) -> None:
    assert 'data-testid="address">testserver<' in hers.get("/host/pond/setup/").content.decode()
    alone = hers.get("/host/pond/setup/", headers={"host": "localhost"}).content.decode()
    assert "python3 manage.py up --host 0.0.0.0" in alone
    assert 'data-testid="address"' not in alone


def test_what_blocks_is_never_accepted(hers: Client) -> None:
    address = bring(hers, answers_csv="id,label\n1,cat\n1,dog\n2,cat\n")["Location"]
    page = hers.get(address).content.decode()
    assert 'data-testid="error"' in page
    assert 'name="accept"' not in page
    for one in shown_findings(TruthDraft.objects.get()).errors:
        hers.post(address, {"accept": one.key})
    assert TruthDraft.objects.get().accepted_findings == []
    assert hers.post(address, {"create": "yes"})["Location"].endswith("/setup/#files")
    assert not GroundTruth.objects.exists()


def test_the_role_of_a_file_is_changed(hers: Client) -> None:
    address = bring(hers, train_csv=TRAIN, results_csv=ONLY)["Location"]
    pond = Competition.objects.get()
    assert TruthDraft.objects.get().file_name == "results.csv"
    hers.post(address, {"students": "yes"})
    assert not TruthDraft.objects.exists()
    assert set(students_files(pond)) == {"train.csv", "results.csv"}
    hers.post(address, {"answers": "results.csv"})
    assert TruthDraft.objects.get().report["target_columns"] == ["rentals"]
    assert set(students_files(pond)) == {"train.csv"}
    hers.post(address, {"drop": "train.csv"})
    assert students_files(pond) == {}
    hers.post(address, {"drop": ""})
    assert not TruthDraft.objects.exists()


@pytest.mark.parametrize("name", ["prices_csv", "y_test_csv"])
def test_a_file_with_semicolons_is_taken_for_the_answers_by_the_columns_that_it_means(hers: Client, name: str) -> None:
    german = ONLY.replace(",", ";").replace(".", ",")
    address = bring(hers, train_csv=TRAIN, test_csv=TEST, **{name: german})["Location"]
    pond = Competition.objects.get()
    assert TruthDraft.objects.get().file_name == name.replace("_csv", ".csv")
    assert set(students_files(pond)) == {"train.csv", "test.csv"}
    hers.post(address, {"fix": "convert"})
    assert TruthDraft.objects.get().report["target_columns"] == ["rentals"]
    assert Competition.objects.get().title == "Predict rentals"


def test_a_test_set_that_was_taken_for_the_answers_goes_to_the_students(hers: Client) -> None:
    address = bring(hers, test_csv=TEST)["Location"]
    pond = Competition.objects.get()
    hers.post(address, {"files": upload("day,sales\n" + "".join(f"{i},{i % 7}\n" for i in range(90)), "wanted.csv")})
    hers.post(address, {"answers": "wanted.csv"})
    assert TruthDraft.objects.get().report["target_columns"] == ["sales"]
    assert students_files(pond) == {"test.csv": ["id", "temp", "wind"]}
    pond.refresh_from_db()
    assert (pond.title, pond.subtitle) == ("Predict sales", "Predict sales for each row of the test data.")


def test_the_title_follows_what_students_predict_until_ada_writes_her_own(hers: Client) -> None:
    address = bring(hers, test_csv=WHOLE)["Location"]
    address = hers.post(address, {"predict": "temp"})["Location"].partition("#")[0]
    pond = Competition.objects.get()
    assert pond.title == "Predict temp"
    Competition.objects.update(title="Bicycles")
    hers.post(address, {"predict": "rentals"})
    pond.refresh_from_db()
    assert (pond.title, pond.subtitle) == ("Bicycles", "Predict rentals for each row of the test data.")


def test_a_file_for_students_that_holds_the_answers_is_refused(hers: Client) -> None:
    address = bring(hers, answers_csv=ONLY)["Location"]
    page = text_of(hers.post(address, {"files": upload(WHOLE, "more.csv")}, follow=True))
    assert "Students could download the answers" in page
    assert not Competition.objects.get().data_files.exists()


def test_another_metric_is_one_press_and_is_published_again(hers: Client) -> None:
    address = bring(hers, answers_csv=ONLY)["Location"]
    hers.post(address, {"create": "yes"})
    hers.post(address, {"create": "yes"})
    assert GroundTruth.objects.count() == 1, "the same again is no new one"
    hers.post(address, {"metric": "mae"})
    assert TruthDraft.objects.get().metric == "mae"
    hers.post(address, {"create": "yes"})
    assert list(GroundTruth.objects.order_by("number").values_list("metric", flat=True)) == ["rmse", "mae"]
    current = Competition.objects.filter(ground_truth__metric="mae", candidate=None)
    assert current.exists(), "nothing stops the launch"
    assert hers.post(address, {"metric": "no_such"}).status_code == 303
    assert TruthDraft.objects.get().metric == "mae"


def test_of_a_file_that_cannot_be_read_yet_no_split_is_claimed(hers: Client) -> None:
    address = bring(hers, answers_csv=ONLY.replace(",", ";"))["Location"]
    page = text_of(hers.get(address))
    assert "separated by semicolons" in page
    assert "From the column" not in page


def test_a_draft_is_discarded_after_a_question(hers: Client) -> None:
    address = bring(hers, answers_csv=ONLY)["Location"]
    assert hers.post(address, {"discard": "yes"}).status_code == 200
    assert Competition.objects.exists()
    hers.post(address, {"action": "remove", "is_meant": "yes"})
    assert not Competition.objects.exists()


def test_after_the_launch_the_page_leads_to_the_settings(hers: Client, pets: Competition) -> None:
    assert hers.get("/host/pets/setup/")["Location"] == "/host/pets/settings/"
    assert hers.post("/host/pets/setup/", {"discard": "yes"})["Location"] == "/host/pets/settings/"
    assert Competition.objects.exists()


def test_students_and_other_hosts_see_nothing_of_a_draft(pond: Competition, bo: User) -> None:
    hal = person("hal", can_host=True)
    for user in (bo, hal):
        for page in ("", "metric/", "launch/"):
            assert signed_in(user).get(f"/host/pond/setup/{page}").status_code == 404
    assert signed_in(bo).post("/host/new/", {"files": upload(ONLY)}).status_code == 403


def test_the_page_shows_what_was_found_in_few_queries(hers: Client) -> None:
    address = bring(hers, train_csv=TRAIN, test_csv=WHOLE)["Location"]
    with CaptureQueriesContext(connection) as queries:
        hers.get(address)
    assert len(queries) <= 12, [query["sql"] for query in queries]


def test_the_answer_column_is_asked_where_more_than_one_could_be(hers: Client) -> None:
    address = bring(hers, test_csv=WHOLE)["Location"]
    draft = TruthDraft.objects.get()
    assert (draft.answer_choice["is_asked"], draft.fits, draft.report["ok"]) == (True, [], False)
    page = hers.get(address).content.decode()
    assert 'class="decision asked"' in page
    assert 'aria-pressed="true"' not in page, "nothing is chosen for her"
    assert 'data-testid="metric"' not in page
    assert re.search(r'name="create" value="yes"\s+disabled', page)
    assert "Choose the column" in text_of(hers.post(address, {"create": "yes"}, follow=True))
    assert not GroundTruth.objects.exists()
    chosen = hers.post(address, {"predict": "temp"})
    address = chosen["Location"].partition("#")[0]
    draft.refresh_from_db()
    assert draft.report["target_columns"] == ["temp"]
    assert students_files(Competition.objects.get()) == {"test.csv": ["id", "wind", "rentals"]}
    hers.post(address, {"predict": "rentals"})
    draft.refresh_from_db()
    assert (draft.report["target_columns"], draft.report["ok"]) == (["rentals"], True)
    assert 'class="decision asked"' not in hers.get(address).content.decode()
    assert students_files(Competition.objects.get()) == {"test.csv": ["id", "temp", "wind"]}


def test_a_test_set_that_comes_later_answers_the_question(hers: Client) -> None:
    address = bring(hers, answers_csv=WHOLE)["Location"]
    assert TruthDraft.objects.get().answer_choice["is_asked"]
    hers.post(address, {"files": upload(TEST, "test.csv")})
    draft = TruthDraft.objects.get()
    assert (draft.answer_choice["why"], draft.report["target_columns"]) == ("absent", ["rentals"])
    assert draft.metric == "rmse"
    assert Competition.objects.get().title == "Predict rentals"


def test_a_spreadsheets_file_is_converted_once_ada_agrees(hers: Client) -> None:
    lines = [f"{i};{i + 1};{'newt' if i % 3 else 'toad'};{'Public' if i % 2 else 'Private'}" for i in range(60)]
    address = bring(hers, answers_csv="\n".join([";id;species;USAGE", *lines]))["Location"]
    page = hers.get(address).content.decode()
    assert 'name="fix" value="convert"' in page
    assert re.search(r'name="create" value="yes"\s+disabled', page)
    assert not TruthDraft.objects.get().report["ok"], "nothing is read so before she agrees"
    hers.post(address, {"fix": "convert"})
    draft = TruthDraft.objects.get()
    assert (draft.report["ok"], draft.report["target_columns"]) == (True, ["species"])
    assert not draft.report["is_split_by_system"]
