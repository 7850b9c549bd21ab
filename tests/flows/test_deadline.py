"""Two hundred students submit in the last second: who sent in time is in time, however long the queue."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

import pytest

from tests import event_loop
from tests.conftest import answers
from tests.running_site import Site, until
from tests.visitors import Visitor, encode_form

pytestmark = [pytest.mark.slow, pytest.mark.long]

STUDENTS = 200
BEGIN_SECONDS, SURE_SECONDS = 2.0, 0.3
"""When the first sends before the deadline; and how long before it a file must have been sent to be surely in time."""
DEADLINE = """
from datetime import timedelta
from django.utils import timezone
from leaderboard.competitions.models import Competition
at = timezone.now() + timedelta(seconds=10)
Competition.objects.update(closes_at=at)
print(at.timestamp())
"""


@dataclass
class Sent:
    """One file: when its last byte had left, in seconds before the deadline, and what was answered."""

    before: float
    status: int
    text: str


async def submit(site: Site, token: str, deadline: float) -> Sent:
    host, port = site.address.removeprefix("http://").split(":")
    body, kind = encode_form({}, ("mine.csv", answers()))
    head = f"POST /api/v1/competitions/pets/submissions HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: {kind}\r\n"
    head += f"Authorization: Bearer {token}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(head.encode() + body)
    await writer.drain()
    before = deadline - time.time()
    answer = await asyncio.wait_for(reader.read(), 120)
    writer.close()
    return Sent(before, int(answer.split()[1]), answer.decode(errors="replace")[-300:])


async def all_at_once(site: Site, tokens: list[str], deadline: float) -> list[Sent]:
    return list(await asyncio.gather(*(submit(site, token, deadline) for token in tokens)))


@pytest.mark.sqlite
def test_files_sent_just_before_the_deadline_count_while_two_hundred_wait(site: Site) -> None:
    tokens = site.make_class(*(f"s{number}" for number in range(STUDENTS)), is_listed=True)
    assert event_loop.run(is_answered(site)) == 200
    deadline = float(site.shell(DEADLINE))
    until(lambda: time.time() > deadline - BEGIN_SECONDS, every=0.01, what="the last seconds")
    sent = event_loop.run(all_at_once(site, tokens, deadline))
    in_time = [one for one in sent if one.before > SURE_SECONDS]
    assert len(in_time) > STUDENTS / 2, "too busy a machine to send in time"
    assert [one.text for one in in_time if one.status != 201] == []
    site.until_all_is_scored()
    accepted = sum(one.status == 201 for one in sent)
    assert len(site.submissions("status = 'scored' AND is_late = 0")) == accepted >= len(in_time)


async def is_answered(site: Site) -> int:
    """The code of a page is loaded before the last second, as it is on the day of a deadline."""
    visitor = Visitor(site.address)
    page = await visitor.get("/c/pets/")
    visitor.hang_up()
    return page.status
