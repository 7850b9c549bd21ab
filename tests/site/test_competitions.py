"""The list of competitions."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition
from tests.conftest import answers, close, enter, make_competition, submit


def page(client: Client, query: str = "") -> str:
    return client.get("/competitions/" + query).content.decode()


def test_a_stranger_sees_listed_competitions_and_no_private_one(client: Client, ada: User) -> None:
    make_competition(ada, is_listed=True)
    make_competition(ada, slug="secret", title="Secret question")
    assert "Cats or dogs" in page(client)
    assert "Secret question" not in page(client)
    assert "Secret question" not in page(client, "?q=secret&show=mine")


def test_a_private_competition_shows_itself_to_its_members_and_hosts(
    client: Client, pets: Competition, ada: User, bo: User, cy: User, olga: User
) -> None:
    enter(pets, bo)
    for person, sees in ((bo, True), (ada, True), (cy, False), (olga, False)):
        client.force_login(person)
        assert ("Cats or dogs" in page(client)) is sees, person


def test_a_draft_is_on_nobodys_list(client: Client, ada: User) -> None:
    make_competition(ada, is_listed=True, launched=False)
    client.force_login(ada)
    assert "Cats or dogs" not in page(client)


def test_chips_and_search_choose(client: Client, ada: User, bo: User) -> None:
    now = timezone.now()
    pets = make_competition(ada, is_listed=True)
    make_competition(ada, slug="bikes", title="Bikes", is_listed=True, opens_at=now + timedelta(hours=1))
    ended = make_competition(ada, slug="digits", title="Digits", is_listed=True)
    close(ended)
    enter(pets, bo)
    client.force_login(bo)
    expected = {"live": "Cats or dogs", "upcoming": "Bikes", "ended": "Digits", "mine": "Cats or dogs"}
    for show, title in expected.items():
        found = page(client, f"?show={show}")
        assert [t for t in ("Cats or dogs", "Bikes", "Digits") if t in found] == [title]
    assert "Bikes" in page(client, "?q=bik")
    assert "No competition matches" in page(client, "?q=nothing")


def test_my_rank_is_on_the_card(client: Client, ada: User, bo: User, cy: User) -> None:
    pets = make_competition(ada, is_listed=True)
    for person, wrong in ((bo, 1), (cy, 0)):
        enter(pets, person)
        submit(pets, person, answers(public=wrong))
    client.force_login(bo)
    assert "2 of 2" in page(client)
    client.logout()
    assert "2 of 2" not in page(client)


def test_an_empty_house_asks_for_a_code_and_its_host_for_a_competition(client: Client, ada: User) -> None:
    assert 'name="code"' in page(client)
    assert "Create a competition" not in page(client)
    client.force_login(ada)
    assert "Create a competition" in page(client)


def test_what_can_be_entered_now_comes_first(client: Client, ada: User) -> None:
    now, day = timezone.now(), timedelta(days=1)
    for slug, opens in (("over", -20 * day), ("soon", 5 * day), ("running", -5 * day)):
        competition = make_competition(ada, slug=slug, title=slug.title(), is_listed=True)
        Competition.objects.filter(pk=competition.pk).update(opens_at=now + opens, closes_at=now + opens + 10 * day)
    text = page(client)
    assert text.index("Running") < text.index("Soon") < text.index("Over")


def test_the_page_asks_modestly_however_many_competitions_there_are(
    client: Client, ada: User, bo: User, django_assert_max_num_queries: Any
) -> None:
    for slug in ("one", "two", "three", "four"):
        competition = make_competition(ada, slug=slug, is_listed=True)
        enter(competition, bo)
        submit(competition, bo, answers())
    client.force_login(bo)
    with django_assert_max_num_queries(9):
        assert page(client).count("1 of 1") == 4
