"""Ada's class on a site of other processes: made there by `Site.make_class`, or by a script's own process."""

from __future__ import annotations

import json
from typing import Any

from django.contrib.sessions.models import Session
from django.db import connection, transaction

from leaderboard.accounts.models import ApiToken, User
from leaderboard.common import storage
from leaderboard.competitions.models.page_task import Duty, Worker
from tests import recordings
from tests.conftest import enter, make_competition


def make_class(people: tuple[str, ...] = ("bo", "cy"), *, rows: int = 0, **fields: Any) -> None:
    """Ada opens `pets`, and with `rows` also `big`, whose ground truth has that many. Prints everybody's
    token. Nobody has a password, which would cost a fifth of a second."""
    ada = User.objects.create(username="ada", email="ada@example.org", can_host=True)
    competitions = [make_competition(ada, **fields)]
    if rows:
        usage = ("Private", "Public")
        truth = "id,label,Usage\n" + "".join(f"{i},c{i % 7},{usage[i % 2]}\n" for i in range(rows))
        competitions.append(make_competition(ada, slug="big", truth=truth, **fields))
    tokens = []
    for name in people:
        user = User.objects.create(username=name, email=f"{name}@example.org")
        for competition in competitions:
            enter(competition, user)
        tokens.append(ApiToken.issue(user, "test")[1])
    print(json.dumps(tokens))  # noqa: T201


def open_another(slug: str, *people: str) -> None:
    """Ada opens a further competition, which some of her class enter."""
    competition = make_competition(User.objects.get(username="ada"), slug=slug)
    for name in people:
        enter(competition, User.objects.get(username=name))


def big_file(rows: int) -> bytes:
    """A submission for `big`."""
    return ("id,label\n" + "".join(f"{i},c{i % 5}\n" for i in range(rows))).encode()


def empty_site() -> None:
    """Delete all that tests made on a running site; Olga, its workers and what the clock began stay."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("PRAGMA defer_foreign_keys = ON")
        for table in {*recordings.tables(), Session._meta.db_table} - {Duty._meta.db_table, Worker._meta.db_table}:
            cursor.execute(f'DELETE FROM "{table}"')
        User.objects.exclude(username="olga").delete()
    for key, _ in list(storage.list_stored()):
        storage.remove_file(key)
