"""The board within another site: where its host allows it, for everybody there, without anybody's session."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard import __version__, hosting, joining, ranking
from leaderboard.models import ApiToken, AuditEntry, Competition, User
from tests.conftest import answers, close, enter, hand_in
from tests.web.test_join import signed_in

EMBED, HOST = "/c/pets/embed/", "/host/pets/board/"
MOODLE = "https://moodle.example.edu"


@pytest.fixture
def shared(pets: Competition, bo: User, cy: User) -> Competition:
    """Bo and Cy are a team with a score; Moodle may show the board of the unlisted competition."""
    team = enter(pets, bo).team
    joining.accept_rules(membership=joining.by_invitation(user=cy, invitation=team.invitation))
    hand_in(pets, bo, answers(public=1, private=2))
    return hosting.change(competition=pets, embed_sites=MOODLE)


def test_without_the_hosts_word_there_is_no_such_page(client: Client, pets: Competition) -> None:
    assert client.get(EMBED).status_code == 404


def test_a_draft_is_never_shown(client: Client, shared: Competition) -> None:
    Competition.objects.update(launched_at=None)
    assert client.get(EMBED).status_code == 404


def test_a_stranger_sees_teams_and_scores_and_no_members(client: Client, shared: Competition) -> None:
    response = client.get(EMBED)
    text = response.content.decode()
    assert "0.83333" in text
    assert ">bo<" in text
    assert "bo, cy" not in text
    assert ">cy<" not in text
    assert f"style.css?v={__version__}" in text, "what an upgrade changed is fetched anew"
    assert "0.66667" not in text
    assert "<script" not in text


def test_only_the_named_sites_may_frame_it_and_nobody_any_other_page(client: Client, shared: Competition) -> None:
    response = client.get(EMBED)
    assert response["Content-Security-Policy"].endswith(f"form-action 'none'; frame-ancestors {MOODLE}")
    assert "X-Frame-Options" not in response
    other = client.get("/")
    assert "frame-ancestors 'none'" in other["Content-Security-Policy"]
    assert other["X-Frame-Options"] == "DENY"


def test_it_knows_nobody_sets_no_cookie_and_may_be_kept(shared: Competition, bo: User) -> None:
    mine, anybodys = signed_in(bo).get(EMBED), Client().get(EMBED)
    assert mine.content == anybodys.content
    for response in (mine, anybodys):
        assert not response.cookies
        assert response["Cache-Control"] == "public, max-age=15"
        assert "cookie" not in response.get("Vary", "").lower()
    again = Client().get(EMBED, headers={"If-None-Match": mine["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert MOODLE in again["Content-Security-Policy"]
    shared.touch_board()
    assert Client().get(EMBED, headers={"If-None-Match": mine["ETag"]}).status_code == 200


def test_the_private_board_comes_with_the_reveal_and_not_before(client: Client, shared: Competition, ada: User) -> None:
    close(shared)
    assert "0.66667" not in signed_in(ada).get(EMBED + "?board=private").content.decode()
    ranking.reveal(Competition.objects.get(), timezone.now())
    text = client.get(EMBED).content.decode()
    assert "Final ranking" in text
    assert "0.66667" in text


@pytest.mark.parametrize(
    ("mode", "words"), [("steady", "steady: a score moves"), ("hidden", "without scores and ranks")]
)
def test_it_says_how_the_board_shows_scores(client: Client, shared: Competition, mode: str, words: str) -> None:
    hosting.change(competition=shared, board_mode=mode, board_step=0.5)
    text = client.get(EMBED).content.decode()
    assert words in text
    assert "0.83333" not in text


def test_ada_names_the_sites_and_it_is_noted(shared: Competition, ada: User) -> None:
    client = signed_in(ada)
    saved = client.post(HOST, {"embed_sites": " HTTPS://a.example.edu  http://localhost:8080", "teams_close_at": ""})
    assert saved.status_code == 303
    shared.refresh_from_db()
    assert shared.embed_sites == "https://a.example.edu http://localhost:8080"
    assert ("embed sites", MOODLE, shared.embed_sites) in AuditEntry.objects.order_by("-number")[0].changes
    assert f"http://testserver{EMBED}" in client.get(HOST).content.decode()


@pytest.mark.parametrize(
    "sites",
    ["moodle", "https://a.example.edu/page", "https://a;script-src *", "* https://a.org", "'self'", "javascript:1"],
)
def test_what_is_no_site_is_refused_and_kept_in_the_form(shared: Competition, ada: User, sites: str) -> None:
    response = signed_in(ada).post(HOST, {"embed_sites": sites, "teams_close_at": ""})
    assert response.status_code == 422
    assert "is no address of a site" in response.content.decode()
    shared.refresh_from_db()
    assert shared.embed_sites == MOODLE


def test_ada_closes_the_teams_early_but_not_after_the_deadline(shared: Competition, ada: User) -> None:
    client, soon = signed_in(ada), timezone.now() + timedelta(hours=3)
    assert client.post(HOST, {"embed_sites": "", "teams_close_at": f"{soon:%Y-%m-%dT%H:%M}"}).status_code == 303
    shared.refresh_from_db()
    assert shared.teams_close_at == soon.replace(second=0, microsecond=0)
    late = shared.closes_at + timedelta(days=2)
    response = client.post(HOST, {"embed_sites": "", "teams_close_at": f"{late:%Y-%m-%dT%H:%M}"})
    assert response.status_code == 422
    assert "from the deadline on" in response.content.decode()


def test_programs_read_intervals_and_ties_too(shared: Competition, bo: User) -> None:
    headers = {"Authorization": f"Bearer {ApiToken.issue(bo, 'test')[1]}"}
    (row,) = Client().get("/api/v1/competitions/pets/leaderboard", headers=headers).json()["items"]
    assert row["interval"][0] < row["score"] <= row["interval"][1]
    assert row["tied_from"] is None
    hosting.change(competition=shared, board_mode="steady", board_step=0.5)
    (row,) = Client().get("/api/v1/competitions/pets/leaderboard", headers=headers).json()["items"]
    assert row["interval"] is None
