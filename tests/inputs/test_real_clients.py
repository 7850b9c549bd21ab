"""Numbers 110 to 116 with real connections to a real server: slow ones, lying ones, those that hang up, and many at
once."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.client import HTTPConnection

import pytest

from tests.conftest import answers
from tests.inputs.doors import BOUNDARY, body_of, part
from tests.running_site import Site, patience, until

pytestmark = [pytest.mark.slow, pytest.mark.long]

TEAM = ("bo", "cy", "max", "eva")
SLOW = 200
SET_UP = f"""
from django.test import Client
from leaderboard.classroom import joining
from leaderboard.accounts.models import ApiToken
from tests.conftest import enter, make_competition, person
pets = make_competition(person("ada", can_host=True), daily_attempts=7, team_size=4, is_listed=True)
for name in {TEAM!r}:
    user = person(name)
    if name == "bo":
        team = enter(pets, user).team
    else:
        joining.accept_rules(membership=joining.join_by_invitation(user=user, invitation=team.invitation))
    client = Client()
    client.force_login(user)
    print(ApiToken.issue(user, "test")[1], client.cookies["sessionid"].value)
"""
ROWS = "from leaderboard.competitions.models import Submission; from tests.inputs.doors import stored_files; "
FORM = body_of(part("csrfmiddlewaretoken", b"t" * 32), part("file", answers(), '; filename="mine.csv"'))


@pytest.fixture(scope="module")
def keys(site: Site) -> list[tuple[str, str]]:
    """Of each member the token and the session."""
    lines = [line.split() for line in site.shell(SET_UP).splitlines()]
    return [(token, session) for token, session in lines]


@pytest.fixture(params=["form", "api"])
def head(request: pytest.FixtureRequest, site: Site, keys: list[tuple[str, str]]) -> Callable[[str], bytes]:
    """The first lines of an upload, `length` saying how long it is."""
    return lambda length: head_of(site, request.param, keys[0], length)


def head_of(site: Site, door: str, key: tuple[str, str], length: str) -> bytes:
    token, session = key
    address, who = "/api/v1/competitions/pets/submissions", f"Authorization: Bearer {token}"
    if door == "form":
        address, who = "/c/pets/submit/", f"Cookie: sessionid={session}; csrftoken={'t' * 32}"
    lines = [
        f"POST {address} HTTP/1.1",
        f"Host: {site.address.removeprefix('http://')}",
        who,
        f"Content-Type: multipart/form-data; boundary={BOUNDARY}",
        length,
        "Connection: close",
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def connect(site: Site) -> socket.socket:
    name, _, port = site.address.removeprefix("http://").partition(":")
    return socket.create_connection((name, int(port)), timeout=30)


def send(site: Site, data: bytes, *, hangs_up: bool = False) -> bytes:
    """Send bytes, perhaps say that no more will come, and read what comes back."""
    with connect(site) as wire:
        wire.sendall(data)
        if hangs_up:
            wire.shutdown(socket.SHUT_WR)
        answer = b""
        try:
            while more := wire.recv(65_536):
                answer += more
        except ConnectionResetError:
            pass
    return answer


def rows_and_files(site: Site) -> list[int]:
    found: list[int] = json.loads(site.shell(ROWS + "print([Submission.objects.count(), len(stored_files())])"))
    return found


@pytest.mark.case(110, 113)
def test_110_113_of_what_is_cut_short_nothing_is_kept(site: Site, head: Callable[[str], bytes]) -> None:
    before = rows_and_files(site)
    length = len(FORM)
    for named, body in (
        (length, FORM[: length // 2]),
        (length, FORM[:-4]),
        (10 * length, FORM[: length // 2]),
        (length // 2, FORM),
        (length - 6, FORM),
    ):
        answer = send(site, head(f"Content-Length: {named}") + body, hangs_up=named > len(body))
        assert not answer.startswith((b"HTTP/1.1 2", b"HTTP/1.1 303", b"HTTP/1.1 500")), answer[:300]
    until(lambda: rows_and_files(site) == before, seconds=10, what="nothing left of the cut files")


@pytest.mark.case(112)
def test_112_two_hundred_slow_uploads_keep_nobody_waiting(site: Site, keys: list[tuple[str, str]]) -> None:
    before = rows_and_files(site)
    data = head_of(site, "api", keys[0], f"Content-Length: {len(FORM)}") + FORM
    start = len(data) - len(FORM) + 40
    wires = [connect(site) for _ in range(SLOW)]
    try:
        for wire in wires:
            wire.sendall(data[:start])
        took = []
        for place in range(40):
            for wire in wires:  # a byte each
                wire.sendall(data[start + place : start + place + 1])
            begun = time.perf_counter()
            assert site.get("/c/pets/leaderboard/")[0] == 200
            took.append(time.perf_counter() - begun)
        assert sorted(took)[int(0.95 * len(took))] < 1.0 * patience(), took
    finally:
        for wire in wires:
            wire.close()
    until(lambda: rows_and_files(site) == before, seconds=20, what="nothing left of the slow files")
    assert site.get("/healthz")[0] == 200


@pytest.mark.case(115, 116)
def test_115_116_fifty_at_once_from_a_team_of_four_get_exactly_its_attempts(
    site: Site, keys: list[tuple[str, str]]
) -> None:
    before = rows_and_files(site)
    barrier = threading.Barrier(50)
    statuses: Counter[int] = Counter()

    def one(number: int) -> None:
        door, key = ("form", "api")[number % 2], keys[number % 4]
        data = head_of(site, door, key, f"Content-Length: {len(FORM)}") + FORM
        barrier.wait(30)
        statuses[int(send(site, data).split(b" ", 2)[1])] += 1

    threads = [threading.Thread(target=one, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert statuses[201] + statuses[303] == 7, statuses
    assert set(statuses) <= {201, 303, 409, 429}, statuses
    assert [now - then for now, then in zip(rows_and_files(site), before, strict=True)] == [7, 7]
    left = HTTPConnection(site.address.removeprefix("http://"), timeout=30)
    left.request("GET", "/api/v1/competitions/pets", headers={"Authorization": f"Bearer {keys[3][0]}"})
    assert json.loads(left.getresponse().read())["attempts_left"] == 0
    left.close()
