"""The admin: accounts for operators; what staff host, for reading."""

from __future__ import annotations

import html
import re
from itertools import product

import pytest
from django.contrib import admin
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition, GroundTruth
from leaderboard.competitions.services import publishing, truth_drafts
from tests.conftest import TRUTH, answers, enter, hand_in, make_competition, person
from tests.web.test_host import signed_in, text_of

MODELS = ("competition", "groundtruth", "team", "submission")


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


def test_a_competition_leads_to_the_pages_where_its_host_changes_it(hers: Client, pets: Competition, bo: User) -> None:
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


def test_whatever_staff_see_of_a_competition_is_read_only(hers: Client, pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submission = hand_in(pets, bo, answers())
    keys = {
        "competition": pets.pk,
        "groundtruth": GroundTruth.objects.get().pk,
        "team": pets.teams.get().pk,
        "submission": submission.pk,
    }
    for model in MODELS:
        address = f"{address_of(model)}{keys[model]}/change/"
        assert hers.get(address).status_code == 200
        assert 'type="submit" value="Save"' not in hers.get(address).content.decode()
        assert hers.post(address, {"title": "x", "metric": "rmse", "status": "failed"}).status_code == 403
        assert hers.post(f"{address_of(model)}{keys[model]}/delete/", {"post": "yes"}).status_code == 403
        assert hers.get(address_of(model) + "add/").status_code == 403


@pytest.mark.attack("the admin as a back door")
def test_staff_see_only_the_competitions_they_host(hers: Client, bo: User) -> None:
    secret = make_competition(person("hal", can_host=True), slug="secret", title="Secret of Hal")
    enter(secret, bo)
    secret.teams.update(name="Secret team")
    submission = hand_in(secret, bo, answers(), file_name="secret-file.csv")
    keys = {
        "competition": secret.pk,
        "groundtruth": GroundTruth.objects.get().pk,
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
