"""The database's clock is everybody's; a page asks it once."""

from __future__ import annotations

from threading import Thread

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from leaderboard.accounts.models import User
from leaderboard.common import clock
from leaderboard.common.clock import database_now, one_moment_per_page
from leaderboard.competitions.models import Competition

CLOCK = "clock_timestamp"


def questions(captured: CaptureQueriesContext) -> int:
    return sum(CLOCK in query["sql"] for query in captured.captured_queries)


@pytest.mark.postgres
@pytest.mark.django_db
def test_what_is_read_is_of_one_moment_and_what_is_written_asks_anew() -> None:
    with CaptureQueriesContext(connection) as captured, one_moment_per_page():
        assert database_now() == database_now()
    assert questions(captured) == 1
    with CaptureQueriesContext(connection) as captured:
        assert database_now() < database_now()
    assert questions(captured) == 2


@pytest.mark.postgres
@pytest.mark.django_db
def test_pages_look_at_the_clock_once_at_most(client: Client, pets: Competition, bo: User) -> None:
    client.force_login(bo)
    for address in ("", "leaderboard/", "data/", "rules/"):
        with CaptureQueriesContext(connection) as captured:
            client.get(f"/c/{pets.slug}/{address}")
        assert questions(captured) <= 1, address


def test_a_moment_ends_with_its_page_and_is_of_its_thread() -> None:
    seen: list[bool] = []

    def fails() -> None:
        with one_moment_per_page():
            thread = Thread(target=lambda: seen.append(clock._page.is_read))
            thread.start()
            thread.join()
            raise LookupError

    with pytest.raises(LookupError):
        fails()
    assert seen == [False]
    assert not clock._page.is_read
