"""The admin: a host's whole job, within what is theirs, through the same checks."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product

import pytest
from django.contrib import admin
from django.test import Client

import metrics
from leaderboard.accounts.models import User
from leaderboard.common.models import AuditEntry
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import (
    Competition,
    DataFile,
    GroundTruth,
    TruthDraft,
)
from leaderboard.submissions import outside_queue
from tests.conftest import TRUTH, answers, enter, make_competition, person, save_truth, submit
from tests.pages import form_of, signed_in, text_of, upload
from tests.site.test_host import FILLED

MODELS = ("competition", "auditentry")


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


ADD = "/admin/competitions/competition/add/"
NEW = {**FILLED, "admission": "code", "metric": "", "public_percent": "30", "seed": "0"}


def change_of(competition: Competition) -> str:
    return f"/admin/competitions/competition/{competition.pk}/change/"


def page_fields(competition: Competition, **fields: object) -> dict[str, object]:
    """The form of a competition's page, with answers to check."""
    settings = {"title": competition.title, "slug": competition.slug, "zone": competition.zone}
    return {**NEW, **settings, "metric": "Accuracy", "public_percent": "50", "file": upload(TRUTH), **fields}


def press(client: Client, competition: Competition, **button: str) -> str:
    """Press a button of the page, with nothing else changed; returns what Ada reads then."""
    fields = form_of(client.get(change_of(competition)))
    return text_of(client.post(change_of(competition), {**fields, **button}, follow=True))


def test_a_host_launches_from_one_form(hers: Client, ada: User, work: Callable[[], int]) -> None:
    made = hers.post(
        ADD, {**NEW, "metric": "Accuracy", "file": upload(TRUTH), "students": upload("id,x\n1,2\n", "x.csv")}
    )
    pond = Competition.objects.get(slug="pond-life")
    assert (made.status_code, made["Location"]) == (303, f"{change_of(pond)}#check")
    assert (list(pond.hosts.all()), pond.zone, pond.limits.daily_attempts) == ([ada], "Europe/Vienna", 5)
    assert (TruthDraft.objects.get().metric, DataFile.objects.get().name) == ("accuracy", "x.csv")
    page = text_of(hers.get(change_of(pond)))
    assert "6 public, 6 private rows" in page
    assert "Students get x.csv." in page
    assert "Use these answers" in hers.get(change_of(pond)).content.decode()

    assert "Testing a sample submission" in press(hers, pond, use="yes")
    assert "The competition can't launch yet" in act(hers, "competition", "launch", pond.pk)
    outside_queue.score_preview(pond.ground_truths.get().pk)
    assert 'name="launch"' in hers.get(change_of(pond)).content.decode()
    assert "is launched" in press(hers, pond, launch="yes")
    pond.refresh_from_db()
    assert pond.launched_at is not None


def test_the_actions_of_the_list_lead_to_the_launch_too(hers: Client, ada: User, draft: Competition) -> None:
    assert "Add the answer file first" in act(hers, "competition", "use_answers", draft.pk)
    hers.post(change_of(draft), page_fields(draft))
    assert "not used yet" in text_of(hers.get(address_of("competition")))
    assert "uses the answers" in act(hers, "competition", "use_answers", draft.pk)
    outside_queue.score_preview(draft.ground_truths.get().pk)
    assert "is launched" in act(hers, "competition", "launch", draft.pk)
    opened = {"action": "open_page", "_selected_action": [draft.pk]}
    assert hers.post(address_of("competition"), opened)["Location"] == f"/host/{draft.slug}/"
    other = make_competition(ada, slug="second", title="Second")
    assert "Choose one competition" in act(hers, "competition", "open_page", draft.pk, other.pk)


def test_a_change_goes_through_the_rules_of_the_site(hers: Client, pets: Competition, bo: User) -> None:
    enter(pets, bo)
    press(hers, pets, rules="Be fairer.")
    changed = Competition.objects.get()
    assert (changed.rules, changed.rules_version) == ("Be fairer.", 2)
    assert "Another page uses the address “" in press(hers, pets, slug="new")
    closes_at = Competition.objects.get().closes_at
    press(hers, pets, closes_at="2026-03-02T08:00")
    assert Competition.objects.get().closes_at == closes_at, "that is asked on a page of its own"
    assert 'href="/host/pets/deadline/"' in hers.get(change_of(pets)).content.decode()
    assert not TruthDraft.objects.exists(), "nothing about the answers was changed"


def test_a_new_one_needs_title_and_file_and_finds_a_free_address(hers: Client, pets: Competition) -> None:
    page = text_of(hers.post(ADD, {**NEW, "title": ""}))
    assert "Choose the answer file." in page
    assert "Title: This field is required." in page
    assert Competition.objects.count() == 1
    hers.post(ADD, {**NEW, "title": "Pets", "file": upload(TRUTH)})
    assert set(Competition.objects.values_list("slug", flat=True)) == {"pets", "pets-2"}


def test_the_metric_is_searched_and_none_is_chosen_before(hers: Client, draft: Competition) -> None:
    for path in (ADD, change_of(draft)):
        page = hers.get(path).content.decode()
        field = page.partition('name="metric"')[2].partition(">")[0]
        assert "value=" not in field
        assert 'list="metrics"' in field
        options = re.findall("<option value=[^>]*>([a-z0-9_]+)<", page.partition('<datalist id="metrics">')[2])
        assert options == [metric.key for metric in metrics.catalogue()], "the usual ones first"
        assert 'name="parameters_of"' not in page
    assert hers.post(change_of(draft), page_fields(draft, metric="no such")).status_code == 422
    assert not TruthDraft.objects.exists()


def test_without_a_metric_one_is_proposed(hers: Client, draft: Competition) -> None:
    hers.post(change_of(draft), page_fields(draft, metric=""))
    made = TruthDraft.objects.get()
    assert made.report["ok"]
    assert metrics.get(made.metric).title in text_of(hers.get(change_of(draft)))


def test_a_metric_brings_the_fields_of_its_parameters(hers: Client, draft: Competition, bo: User) -> None:
    fragment = "/admin/competitions/competition/parameters/"
    asked = {"competition": str(draft.pk), "metric": "F-beta"}
    assert 'name="param-beta"' in hers.get(fragment, asked).content.decode()
    unknown = hers.get(fragment, {"metric": "?"}).content.decode()
    assert 'id="parameters"' in unknown
    assert "param-" not in unknown
    assert signed_in(bo).get(fragment, asked).status_code == 302
    fields = page_fields(draft, metric="fbeta")
    unseen = hers.post(change_of(draft), fields)  # a browser without scripts shows them now
    assert unseen.status_code == 422
    assert 'name="param-beta"' in unseen.content.decode()
    seen = {**fields, "file": upload(TRUTH), "parameters_of": "fbeta", "param-beta": "0.5", "param-positive": "1"}
    seen["param-average"] = "binary"
    assert hers.post(change_of(draft), seen).status_code == 303
    made = TruthDraft.objects.get()
    assert (made.metric, made.params["beta"], made.public_share) == ("fbeta", 0.5, 0.5)


def test_the_answer_columns_are_proposed_or_named(hers: Client, draft: Competition) -> None:
    wide = "id,age,label\n" + "".join(f"{i},{i % 7},{'cat' if i % 2 else 'dog'}\n" for i in range(1, 21))
    missing = hers.post(change_of(draft), page_fields(draft, file=upload(wide), answers="species"))
    assert missing.status_code == 409
    assert "species" in text_of(missing)
    assert not TruthDraft.objects.exists()
    hers.post(change_of(draft), page_fields(draft, file=upload(wide)))
    made = TruthDraft.objects.get()
    assert (made.report["ok"], made.report["target_columns"]) == (True, ["label"])
    assert 'name="predict" value="age"' in hers.get(change_of(draft)).content.decode()
    assert DataFile.objects.exists(), "students get the other columns"
    named = page_fields(draft, file="", answers="age", metric="mae")
    assert hers.post(change_of(draft), named)["Location"] == f"{change_of(draft)}#check"
    made.refresh_from_db()
    assert (made.report["target_columns"], made.metric, made.file_name) == (["age"], "mae", "truth.csv")


def test_a_spreadsheets_file_is_converted_on_the_page(hers: Client, draft: Competition) -> None:
    prices = "id;price\n" + "".join(f"{i};{i},5\n" for i in range(1, 21))
    hers.post(change_of(draft), page_fields(draft, file=upload(prices), metric=""))
    page = hers.get(change_of(draft)).content.decode()
    assert 'value="convert"' in page
    assert 'name="use"' not in page
    press(hers, draft, fix="convert")
    assert TruthDraft.objects.get().report["ok"]


def test_corrected_answers_lead_to_the_preview_of_who_would_move(
    hers: Client, pets: Competition, bo: User, work: Callable[[], int]
) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
    hers.post(change_of(pets), page_fields(pets, file=upload(TRUTH.replace("\n7,cat", "\n7,dog"))))
    assert not pets.candidate_id
    used = hers.post(change_of(pets), page_fields(pets, file="", use="yes"))
    assert used["Location"] == "/host/pets/truth/"
    pets.refresh_from_db()
    assert (pets.ground_truth.number, pets.candidate.number) == (1, 2)  # type: ignore[union-attr]
    assert "correction pending" in text_of(hers.get(address_of("competition")))


def test_the_admin_and_the_pages_of_the_site_lead_to_each_other(hers: Client, pets: Competition) -> None:
    assert 'href="/admin/"' in hers.get("/account/").content.decode()
    assert 'href="/host/pets/"' in hers.get(change_of(pets)).content.decode()
    assert 'href="/host/pets/"' in hers.get(address_of("competition")).content.decode()


def test_wrong_parameters_and_errors_of_the_file_are_shown(hers: Client, pets: Competition) -> None:
    wrong = {"metric": "fbeta", "parameters_of": "fbeta", "param-beta": "-1"}
    assert "Beta: Must be over 0" in text_of(hers.post(change_of(pets), page_fields(pets, **wrong)))
    twice = upload("id,label,Usage\n1,a,Public\n1,b,Private\n")
    page = text_of(hers.post(change_of(pets), page_fields(pets, file=twice), follow=True))
    assert "Error: 1 row with an id that was there before" in page
    assert "The answers can't be published" in act(hers, "competition", "use_answers", pets.pk)
    assert GroundTruth.objects.count() == 1


def test_a_risky_metric_is_confirmed_on_the_page(hers: Client, pets: Competition) -> None:
    phrases = "id,w,Usage\n" + "".join(f"{i},a {i},{'Public' if i % 2 else 'Private'}\n" for i in range(1, 9))
    fields = {"metric": "coleridge_fbeta", "parameters_of": "coleridge_fbeta", "param-matching": "per_prediction"}
    shown = metrics.get("coleridge_fbeta").parameters
    fields = {**{f"param-{one.name}": "" if one.default is None else one.default for one in shown}, **fields}
    hers.post(change_of(pets), page_fields(pets, file=upload(phrases), **fields))
    assert "repeating one right phrase" in act(hers, "competition", "use_answers", pets.pk)
    assert "repeating one right phrase" in press(hers, pets, use="yes")
    assert GroundTruth.objects.count() == 1
    press(hers, pets, use="yes", is_confirmed="on")
    assert GroundTruth.objects.count() == 2


def test_answers_among_the_files_for_students_are_refused_in_words(hers: Client, pets: Competition) -> None:
    fields = form_of(hers.get(change_of(pets)))
    page = text_of(hers.post(change_of(pets), {**fields, "students": upload(TRUTH, "t.csv")}, follow=True))
    assert "Students could download the answers" in page
    assert not DataFile.objects.exists()


def test_the_audit_log_cannot_be_edited_and_no_competition_deleted(hers: Client, pets: Competition, ada: User) -> None:
    competitions.change_competition(competition=pets, user=ada, subtitle="Which is it?")
    address = f"{address_of('auditentry')}{AuditEntry.objects.latest('pk').pk}/"
    assert hers.get(f"{address}change/").status_code == 200
    assert 'type="submit" value="Save"' not in hers.get(f"{address}change/").content.decode()
    assert hers.post(f"{address}change/", {"about": "nothing"}).status_code == 403
    assert hers.post(f"{address}delete/", {"post": "yes"}).status_code == 403
    assert hers.get(f"{address_of('auditentry')}add/").status_code == 403
    assert hers.post(f"/admin/competitions/competition/{pets.pk}/delete/", {"post": "yes"}).status_code == 403


@pytest.mark.attack("the admin as a back door")
def test_staff_see_only_the_competitions_they_host(hers: Client, ada: User, bo: User) -> None:
    hal = person("hal", can_host=True)
    secret = make_competition(hal, slug="secret", title="Secret of Hal")
    enter(secret, bo)
    save_truth(secret, TRUTH, file_name="secret-truth.csv")
    competitions.change_competition(competition=secret, user=hal, subtitle="A secret")
    keys = {"competition": secret.pk, "auditentry": AuditEntry.objects.latest("pk").pk}
    for model in MODELS:
        for address in (address_of(model), address_of(model) + "add/"):
            assert "ecret" not in hers.get(address).content.decode(), address
        for page, method in product(("change", "delete", "history"), ("get", "post")):
            address = f"{address_of(model)}{keys[model]}/{page}/"
            response = getattr(hers, method)(address, {"post": "yes"}, follow=True)
            assert "ecret" not in text_of(response), address
    for action in ("use_answers", "launch", "open_page"):
        assert "ecret" not in act(hers, "competition", action, secret.pk)
    for button in ({}, {"use": "yes"}, {"launch": "yes"}, {"fix": "redraw"}, {"predict": "label"}):
        assert hers.post(change_of(secret), page_fields(secret, **button)).status_code == 404
    asked = {"competition": str(secret.pk), "metric": "weighted_mae"}
    assert "<option" not in hers.get("/admin/competitions/competition/parameters/", asked).content.decode()
    assert (TruthDraft.objects.get().file_name, GroundTruth.objects.count()) == ("secret-truth.csv", 1)


def test_people_are_the_operators_matter(hers: Client, olga: User, ada: User, bo: User) -> None:
    assert hers.get("/admin/accounts/user/").status_code == 403
    assert hers.post(f"/admin/accounts/user/{ada.pk}/change/", {"is_superuser": "on"}).status_code == 403
    assert signed_in(olga).get(f"/admin/accounts/user/{ada.pk}/change/").status_code == 200


def test_a_host_adds_no_competition_without_the_right(hers: Client, ada: User) -> None:
    User.objects.filter(pk=ada.pk).update(can_host=False)
    assert hers.get(ADD).status_code == 403
    assert hers.post(ADD, {**NEW, "file": upload(TRUTH)}).status_code == 403
    assert not Competition.objects.exists()


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
