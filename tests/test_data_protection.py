"""What docs/data-protection.md tells an officer is what the code does."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import timedelta
from pathlib import Path

from django.apps import apps
from django.conf import LazySettings
from django.db import models

from leaderboard.accounts.models import User
from leaderboard.accounts.personal_data import export_account
from leaderboard.classroom.models import JOIN_CARD_LIFETIME
from leaderboard.common.clock import database_now
from leaderboard.competitions import page_tasks
from leaderboard.competitions.models import Archive
from leaderboard.submissions.scoring_again import INVALID_FILES_STAY

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "data-protection.md").read_text()
LISTS, IMPERSONAL = PAGE.split("## What is stored")[1].split("### Not about people")
IMPERSONAL, FIELDS = IMPERSONAL.split("## Every field about people")
NAMES = r"`(\w+\.\w+)`"
PERSONAL = dict(re.findall(rf"^\| {NAMES} \|.*\| ([^|]+) \|$", LISTS, flags=re.M))
"""Each table about people with what the page says of the end of an account."""


def tables() -> dict[str, type[models.Model]]:
    return {model._meta.label: model for model in apps.get_models(include_auto_created=True) if not model._meta.proxy}


def relations_to_people(model: type[models.Model]) -> list[models.ForeignKey[User, User]]:
    found = [one for one in model._meta.local_fields if isinstance(one, models.ForeignKey)]
    return [one for one in found if one.related_model is User]


def test_each_table_stands_on_the_page_once() -> None:
    named = re.findall(rf"^\| {NAMES} \|", LISTS, flags=re.M)
    named += [name for row in re.findall(r"^\| (`.+?) \|", IMPERSONAL, flags=re.M) for name in re.findall(NAMES, row)]
    assert sorted(named) == sorted(tables())


def test_a_table_that_leads_to_a_person_is_among_those_about_people() -> None:
    leading = {label for label, model in tables().items() if relations_to_people(model)}
    assert len(leading) > 20
    assert leading - set(PERSONAL) == set()


def test_what_goes_with_an_account_is_said_to_go() -> None:
    for label, end in PERSONAL.items():
        kinds = {one.remote_field.on_delete for one in relations_to_people(tables()[label])}
        assert (models.CASCADE not in kinds) or end.startswith("deleted"), label


def test_every_field_about_people_is_listed() -> None:
    """Whoever adds one copies the line from here and asks what the tables above must say of it."""
    lines = [
        f"| `{label}` | {', '.join(one.name for one in tables()[label]._meta.local_fields if not one.primary_key)} |"
        for label in sorted(PERSONAL)
    ]
    assert FIELDS.strip().splitlines()[4:] == lines


def test_the_terms_are_those_of_the_code(settings: LazySettings) -> None:
    terms = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|", PAGE.split("## How long")[1], flags=re.M))

    def stays(beginning: str) -> timedelta:
        (words,) = (length for what, length in terms.items() if what.startswith(beginning))
        number, unit = re.findall(r"^(\d+) (day|hour)", words)[0]
        return timedelta(**{f"{unit}s": int(number)})

    assert stays("a session") == timedelta(seconds=settings.SESSION_COOKIE_AGE)
    assert stays("a competition that a host deleted") == timedelta(days=Archive.BIN_DAYS)
    assert stays("the bytes of a file") == INVALID_FILES_STAY
    assert stays("a form that a worker answered") == timedelta(days=page_tasks.STORED_DAYS)
    assert stays("a one-time code") == JOIN_CARD_LIFETIME
    assert stays("a link to choose") == timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT)


def test_no_page_may_ask_another_server(settings: LazySettings) -> None:
    allowed = {source for sources in settings.CONTENT_SECURITY_POLICY["DIRECTIVES"].values() for source in sources}
    assert allowed == {"'none'", "'self'", "data:"}


def test_what_a_person_takes_along_is_listed(bo: User) -> None:
    (row,) = re.findall(r"^\| access, portability .*$", PAGE, flags=re.M)
    with zipfile.ZipFile(io.BytesIO(), "w") as archive:
        export_account(archive, account=bo, at=database_now())
        assert {f"{name}.json" for name in re.findall(r"`(\w+)`", row)} == set(archive.namelist())
