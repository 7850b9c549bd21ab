"""Slow uploads and downloads of some never keep the others waiting."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from django.test import Client

from leaderboard.accounts.adapter import user_of_request
from leaderboard.accounts.models import ApiToken, User
from leaderboard.common import slow_clients
from leaderboard.common.client_addresses import counted_address
from leaderboard.common.slow_clients import (
    TOO_MANY,
    Environ,
    FairSemaphore,
    LimitSlowClients,
    MeteredBody,
    release_slot_while_waiting,
)
from leaderboard.wsgi import application
from tests.site import until


class SlowBody(io.BytesIO):
    """Comes in when the client is ready."""

    def __init__(self) -> None:
        super().__init__(b"one\ntwo\n")
        self.is_awaited, self.may_come = threading.Event(), threading.Event()

    def read(self, size: int | None = -1) -> bytes:
        self.is_awaited.set()
        assert self.may_come.wait(10)
        return super().read(size)


def echo(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
    return [environ["wsgi.input"].read()]


def ask(site: LimitSlowClients, body: io.BytesIO, **environ: str) -> bytes:
    return b"".join(site({"wsgi.input": body, **environ}, lambda *_: None))


@pytest.mark.case(112)
def test_a_page_comes_while_slow_uploads_are_under_way() -> None:
    site = LimitSlowClients(echo, places=1)
    slow = [SlowBody() for _ in range(3)]
    answers: list[bytes] = []
    threads = [threading.Thread(target=lambda body=body: answers.append(ask(site, body))) for body in slow]
    for thread in threads:
        thread.start()
    assert all(body.is_awaited.wait(10) for body in slow)
    assert ask(site, io.BytesIO(b"quick")) == b"quick"
    for body in slow:
        body.may_come.set()
    for thread in threads:
        thread.join(10)
    assert answers == [b"one\ntwo\n"] * 3
    assert site.places.free == 1


def test_a_download_that_goes_out_slowly_has_no_place() -> None:
    def download(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        return (part for part in (b"a", b"b"))

    site = LimitSlowClients(download, places=1)
    first = iter(site({"wsgi.input": io.BytesIO()}, lambda *_: None))
    assert next(first) == b"a"
    assert ask(site, io.BytesIO()) == b"ab"
    assert list(first) == [b"b"]


def test_who_waits_for_a_child_process_has_no_place() -> None:
    free: list[int] = []

    def checks(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        with release_slot_while_waiting():
            free.append(site.places.free)
        free.append(site.places.free)
        return []

    site = LimitSlowClients(checks, places=1)
    ask(site, io.BytesIO())
    assert [*free, site.places.free] == [1, 0, 1]


def test_a_place_is_given_back_by_a_view_that_fails() -> None:
    def broken(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        raise ZeroDivisionError

    site = LimitSlowClients(broken, places=2)
    with pytest.raises(ZeroDivisionError):
        ask(site, io.BytesIO())
    assert site.places.free == 2


def test_places_go_to_those_who_came_first() -> None:
    places, order = FairSemaphore(1), []
    places.acquire()

    def take(number: int) -> None:
        places.acquire()
        order.append(number)
        places.release()

    threads = [threading.Thread(target=take, args=(number,)) for number in range(5)]
    for number, thread in enumerate(threads):
        thread.start()
        until(lambda: len(places._queue) > number, what="its place in the queue")  # noqa: B023
    places.release()
    for thread in threads:
        thread.join(10)
    assert order == [0, 1, 2, 3, 4]
    assert places.free == 1


def test_a_body_reads_like_any_file() -> None:
    body = MeteredBody(io.BytesIO(b"one\ntwo\nthree\nfour\n"), "10.0.0.1")
    assert body.read(4) == b"one\n"
    assert body.readline() == b"two\n"
    assert next(iter(body)) == b"three\n"
    assert body.readlines() == [b"four\n"]
    assert not body.is_awaited


def test_a_stranger_with_hundreds_of_slow_bodies_leaves_threads_to_the_others() -> None:
    site = LimitSlowClients(echo, places=1, most=3, most_of_one=2, for_people=0)
    slow = [SlowBody() for _ in range(3)]
    dee, bo = ({"CONTENT_LENGTH": "8", "REMOTE_ADDR": f"10.0.0.{number}"} for number in (1, 2))
    threads = []

    def send(body: SlowBody, who: dict[str, str]) -> None:
        threads.append(threading.Thread(target=lambda: ask(site, body, **who)))
        threads[-1].start()
        assert body.is_awaited.wait(10)

    for body in slow[:2]:
        send(body, dee)
    statuses: list[str] = []
    environ = {"wsgi.input": io.BytesIO(b"one more"), **dee}
    said_to_user = site(environ, lambda status, headers: statuses.append(f"{status} {dict(headers)['Retry-After']}"))
    assert (list(said_to_user), statuses) == ([TOO_MANY], ["503 Service Unavailable 30"])
    assert ask(site, io.BytesIO(b"of Bo"), **bo) == b"of Bo"
    send(slow[2], bo)
    assert ask(site, io.BytesIO(b"one more"), **{**bo, "REMOTE_ADDR": "10.0.0.3"}) == TOO_MANY
    assert ask(site, io.BytesIO(), REMOTE_ADDR="10.0.0.1") == b""  # a page needs no body
    for body in slow:
        body.may_come.set()
    for thread in threads:
        thread.join(10)
    assert ask(site, io.BytesIO(b"again"), **dee) == b"again"
    assert site.places.free == 1


@pytest.mark.attack("bodies sent drop by drop, so that others cannot hand in")
def test_a_stranger_behind_the_address_of_a_class_keeps_no_upload_of_it_away(
    client: Client, bo: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bo's session and Bo's token are the same person, who has few bodies on the way; made-up ones are nobody's."""
    monkeypatch.setattr(slow_clients, "MOST_SLOW_OF_A_PERSON", 2)
    client.force_login(bo)
    session = {"HTTP_COOKIE": f"theme=dark; sessionid={client.cookies['sessionid'].value}"}
    token = {"HTTP_AUTHORIZATION": f"Bearer {ApiToken.issue(bo, 'laptop')[1]}"}
    site = LimitSlowClients(echo, places=1, most=6, most_of_one=2, for_people=3, person=user_of_request)

    def hold(sender: str) -> None:
        body = MeteredBody(io.BytesIO(), sender)
        body.is_awaited = True
        site.bodies.add(body)

    def send(address: str = "10.0.0.1", **known: str) -> bytes:
        return ask(site, io.BytesIO(b"a file"), CONTENT_LENGTH="6", REMOTE_ADDR=address, **known)

    for _ in range(2):
        hold("10.0.0.1")
    for known in (session, token):
        for made_up in ({name: value + "x" for name, value in known.items()}, {}):
            assert send(**made_up) == TOO_MANY
        assert send(**known) == b"a file"
        hold(user_of_request(known))
    assert send(**session) == TOO_MANY
    # From several addresses strangers do not take what is left for people either.
    hold("10.0.0.2")
    assert send("10.0.0.3") == TOO_MANY
    assert (application.person, application.for_people) == (user_of_request, slow_clients.FOR_PEOPLE)


@pytest.mark.parametrize(
    ("said_to_user", "proxies", "address"),
    [
        ("", 0, "10.0.0.1"),
        ("1.1.1.1", 0, "10.0.0.1"),
        ("", 1, "10.0.0.1"),
        ("::ffff:2.2.2.2", 1, "2.2.2.2"),
        ("1.1.1.1, 2.2.2.2", 1, "2.2.2.2"),
        ("1.1.1.1, 2.2.2.2", 2, "1.1.1.1"),
        ("2.2.2.2", 2, "10.0.0.1"),
        ("2001:db8:1:2:3:4:5:6", 1, "2001:db8:1:2::/64"),
        ("nobody:knows", 1, "nobody:knows"),
    ],
)
def test_whoever_the_last_trusted_proxy_names_is_counted(said_to_user: str, proxies: int, address: str) -> None:
    assert counted_address({"HTTP_X_FORWARDED_FOR": said_to_user, "REMOTE_ADDR": "10.0.0.1"}, proxies) == address
