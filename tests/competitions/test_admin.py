"""The admin: a host's whole job, within what is theirs, through the same checks."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from itertools import product

import pytest
from django.conf import LazySettings
from django.contrib import admin
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Baseline, Competition, DataFile, GroundTruth, Submission, TruthDraft
from leaderboard.competitions.services import boards, data_files, publishing, truth_drafts
from tests.competitions.test_host import FILLED
from tests.conftest import TRUTH, answers, close, enter, hand_in, make_competition, person
from tests.pages import signed_in, text_of, upload

MODELS = ("competition", "truthdraft", "groundtruth", "datafile", "baseline", "team", "submission")


@pytest.fixture
def hers(ada: User) -> Client:
    """Ada as staff who hosts, without being an operator."""
    ada.is_staff = True
    ada.save()
    return signed_in(ada)


def address_of(model: str) -> str:
    """Where the admin lists the rows of a model."""
    app = {"user": "accounts", "auditentry": "common"}.get(model, "competitions")
    return f"/admin/{app}/{model}/"


def act(client: Client, model: str, action: str, *keys: object) -> str:
    sent = {"action": action, "_selected_action": [str(key) for key in keys]}
    return text_of(client.post(address_of(model), sent, follow=True))


def draft_fields(competition: Competition, **fields: object) -> dict[str, object]:
    return {
        "competition": competition.pk,
        "metric": "accuracy",
        "params": "{}",
        "public_share": "0.5",
        "seed": "0",
        "file": upload(TRUTH),
        **fields,
    }


def test_a_hosts_whole_job_is_done_in_the_admin(hers: Client, ada: User, work: Callable[[], int]) -> None:
    made = hers.post("/admin/competitions/competition/add/", FILLED)
    assert made.status_code == 302
    pond = Competition.objects.get(slug="pond-life")
    assert list(pond.hosts.all()) == [ada]
    assert "Missing: A ground truth is published" in act(hers, "competition", "launch", pond.pk)

    hers.post("/admin/competitions/truthdraft/add/", draft_fields(pond))
    draft = TruthDraft.objects.get()
    assert "can be published" in text_of(hers.get(f"/admin/competitions/truthdraft/{draft.pk}/change/"))
    assert "is published" in act(hers, "truthdraft", "publish", draft.pk)
    assert "is launched" in act(hers, "competition", "launch", pond.pk)

    hers.post("/admin/competitions/datafile/add/", {"competition": pond.pk, "file": upload("id,x\n1,2\n", "train.csv")})
    hers.post("/admin/competitions/baseline/add/", {"competition": pond.pk, "name": "Guess", "file": upload(answers())})
    work()
    assert DataFile.objects.get().name == "train.csv"
    assert Submission.objects.get().status == "scored"
    assert "public 1.0" in text_of(hers.get(f"/admin/competitions/submission/{Submission.objects.get().pk}/change/"))

    pond.refresh_from_db()
    close(pond)
    answer = hers.post("/admin/competitions/competition/", {"action": "reveal", "_selected_action": [pond.pk]})
    assert answer["Location"] == "/host/pond-life/reveal/"
    for model, obj in (("datafile", DataFile.objects.get()), ("baseline", Baseline.objects.get())):
        hers.post(f"{address_of(model)}{obj.pk}/delete/", {"post": "yes"})
    assert not DataFile.objects.exists()
    assert not Submission.objects.exists()


def test_the_form_of_a_competition_leads_to_each_page_that_does_what_it_does_not(
    hers: Client, pets: Competition, bo: User
) -> None:
    enter(pets, bo)

    def links() -> dict[str, str]:
        page = hers.get(f"/admin/competitions/competition/{pets.pk}/change/").content.decode()
        shown = page.partition("field-host_pages")[2].partition("form-row")[0]
        return {text: link for link, text in re.findall(r'<a href="([^"]+)">([^<]+)</a>', shown)}

    found = links()
    assert {"Dashboard", "Data", "Submissions", "People", "Teams", "Reveal", "Grades", "Delete"} <= set(found)
    assert "Waiting ground truth" not in found
    truth_drafts.draft_truth(
        competition=pets, metric="accuracy", params={}, file_name="new.csv",
        chunks=[TRUTH.replace("\n7,cat", "\n7,dog").encode()], public_share=0.5, seed=1,
    )  # fmt: skip
    publishing.publish_draft(competition=pets, user=None)
    waiting = links()
    assert set(waiting) - set(found) == {"Waiting ground truth"}
    assert {text: hers.get(link).status_code for text, link in waiting.items()} == dict.fromkeys(waiting, 200)
    listed = hers.get("/admin/competitions/competition/").content.decode()
    assert all(f'href="{link}"' in listed for link in waiting.values())


def test_a_change_goes_through_the_rules_of_the_site(hers: Client, pets: Competition, bo: User) -> None:
    enter(pets, bo)
    hers.post(f"/admin/competitions/competition/{pets.pk}/change/", {**FILLED, "slug": "pets", "rules": "Be fairer."})
    changed = Competition.objects.get()
    assert (changed.rules, changed.rules_version) == ("Be fairer.", 2)
    wrong = hers.post(f"/admin/competitions/competition/{pets.pk}/change/", {**FILLED, "slug": "new"})
    assert "is the address of another page" in text_of(wrong)


def test_wrong_parameters_and_blocking_findings_are_shown(hers: Client, pets: Competition) -> None:
    add = "/admin/competitions/truthdraft/add/"
    assert "beta: Must be over 0" in text_of(hers.post(add, draft_fields(pets, metric="fbeta", params='{"beta": -1}')))
    assert "JSON object" in text_of(hers.post(add, draft_fields(pets, params="[1]")))
    assert "valid JSON" in text_of(hers.post(add, draft_fields(pets, params="{")))
    hers.post(add, draft_fields(pets, file=upload("id,label,Usage\n1,a,Public\n1,b,Private\n")))
    draft = TruthDraft.objects.get()
    page = text_of(hers.get(f"/admin/competitions/truthdraft/{draft.pk}/change/"))
    assert "Blocks: 1 row with an id that was there before" in page
    assert "cannot be published" in act(hers, "truthdraft", "publish", draft.pk)
    assert GroundTruth.objects.count() == 1
    assert "thrown away" in act(hers, "truthdraft", "discard", draft.pk)
    assert not TruthDraft.objects.exists()


def test_a_confirmation_is_an_action_of_its_own(hers: Client, pets: Competition) -> None:
    phrases = "id,w,Usage\n" + "".join(f"{i},a {i},{'Public' if i % 2 else 'Private'}\n" for i in range(1, 9))
    params = '{"matching": "per_prediction"}'
    hers.post(
        "/admin/competitions/truthdraft/add/",
        draft_fields(pets, metric="coleridge_fbeta", params=params, file=upload(phrases)),
    )
    draft = TruthDraft.objects.get()
    assert "repeating one right phrase" in act(hers, "truthdraft", "publish", draft.pk)
    assert "is published" in act(hers, "truthdraft", "publish_confirmed", draft.pk)
    answer = hers.post(
        "/admin/competitions/competition/", {"action": "look_at_candidate", "_selected_action": [pets.pk]}
    )
    assert answer["Location"] == "/host/pets/candidate/"


def test_answers_and_large_files_are_refused_in_words(hers: Client, pets: Competition, settings: LazySettings) -> None:
    add = "/admin/competitions/datafile/add/"
    leaky = {"competition": pets.pk, "file": upload(TRUTH, "t.csv")}
    assert "students would download the answers" in text_of(hers.post(add, leaky, follow=True))
    settings.MAX_UPLOAD_BYTES = 3
    large = {"competition": pets.pk, "file": upload("id,x\n", "t.csv")}
    assert "larger than" in text_of(hers.post(add, large, follow=True))
    assert not DataFile.objects.exists()


def test_what_is_published_or_handed_in_cannot_be_edited(hers: Client, pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submission = hand_in(pets, bo, answers())
    for model, pk in (("groundtruth", GroundTruth.objects.get().pk), ("submission", submission.pk)):
        address = f"{address_of(model)}{pk}/change/"
        assert hers.get(address).status_code == 200
        assert 'type="submit" value="Save"' not in hers.get(address).content.decode()
        assert hers.post(address, {"metric": "rmse", "status": "failed"}).status_code == 403
        assert hers.post(f"{address_of(model)}{pk}/delete/", {"post": "yes"}).status_code == 403
        assert hers.get(address_of(model) + "add/").status_code == 403
    assert hers.post(f"/admin/competitions/competition/{pets.pk}/delete/", {"post": "yes"}).status_code == 403


@pytest.mark.attack("the admin as a back door")
def test_staff_see_only_the_competitions_they_host(hers: Client, ada: User, bo: User) -> None:
    hal = person("hal", can_host=True)
    secret = make_competition(hal, slug="secret", title="Secret of Hal")
    enter(secret, bo)
    submission = hand_in(secret, bo, answers(), file_name="secret-file.csv")
    data_files.add_data_file(competition=secret, file_name="secret-data.csv", chunks=[b"id,x\n1,2\n"])
    baseline = boards.add_baseline(
        competition=secret, user=hal, name="secret-baseline", file_name="b.csv", chunks=[answers()]
    )
    truth_drafts.draft_truth(
        competition=secret, metric="accuracy", params={}, file_name="secret-truth.csv", chunks=[TRUTH.encode()]
    )
    keys = {
        "competition": secret.pk,
        "truthdraft": TruthDraft.objects.get().pk,
        "groundtruth": GroundTruth.objects.get().pk,
        "datafile": DataFile.objects.get().pk,
        "baseline": baseline.baseline_id,
        "team": secret.teams.get().pk,
        "submission": submission.pk,
    }
    for model in MODELS:
        for address in (address_of(model), address_of(model) + "add/"):
            assert "ecret" not in hers.get(address).content.decode(), address
        for page, method in product(("change", "delete", "history"), ("get", "post")):
            address = f"{address_of(model)}{keys[model]}/{page}/"
            response = getattr(hers, method)(address, {"post": "yes"}, follow=True)
            assert "ecret" not in text_of(response), address
    for model, action in (("competition", "launch"), ("truthdraft", "publish"), ("truthdraft", "discard")):
        act(hers, model, action, keys[model])
    fields = {"competition": secret.pk, "file": upload("id,x\n", "mine.csv"), "name": "mine"}
    hers.post("/admin/competitions/datafile/add/", fields)
    hers.post("/admin/competitions/baseline/add/", {**fields, "file": upload("id,x\n")})
    hers.post("/admin/competitions/truthdraft/add/", draft_fields(secret))
    assert (DataFile.objects.count(), Baseline.objects.count()) == (1, 1)
    assert (TruthDraft.objects.get().file_name, GroundTruth.objects.count()) == ("secret-truth.csv", 1)


def test_people_are_the_operators_matter(hers: Client, olga: User, ada: User, bo: User) -> None:
    assert hers.get("/admin/accounts/user/").status_code == 403
    assert hers.post(f"/admin/accounts/user/{ada.pk}/change/", {"is_superuser": "on"}).status_code == 403
    assert (
        hers.get("/admin/autocomplete/?app_label=competitions&model_name=competition&field_name=hosts").status_code
        == 403
    )
    act(signed_in(olga), "user", "let_host", bo.pk)
    bo.refresh_from_db()
    assert bo.can_host
    assert signed_in(olga).get(f"/admin/accounts/user/{ada.pk}/change/").status_code == 200


def test_an_operator_sets_the_hosts(olga: User, pets: Competition, cy: User) -> None:
    sent = {**FILLED, "slug": "pets", "hosts": [str(cy.pk)]}
    signed_in(olga).post(f"/admin/competitions/competition/{pets.pk}/change/", sent)
    assert list(pets.hosts.all()) == [cy]


@pytest.mark.parametrize("path", ["", *(f"leaderboard/{model}/" for model in (*MODELS, "user"))])
@pytest.mark.attack("the admin as a back door")
def test_students_and_hosts_without_staff_rights_stay_outside(ada: User, bo: User, path: str) -> None:
    for user in (ada, bo):
        assert signed_in(user).get(f"/admin/{path}", follow=True).status_code == 403
    assert Client().get(f"/admin/{path}", follow=True).redirect_chain[-1][0].startswith("/accounts/login/")


def test_every_admin_page_obeys_the_content_security_policy(olga: User, pets: Competition, bo: User) -> None:
    enter(pets, bo)
    hand_in(pets, bo, answers())
    client = signed_in(olga)
    offences = []
    for model in admin.site._registry:
        name = f"{model._meta.app_label}/{model._meta.model_name}"
        obj = model._default_manager.first()
        paths = [f"/admin/{name}/", f"/admin/{name}/add/"]
        paths += [f"/admin/{name}/{obj.pk}/change/"] if obj else []
        for path in paths:
            page = client.get(path).content.decode()
            found = re.findall(
                r"\sstyle=\"[^\"]*|\son[a-z]+=\"[^\"]*|<style|<script(?![^>]*(?:\bsrc=|application/json))", page
            )
            offences += [(path, each) for each in found]
    assert offences == []


def test_the_admin_says_what_is_wrong_with_a_file_in_sentences(hers: Client, pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submission = hand_in(pets, bo, b"id,label\n1,cat\nx,dog\n")
    page = text_of(hers.get(f"/admin/competitions/submission/{submission.pk}/change/"))
    for problem in submission.problems:
        assert problem["message"] in html.unescape(page)
    assert "facts" not in page
