"""Somebody else at the broker: hostile messages are dropped, the worker lives; without a broker limits still hold."""

from __future__ import annotations

import base64
import json
import stat
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import caches
from django.test import Client
from kombu.exceptions import OperationalError
from redis import Redis

from leaderboard import settings as settings_module
from leaderboard.accounts.models import User
from leaderboard.celery import app
from leaderboard.common import broker
from leaderboard.common.shared_cache import JsonSerializer, SharedCache, count_tries, count_try
from leaderboard.common.web_pools import DELAY
from leaderboard.competitions import wake_ups
from leaderboard.competitions.models import Competition
from leaderboard.submissions import submitting
from tests.conftest import answers, enter
from tests.processes import worker
from tests.running_site import Site, until

COUNTING = "from leaderboard.common.shared_cache import count_try\nprint(count_try('thing', 'bo', seconds=60))"


@pytest.fixture
def alone(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real cache with a broker that is not there."""
    monkeypatch.setitem(broker.left_alone, "until", 0.0)
    settings.CACHES = {
        **settings.CACHES,
        "default": {**settings_module.CACHES["default"], "LOCATION": f"unix://{tmp_path}/nobody.sock"},
    }


@pytest.mark.attack("guessing passwords")
def test_without_a_broker_people_sign_in_and_guesses_are_still_counted(alone: None, bo: User) -> None:
    given = {"login": "bo", "password": "correct horse"}
    assert Client().post("/accounts/login/", given).status_code == 302
    wrong = [Client().post("/accounts/login/", given | {"password": "wrong"}) for _ in range(12)]
    assert [answer.wsgi_request.META.get(DELAY, 0) for answer in wrong] == [0] * 10 + [2, 4]


def test_a_broker_that_is_away_is_asked_once_in_five_seconds(alone: None, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    cache = caches["default"]
    assert isinstance(cache, SharedCache)
    client = cache._cache.get_client

    def noted(*args: Any, **kwargs: Any) -> Any:
        asked.append(args)
        return client(*args, **kwargs)

    monkeypatch.setattr(cache._cache, "get_client", noted)
    for number in range(10):
        cache.set("n", number)
    assert cache.get("n") == 9
    assert len(asked) == 1


def test_a_broker_that_is_away_holds_up_no_second_upload(
    pets: Competition, bo: User, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    """The sweep finds the rows; a worker, which sends again what is not heard, may wait for the broker."""
    asked: list[str] = []

    def send(*_: object, **__: object) -> None:
        asked.append("send")
        raise OperationalError

    monkeypatch.undo()
    monkeypatch.setattr(wake_ups, "queue_length", lambda: asked.append("ask"))
    monkeypatch.setattr(app, "send_task", send)
    enter(pets, bo)
    for _ in range(3):
        with django_capture_on_commit_callbacks(execute=True):
            submitting.submit_file(competition=pets, user=bo, file_name="a.csv", chunks=[answers()])
    assert asked == ["ask"]
    wake_ups.wake_workers(wake_ups.SCORE_NEXT_SUBMISSIONS, expires=20)
    assert asked == ["ask", "send"]


def test_without_a_broker_a_process_counts_alone(alone: None) -> None:
    assert [count_try("thing", "bo", seconds=60) for _ in range(3)] == [1, 2, 3]
    assert count_try("thing", "cy", seconds=60) == 1
    assert count_tries("thing", "bo") == 3


def test_the_shared_cache_reads_no_pickles() -> None:
    values = JsonSerializer()
    assert values.dumps(7) == 7  # the broker counts plain numbers by itself
    for value in (2.5, True, "text", [1.5, 2.5], None):
        stored = values.dumps(value)
        assert isinstance(stored, bytes)
        assert values.loads(stored) == value
    with pytest.raises(ValueError, match=r"decode|invalid"):
        values.loads(b"\x80\x04K*.")


def test_the_shared_cache_empties_no_queue(alone: None) -> None:
    """Django's own way to clear a cache in the broker would."""
    with pytest.raises(NotImplementedError):
        caches["default"].clear()


def message(task: str, arguments: Any, **changes: Any) -> str:
    """An envelope as Celery writes it."""
    body = changes.pop("body", None) or json.dumps([arguments, {}, {}]).encode()
    number = str(uuid.uuid4())
    envelope = {
        "body": base64.b64encode(body).decode(),
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": {"lang": "py", "task": task, "id": number, "root_id": number, "argsrepr": "", "kwargsrepr": ""},
        "properties": {
            "correlation_id": number,
            "delivery_mode": 2,
            "delivery_info": {"exchange": "", "routing_key": "celery"},
            "priority": 0,
            "body_encoding": "base64",
            "delivery_tag": number,
        },
    }
    return json.dumps({**envelope, **changes})


@pytest.mark.slow
@pytest.mark.takes(12)
@pytest.mark.attack("hostile messages at the broker")
def test_hostile_messages_are_dropped_and_the_worker_lives(site: Site, tmp_path: Path) -> None:
    """After each of them the same worker does what an honest message asks for."""
    loot = tmp_path / "loot"
    pickle = b"cposix\nsystem\n(S'touch " + str(loot).encode() + b"'\ntR."
    score = "leaderboard.submissions.tasks.score_next_submissions"
    hostile = [
        message("os.system", ["true"]),
        message("celery.backend_cleanup", []),
        message(score, []),
        message(score, ["not an id", "not a number"]),
        message(score, [{"$gt": ""}, [1, 2]]),
        message(score, ["' OR 1=1 --", 1]),
        message(score, [str(uuid.uuid4()), 10**30]),
        message("leaderboard.submissions.tasks.rescore_candidate", [None]),
        message(
            score,
            [],
            **{"body": pickle, "content-type": "application/x-python-serialize", "content-encoding": "binary"},
        ),
        message(score, [], body=b"\xff\xfe not json"),
        message(score, [], body=b'{"args": "no list"}'),
        message(score, [], headers={}),
    ]
    sock = site.folder / "run" / "valkey.sock"
    assert stat.S_IMODE(sock.stat().st_mode) == 0o600
    assert stat.S_IMODE(sock.parent.stat().st_mode) == 0o700
    broker = Redis(unix_socket_path=str(sock))
    kept_closed = {"port": "0", "unixsocketperm": "600", "maxmemory-policy": "noeviction"}
    assert {name: value for name in kept_closed for value in broker.config_get(name).values()} == kept_closed
    before = worker(site)
    for words in hostile:
        broker.lpush("celery", words)
    until(lambda: broker.llen("celery") == 0, what="the queue to be read")
    (token,) = site.make_class("bo")
    counted = site.shell(COUNTING)
    status, output = site.upload("pets", token, b"id,label\n1,cat\n")
    assert status == 201, output
    site.until_all_is_scored()
    assert worker(site) == before
    assert not loot.exists()

    assert [counted, site.shell(COUNTING)] == ["1", "2"], "what one process counted the next one knows"
    [key] = broker.keys("*tries:thing:bo")
    assert 0 < broker.ttl(key) <= 60
