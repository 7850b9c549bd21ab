"""What the library of metrics says of a file is read in each reader's own language."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone, translation
from django.utils.html import escape

import metrics
from leaderboard.accounts import personal_data
from leaderboard.accounts.models import ApiToken, User
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import CandidateProblem, Competition, StudentPreview, Submission, TruthDraft
from leaderboard.ground_truths.services import drafts, publishing
from leaderboard.ground_truths.specs import GroundTruthSpec
from leaderboard.scoring import scorer_answer
from leaderboard.scoring.messages import MalformedMessage
from leaderboard.submissions import claims
from tests.common.languages import CODE
from tests.common.test_translated_pages import outside_brackets
from tests.conftest import answers, enter, make_competition, submit
from tests.pages import signed_in

pytestmark = pytest.mark.usefixtures("two_languages")

FOREIGN = {"Accept-Language": f"{CODE}, en;q=0.5"}
REFUSED = b"id,label\n1,cat\n1,dog\nx,\n"


@pytest.fixture
def pets(ada: User) -> Competition:
    return make_competition(ada)


def test_bo_reads_what_is_wrong_with_a_file_in_his_language(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submission = submit(pets, bo, REFUSED)
    assert submission.status == Submission.Status.INVALID
    path = f"/c/pets/submissions/{submission.pk}/"
    english = signed_in(bo).get(path).content.decode()
    foreign = signed_in(bo).get(path, headers=FOREIGN).content.decode()
    for problem in submission.problems:
        assert problem["message"].replace('"', "&quot;") in english
        assert problem["message"].replace('"', "&quot;") not in foreign
    assert "⟦1 id unknown: ⟦&quot;x&quot; (line 4)⟧. Correct it or delete its row.⟧" in foreign
    assert outside_brackets(foreign) == []


def test_the_problems_of_a_download_and_of_a_page_are_in_bos_language(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submission = submit(pets, bo, REFUSED)
    client = signed_in(bo)
    table = client.get(f"/c/pets/submissions/{submission.pk}/problems.csv", headers=FOREIGN).content.decode("utf-8-sig")
    assert "⟦1 id unknown" in table
    assert table.startswith("code,message,column,line,id,count")
    page = client.get(f"/c/pets/submissions/{submission.pk}/", headers=FOREIGN).content.decode()
    assert "⟦1 id unknown" in page


def test_a_file_that_is_refused_at_once_is_refused_in_bos_language(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submission = submit(pets, bo, b"id;label\n1;cat\n")
    page = signed_in(bo).get(f"/c/pets/submissions/{submission.pk}/", headers=FOREIGN).content.decode()
    assert "⟦The columns are separated by ⟦semicolons⟧: line 1 is &quot;id;label&quot;." in page


def test_the_host_reads_the_problems_of_a_file_in_her_language(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    submit(pets, bo, REFUSED)
    page = signed_in(ada).get("/host/pets/submissions/", headers=FOREIGN).content.decode()
    assert "⟦1 id unknown" in page


def test_programs_read_english_and_the_documented_keys(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submission = submit(pets, bo, REFUSED)
    headers = {**FOREIGN, "Authorization": f"Bearer {ApiToken.issue(bo, 'laptop')[1]}"}
    found = Client().get(f"/api/v1/submissions/{submission.pk}", headers=headers).json()["errors"]
    assert [list(one) for one in found] == [["code", "message", "column", "line", "id", "count"]] * len(found)
    assert [one["message"] for one in found] == [one["message"] for one in submission.problems]
    assert "⟦" not in json.dumps(found)


def test_a_problem_from_before_there_were_forms_is_shown_as_it_was_stored(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submission = submit(pets, bo, REFUSED)
    old = [{name: value for name, value in one.items() if name != "forms"} for one in submission.problems]
    Submission.objects.filter(pk=submission.pk).update(problems=old)
    page = signed_in(bo).get(f"/c/pets/submissions/{submission.pk}/", headers=FOREIGN).content.decode()
    assert "1 id unknown: &quot;x&quot; (line 4)." in page


def test_a_scorer_that_tells_another_form_than_its_message_is_believed_the_message_alone() -> None:
    lie = {**metrics.Problem("odd", "Odd.").as_dict(), "forms": {"message": {"template": "Even.", "params": {}}}}
    assert scorer_answer.read_answer({"problems": [lie]}).problems == (metrics.Problem("odd", "Odd.").as_dict(),)
    honest = metrics.Problem("odd", metrics.Message("Odd {what}.", what='"1"')).as_stored()
    assert scorer_answer.read_answer({"problems": [json.loads(json.dumps(honest))]}).problems == (honest,)
    stored = scorer_answer.read_answer({"problems": [{**lie, "forms": {"message": 3}}]}).problems
    assert stored == (metrics.Problem("odd", "Odd.").as_dict(),)
    with pytest.raises(MalformedMessage):
        scorer_answer.read_answer({"problems": [{**lie, "forms": ["Even."]}]})


def test_a_good_file_has_nothing_to_say(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    assert submit(pets, bo, answers()).problems == []


# --- what a host reads of a ground truth ------------------------------------------------------------------------


FAULTY = b"id,label,Usage\n01,cat,Public\n01,Cat,Private\n,dog,Hidden\n4,,Public\n"
SOUND = b"id,y,Usage\n" + b"".join(b"%03d,%d,%s\n" % (i, i > 30, b"Private" if i % 3 else b"Public") for i in range(60))


def drafted(host: User, data: bytes, metric: str = "accuracy") -> None:
    now = timezone.now()
    competition = competitions.create_competition(
        user=host, slug="pets", title="Pets", overview="?", opens_at=now, closes_at=now + timedelta(days=1)
    )
    drafts.save_draft(
        competition=competition, spec=GroundTruthSpec(metric=metric, file_name="truth.csv", chunks=[data])
    )


@pytest.mark.parametrize(("data", "code"), [(FAULTY, "repeated_ids"), (SOUND, "sorted_by_answer")])
def test_the_host_reads_in_her_language_what_was_found_in_a_truth(ada: User, data: bytes, code: str) -> None:
    drafted(ada, data)
    report = TruthDraft.objects.get().report
    assert code in {finding["code"] for finding in report["findings"]}
    for path in ("/host/pets/setup/", "/host/pets/truth/metric/"):
        page = signed_in(ada).get(path, headers=FOREIGN).content.decode()
        assert outside_brackets(page) == []
    english = signed_in(ada).get("/host/pets/setup/").content.decode()
    for finding in report["findings"]:
        assert escape(finding["message"]) in english
        assert finding["why"] in english


def test_a_draft_that_cannot_be_published_is_refused_in_the_hosts_language(ada: User) -> None:
    drafted(ada, FAULTY)
    with translation.override(CODE), pytest.raises(competitions.CannotHost) as refused:
        publishing.publish_draft(competition=Competition.objects.get(), user=ada)
    assert refused.value.details
    assert all(line.startswith("⟦") for line in refused.value.details)


def test_a_wrong_parameter_is_refused_in_the_hosts_language(ada: User) -> None:
    drafted(ada, SOUND, metric="log_loss")
    sent = {"metric": "log_loss", "parameters_of": "log_loss", "param-clip": "7", "action": "look"}
    page = signed_in(ada).post("/host/pets/truth/metric/", sent, headers=FOREIGN).content.decode()
    assert "⟦Must be at most" in page


# --- what was said elsewhere ------------------------------------------------------------------------------------


def test_what_a_new_ground_truth_cannot_read_is_said_in_each_readers_language(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submission = submit(pets, bo, REFUSED)
    refusal = CandidateProblem(submission=submission, problems=submission.problems[:1])
    failed = CandidateProblem(submission=submission, problems=[{"code": "failed", "message": claims.OUR_FAULT}])
    assert (refusal.text, failed.text) == (submission.problems[0]["message"], claims.OUR_FAULT)
    with translation.override(CODE):
        assert refusal.text.startswith("⟦1 id unknown")
        assert failed.text == f"⟦{claims.OUR_FAULT}⟧"
        student_preview = StudentPreview(failure=claims.OUR_FAULT, problems=submission.problems)
        assert student_preview.failure_text == f"⟦{claims.OUR_FAULT}⟧"
    assert StudentPreview().failure_text == ""


def test_bos_own_data_hold_the_documented_keys_of_problems(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submit(pets, bo, REFUSED)
    with zipfile.ZipFile(io.BytesIO(), "w") as archive:
        personal_data.export_account(archive, account=bo, at=timezone.now())
        texts = [archive.read(name).decode(errors="replace") for name in archive.namelist()]
    (messages_of,) = [text for text in texts if "id unknown" in text]
    assert '"forms"' not in messages_of


def test_a_secondary_metric_that_cannot_score_a_file_says_so_in_bos_language(ada: User, bo: User) -> None:
    truth = "id,y,Usage\n" + "".join(f"{i},{i % 5},{'Public' if i % 2 else 'Private'}\n" for i in range(1, 13))
    pets = make_competition(ada, truth=truth, metric="mae", secondary=[("rmsle", {})])
    enter(pets, bo)
    submission = submit(pets, bo, ("id,y\n" + "".join(f"{i},-1\n" for i in range(1, 13))).encode())
    assert submission.status == Submission.Status.SCORED
    page = signed_in(bo).get(f"/c/pets/submissions/{submission.pk}/", headers=FOREIGN).content.decode()
    assert "⟦12 values of &quot;y&quot; are below 0: ⟦" in page
