"""What gives no sign of life: SQLite's writer, the threads of the web server, the web server itself.

What is held or stopped is held for seconds; meanwhile the others go on, and nothing is lost.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Coroutine, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests import event_loop
from tests.conftest import answers
from tests.processes import web_server
from tests.running_site import ROOT, Site, patience, running_site
from tests.visitors import Answer, Form, Visitor, encode_form

pytestmark = [pytest.mark.slow, pytest.mark.long]

HELD_SECONDS, PAGE_SECONDS = 15.0, 1.0
RESTARTED_SECONDS = 40.0
UPLOADS = 4
PAGES = ("/", "/c/pets/", "/c/pets/leaderboard/", "/c/pets/data/", "/c/pets/submissions/", "/c/pets/submit/")
SET_UP = """
import json
from django.contrib.auth.hashers import make_password
from django.test import Client
from leaderboard.accounts.models import ApiToken, User
from tests.conftest import enter, make_competition, person
pets = make_competition(person("ada", can_host=True), is_listed=True, daily_attempts=100)
found = []
for name in ("bo", "cy", "dee", "eve"):
    user, client = User.objects.create(username=name, password=make_password(None)), Client()
    enter(pets, user)
    client.force_login(user)
    found.append([client.cookies["sessionid"].value, ApiToken.issue(user, "test")[1]])
print(json.dumps(found))
"""
STUCK = """
import time
from leaderboard.settings import *

MIDDLEWARE = ["stuck_settings.Stuck", *MIDDLEWARE]


class Stuck:
    def __init__(self, answer):
        self.answer = answer

    def __call__(self, request):
        if request.path == "/stuck/":
            time.sleep(3600)
        return self.answer(request)
"""


def keys_of(site: Site) -> list[list[str]]:
    """Session and token of each student."""
    found: list[list[str]] = json.loads(site.shell(SET_UP))
    return found


@pytest.fixture
def site(running: Site) -> Iterator[Site]:
    yield running
    running.empty()


# --- SQLite's writer ----------------------------------------------------------------------------------------------


@contextmanager
def writer_held(site: Site, seconds: float) -> Iterator[float]:
    """Nobody can write to the database for so many seconds; gives the moment at which that ends."""
    path = site.folder / "leaderboard.sqlite3"
    with closing(sqlite3.connect(path, timeout=20, isolation_level=None, check_same_thread=False)) as database:
        database.execute("BEGIN IMMEDIATE")
        unlock = threading.Timer(seconds, database.execute, ["ROLLBACK"])
        unlock.start()
        try:
            yield time.monotonic() + seconds
        finally:
            unlock.join()


async def submit_until_taken(site: Site, token: str, key: str) -> list[int]:
    """A program that sends its file again with the same key for as long as it is told to try again."""
    visitor, statuses = Visitor(site.address, token=token), []
    while True:
        answer = await visitor.upload("pets", answers(), key=key)
        statuses.append(answer.status)
        if answer.status != 503:
            visitor.hang_up()
            return statuses
        assert "again" in answer.text
        await asyncio.sleep(0.5)


async def read_until(site: Site, session: str, token: str, ends_at: float) -> dict[str, float]:
    """Page after page of somebody who is signed in, and answers to a program; of each the longest."""
    visitor, program = Visitor(site.address, cookies={"sessionid": session}), Visitor(site.address, token=token)
    while time.monotonic() < ends_at:
        for path in PAGES:
            assert (await visitor.get(path)).status == 200
        assert (await program.get("/api/v1/competitions/pets")).status == 200
        await asyncio.sleep(0.1)
    found: dict[str, float] = {}
    for one in (visitor, program):
        for name, seconds in one.pages:
            found[name] = max(found.get(name, 0.0), seconds)
        one.hang_up()
    return found


@pytest.mark.fault(46)
@pytest.mark.sqlite
def test_pages_are_read_while_the_writer_is_held_and_uploads_wait_or_are_told_to_try_again(site: Site) -> None:
    keys, slack = keys_of(site), patience()

    async def play(ends_at: float) -> tuple[dict[str, float], list[list[int]]]:
        uploads = [
            asyncio.create_task(submit_until_taken(site, token, f"held-{number}"))
            for number, (_, token) in enumerate(keys[:UPLOADS])
        ]
        pages = await read_until(site, keys[0][0], keys[0][1], ends_at)
        return pages, await asyncio.gather(*uploads)

    async def warm_up() -> None:
        await read_until(site, keys[0][0], keys[0][1], time.monotonic() + 0.1)

    event_loop.run(warm_up())
    with writer_held(site, HELD_SECONDS) as ends_at:
        pages, uploads = event_loop.run(play(ends_at))
    assert {name: round(seconds, 1) for name, seconds in pages.items() if seconds > PAGE_SECONDS * slack} == {}
    assert [statuses[-1] for statuses in uploads] == [201] * UPLOADS
    assert len(site.submissions()) == UPLOADS
    site.check_promises()


async def closing_all(work: Coroutine[Any, Any, None], visitors: list[Visitor]) -> None:
    """Do the work; at its end, whatever that is, nothing of the visitors is left open."""
    try:
        await work
    finally:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for one in left:
            one.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        for visitor in visitors:
            visitor.hang_up()


# --- the threads of the web server --------------------------------------------------------------------------------


async def is_well(site: Site) -> bool:
    asker = Visitor(site.address, time_limit=5)
    try:
        answer = await asker.ask("GET", "/healthz")
    except (OSError, asyncio.IncompleteReadError):
        return False
    finally:
        asker.hang_up()
    return answer.status == 200


@pytest.mark.fault(41)
def test_a_web_server_whose_reading_threads_are_all_stuck_says_so_and_is_started_again(tmp_path: Path) -> None:
    """Pages of everybody else go on until the last thread is gone; then uploads still do."""
    (tmp_path / "stuck_settings.py").write_text(STUCK)
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    with running_site(
        tmp_path / "var", DJANGO_SETTINGS_MODULE="stuck_settings", PYTHONPATH=path, WEB_READERS="2"
    ) as site:
        keys, visitors = keys_of(site), list[Visitor]()

        def visitor(student: int) -> Visitor:
            visitors.append(Visitor(site.address, cookies={"sessionid": keys[student][0]}))
            return visitors[-1]

        async def play() -> None:
            slack, program = patience(), Visitor(site.address, token=keys[3][1])
            reader, cy, dee = (visitor(student) for student in range(3))
            assert (await program.get("/api/v1/competitions/pets")).status == 200
            for person in (reader, cy, dee):  # whoever is not known yet waits for the threads of strangers
                assert (await person.get("/c/pets/")).status == 200
            strangers = [Visitor(site.address) for _ in range(4)]
            visitors.extend([program, *strangers])
            stuck = [asyncio.create_task(one.ask("GET", "/stuck/")) for one in strangers]
            for _ in range(5):
                page = await reader.get("/c/pets/leaderboard/")
                assert page.status == 200, "strangers of one address have half of the threads"
                assert page.seconds < 2 * slack
            stuck.append(asyncio.create_task(cy.ask("GET", "/stuck/")))
            waiting = asyncio.create_task(dee.get("/c/pets/"))
            assert (await program.upload("pets", answers(), key="beside")).status in (200, 201)
            begun = time.monotonic()
            while await is_well(site):
                assert time.monotonic() - begun < RESTARTED_SECONDS * slack, "nothing says that it is stuck"
                await asyncio.sleep(0.2)
            await asyncio.gather(*stuck, waiting, return_exceptions=True)
            while not await is_well(site):
                assert time.monotonic() - begun < RESTARTED_SECONDS * slack, "it is not started again"
                await asyncio.sleep(0.2)
            assert (await reader.get("/c/pets/")).status == 200

        event_loop.run(closing_all(play(), visitors))
        assert len(site.submissions()) == 1
        site.check_promises()


# --- the web server itself ----------------------------------------------------------------------------------------


def stop_web_server(site: Site) -> int:
    """Freeze its whole group, as a debugger or a full machine does; gives its leader."""
    leader = web_server(site)
    os.killpg(leader, signal.SIGSTOP)
    return leader


async def send_until_answered(visitor: Visitor, form: Form) -> Answer:
    """A person who presses the button again: the same form with the same key."""
    body, kind = encode_form(form.values, ("mine.csv", answers()))
    while True:
        with suppress(OSError, asyncio.IncompleteReadError):
            return await visitor.ask("POST", "/c/pets/submit/", body, {"Content-Type": kind})
        visitor.hang_up()
        await asyncio.sleep(0.2)


@pytest.mark.fault(41)
def test_a_frozen_web_server_is_started_again_and_the_same_form_gives_the_same_submission(site: Site) -> None:
    session = keys_of(site)[0][0]

    async def play() -> tuple[float, set[str]]:
        bo = Visitor(site.address, cookies={"sessionid": session}, time_limit=10)
        form = (await bo.get("/c/pets/submit/")).form_with("file", "upload_key")
        places = set()
        for _ in range(2):
            leader, begun = stop_web_server(site), time.monotonic()
            answer = await send_until_answered(bo, form)
            assert answer.status in (302, 303), answer.text[:300]
            places.add(answer.headers["location"])
            taken = time.monotonic() - begun
            assert not Path(f"/proc/{leader}").exists()
        bo.hang_up()
        return taken, places

    taken, places = event_loop.run(play())
    assert taken < RESTARTED_SECONDS * patience()
    assert len(places) == 1
    assert len(site.submissions()) == 1
    site.check_promises()
