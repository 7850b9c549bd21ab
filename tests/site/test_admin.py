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

import metrics
from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.competitions.models import Baseline, Competition, DataFile, GroundTruth, Submission, TruthDraft
from leaderboard.ground_truths.services import data_files, publishing
from tests.conftest import TRUTH, answers, close, enter, make_competition, person, save_truth, submit
from tests.pages import signed_in, text_of, upload
from tests.site.test_host import FILLED

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
        "public_percent": "50",
        "seed": "0",
        "file": upload(TRUTH),
        **fields,
    }


def test_a_hosts_whole_job_is_done_in_the_admin(hers: Client, ada: User, work: Callable[[], int]) -> None:
    made = hers.post("/admin/competitions/competition/add/", FILLED)
    assert made.status_code == 302
    pond = Competition.objects.get(slug="pond-life")
    assert list(pond.hosts.all()) == [ada]
    assert "The answers are ready" in act(hers, "competition", "launch", pond.pk)

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
    save_truth(pets, TRUTH.replace("\n7,cat", "\n7,dog"), public_share=0.5, seed=1)
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
    assert "Another page uses the address “" in text_of(wrong)


ADD = "/admin/competitions/truthdraft/add/"


def test_the_metric_is_searched_and_none_is_chosen_before(hers: Client, draft: Competition) -> None:
    page = hers.get(f"{ADD}?competition={draft.pk}").content.decode()
    field = page.partition('name="metric"')[2].partition(">")[0]
    assert "value=" not in field
    assert 'list="metrics"' in field
    options = page.partition('<datalist id="metrics">')[2].partition("</datalist>")[0]
    assert options.count("<option") == len(metrics.catalogue())
    assert 'name="parameters_of"' not in page
    assert hers.post(ADD, draft_fields(draft, metric="")).status_code == 422
    assert hers.post(ADD, draft_fields(draft, metric="no such")).status_code == 422
    assert not TruthDraft.objects.exists()


def test_a_metric_brings_the_fields_of_its_parameters(hers: Client, draft: Competition, bo: User) -> None:
    asked = {"competition": str(draft.pk), "metric": "F-beta"}
    assert 'name="param-beta"' in hers.get("/admin/competitions/truthdraft/parameters/", asked).content.decode()
    unknown = hers.get("/admin/competitions/truthdraft/parameters/", {"metric": "?"}).content.decode()
    assert 'id="parameters"' in unknown
    assert "param-" not in unknown
    assert signed_in(bo).get("/admin/competitions/truthdraft/parameters/", asked).status_code == 302
    fields = draft_fields(draft, metric="fbeta")
    unseen = hers.post(ADD, fields)  # a browser without scripts shows them now
    assert unseen.status_code == 422
    assert 'name="param-beta"' in unseen.content.decode()
    seen = {**fields, "file": upload(TRUTH), "parameters_of": "fbeta", "param-beta": "0.5", "param-positive": "1"}
    seen["param-average"] = "binary"
    assert hers.post(ADD, seen).status_code == 303
    made = TruthDraft.objects.get()
    assert (made.metric, made.params["beta"], made.public_share) == ("fbeta", 0.5, 0.5)


def test_the_answer_columns_are_named_on_the_same_form(hers: Client, draft: Competition) -> None:
    wide = "id,age,label\n" + "".join(f"{i},{i % 7},{'cat' if i % 2 else 'dog'}\n" for i in range(1, 21))
    missing = hers.post(ADD, draft_fields(draft, file=upload(wide), answers="species"))
    assert missing.status_code == 409
    assert "species" in text_of(missing)
    assert not TruthDraft.objects.exists()
    hers.post(ADD, draft_fields(draft, file=upload(wide), answers="label"))
    made = TruthDraft.objects.get()
    assert (made.report["ok"], made.report["target_columns"]) == (True, ["label"])
    change = f"/admin/competitions/truthdraft/{made.pk}/change/"
    page = hers.get(change).content.decode()
    assert 'value="label"' in page
    again = {**draft_fields(draft, answers="label", seed="5"), "file": ""}
    assert hers.post(change, again)["Location"] == change
    made.refresh_from_db()
    assert (made.seed, made.report["target_columns"], made.file_name) == (5, ["label"], "truth.csv")


def test_the_admin_and_the_page_of_the_answers_lead_to_each_other(hers: Client, pets: Competition, bo: User) -> None:
    here = f"{ADD}?competition={pets.pk}"
    assert 'href="/host/pets/truth/"' in hers.get(here).content.decode()
    assert f'href="{here}"' in hers.get("/host/pets/truth/").content.decode()
    assert f'href="{here}"' in hers.get(f"/admin/competitions/competition/{pets.pk}/change/").content.decode()
    hers.post(ADD, draft_fields(pets))
    made = TruthDraft.objects.get()
    assert hers.get(here)["Location"] == f"/admin/competitions/truthdraft/{made.pk}/change/"


def test_wrong_parameters_and_blocking_findings_are_shown(hers: Client, pets: Competition) -> None:
    wrong = {"metric": "fbeta", "parameters_of": "fbeta", "param-beta": "-1"}
    assert "Beta: Must be over 0" in text_of(hers.post(ADD, draft_fields(pets, **wrong)))
    hers.post(ADD, draft_fields(pets, file=upload("id,label,Usage\n1,a,Public\n1,b,Private\n")))
    draft = TruthDraft.objects.get()
    page = text_of(hers.get(f"/admin/competitions/truthdraft/{draft.pk}/change/"))
    assert "Blocks: 1 row with an id that was there before" in page
    assert "The answers can't be published" in act(hers, "truthdraft", "publish", draft.pk)
    assert GroundTruth.objects.count() == 1
    assert "thrown away" in act(hers, "truthdraft", "discard", draft.pk)
    assert not TruthDraft.objects.exists()


def test_a_confirmation_is_an_action_of_its_own(hers: Client, pets: Competition) -> None:
    phrases = "id,w,Usage\n" + "".join(f"{i},a {i},{'Public' if i % 2 else 'Private'}\n" for i in range(1, 9))
    fields = {"metric": "coleridge_fbeta", "parameters_of": "coleridge_fbeta", "param-matching": "per_prediction"}
    shown = metrics.get("coleridge_fbeta").parameters
    fields = {**{f"param-{one.name}": "" if one.default is None else one.default for one in shown}, **fields}
    hers.post(ADD, draft_fields(pets, file=upload(phrases), **fields))
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
    assert "Students could download the answers" in text_of(hers.post(add, leaky, follow=True))
    settings.MAX_UPLOAD_BYTES = 3
    large = {"competition": pets.pk, "file": upload("id,x\n", "t.csv")}
    assert "larger than" in text_of(hers.post(add, large, follow=True))
    assert not DataFile.objects.exists()


def test_what_is_published_or_handed_in_cannot_be_edited(hers: Client, pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submission = submit(pets, bo, answers())
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
    submission = submit(secret, bo, answers(), file_name="secret-file.csv")
    data_files.add_data_file(competition=secret, file_name="secret-data.csv", chunks=[b"id,x\n1,2\n"])
    baseline = boards.add_baseline(
        competition=secret, user=hal, name="secret-baseline", file_name="b.csv", chunks=[answers()]
    )
    save_truth(secret, TRUTH, file_name="secret-truth.csv")
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
    assert signed_in(olga).get(f"/admin/accounts/user/{ada.pk}/change/").status_code == 200


def test_an_operator_sets_the_hosts(olga: User, pets: Competition, cy: User) -> None:
    sent = {**FILLED, "slug": "pets", "hosts": [str(cy.pk)]}
    signed_in(olga).post(f"/admin/competitions/competition/{pets.pk}/change/", sent)
    assert list(pets.hosts.all()) == [cy]


@pytest.mark.parametrize("path", ["/admin/", *map(address_of, (*MODELS, "user"))])
@pytest.mark.attack("the admin as a back door")
def test_students_and_hosts_without_staff_rights_stay_outside(ada: User, bo: User, olga: User, path: str) -> None:
    assert signed_in(olga).get(path).status_code == 200
    for user in (ada, bo):
        assert signed_in(user).get(path, follow=True).status_code == 403
    assert Client().get(path, follow=True).redirect_chain[-1][0].startswith("/accounts/login/")


def test_every_admin_page_obeys_the_content_security_policy(olga: User, pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
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
    submission = submit(pets, bo, b"id,label\n1,cat\nx,dog\n")
    page = text_of(hers.get(f"/admin/competitions/submission/{submission.pk}/change/"))
    for problem in submission.problems:
        assert problem["message"] in html.unescape(page)
    assert "facts" not in page
