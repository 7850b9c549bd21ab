"""Help leads from each page to the part of a guide that explains it."""

from __future__ import annotations

import re

from django.test import Client
from django.urls import get_resolver, reverse

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition
from leaderboard.operations.templatetags.guides import PARTS, PLACES
from tests.conftest import enter
from tests.pages import signed_in

HELP = re.compile(r'<a href="(/help/[^"]*)"')


def test_every_part_is_in_its_guide_and_every_page_is_one(db: None) -> None:
    for guide, part in PARTS:
        assert f'<h2 id="{part}">' in Client().get(reverse("guide", args=[guide])).content.decode()
    names = set(get_resolver().reverse_dict)
    assert set(PLACES) <= names


def test_help_leads_to_the_part_that_explains_the_page(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)

    def help_on(user: User, address: str) -> str:
        found: list[str] = HELP.findall(signed_in(user).get(address).content.decode())
        return found[0]

    assert help_on(ada, "/host/pets/truth/") == "/help/hosts/#an-answer-was-wrong"
    assert help_on(ada, "/host/pets/people/") == "/help/hosts/#your-class"
    assert help_on(bo, "/c/pets/submit/") == "/help/students/#submit"
    assert help_on(bo, "/notifications/") == "/help/"
