"""Deploys: a web server newer than its worker, a stop in the middle of work."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.conftest import answers
from tests.processes import asleep, below, children_of, scorer, worker
from tests.running_site import Site, patience, running_site, until

from .test_processes import row, scored, upload

pytestmark = [pytest.mark.slow, pytest.mark.long]

TOKEN = "a-token-for-tests-4711"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("deploy") / "var"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[Site]:
    with running_site(folder, LOG_FORMAT="json", PROMETHEUS_TOKEN=TOKEN) as site:
        yield site


@pytest.fixture(scope="module")
def tokens(site: Site) -> list[str]:
    return site.make_class(daily_attempts=500)


def test_each_part_of_a_site_writes_json_and_the_web_server_counts_what_was_scored(
    site: Site, tokens: list[str]
) -> None:
    for token in tokens:
        scored(site, upload(site, "pets", token))
    lines = [line for line in (site.folder / "log" / "worker.log").read_text().splitlines() if line.startswith("{")]
    said_to_user = [json.loads(line) for line in lines]
    found = {line["submission"].replace("-", "") for line in said_to_user if line["event"] == "scored"}
    assert len(found) == len(tokens)
    assert found <= {row["id"] for row in site.submissions()}
    assert {line["status"] for line in said_to_user if line["event"] == "scored"} == {"scored"}
    up = (site.folder.parent / "var.up.log").read_text()
    assert [json.loads(line)["logger"] for line in up.splitlines()] == ["leaderboard.up"]
    assert site.get("/prometheus")[0] == 404

    assert f"\nleaderboard_scored_submissions {len(found)}\n" in site.get("/prometheus", TOKEN)[1]


@pytest.mark.fault(31)
def test_31_a_message_of_a_newer_web_server_is_left_alone_and_its_file_scored_by_a_sweep(
    site: Site, tokens: list[str]
) -> None:
    """The newer server is played by its message; the worker that hears it is a real one."""
    leader = worker(site)
    with asleep(leader, *children_of(leader)):
        submission = upload(site, "pets", tokens[0])
        site.shell(
            "from leaderboard.celery import app\n"
            "with app.connection_for_write() as broker: broker.default_channel.client.flushdb()\n"
            f"app.send_task('leaderboard.submissions.tasks.score_next_submissions', args=['{submission['id']}', 1],"
            " headers={'schema': 99})\n"
        )
    log = site.folder / "log" / "worker.log"
    until(lambda: "a message of another form ('99') was left alone" in log.read_text(), what="the polite refusal")
    (end,) = scored(site, submission)
    assert (end["tries"], end["deaths"]) == (1, 0)
    assert worker(site) == leader


@pytest.mark.fault(30)
def test_30_a_stop_in_the_middle_of_work_costs_no_attempt_and_no_try(
    site: Site, tokens: list[str], folder: Path
) -> None:
    """SIGTERM while people upload: what was answered is there, what was not is sent again with the same key."""
    before = len(site.submissions())
    taken: dict[str, dict[str, object]] = {}
    asked: list[str] = []

    def send() -> None:
        for number in range(200):
            key = f"deploy-{number}"
            asked.append(key)
            try:
                status, submission = site.upload("pets", tokens[number % 2], answers(), key=key)
            except OSError:
                return
            assert status == 201, submission
            taken[key] = submission
        site.hang_up()

    sender = threading.Thread(target=send)
    sender.start()
    until(lambda: len(taken) > 10, what="some uploads")
    process = scorer(site)
    for one in below(process):  # whatever is in hand now cannot be finished before the end
        with suppress(ProcessLookupError):  # it ended by itself
            os.kill(one, signal.SIGSTOP)
    for_a_moment = "lease_until < strftime('%Y-%m-%d %H:%M:%f', 'now', '+29.5 seconds')"
    (cut_off,) = until(lambda: site.submissions(for_a_moment), what="a file in hand that does not end")
    begun = time.monotonic()
    os.kill(site.process.pid, signal.SIGTERM)
    assert site.process.wait(timeout=20) == 0
    assert time.monotonic() - begun < 10 * patience(), "the goal is 3 s on a quiet machine"
    sender.join(60)
    held = site.submissions("claim IS NOT NULL OR lease_until IS NOT NULL")
    assert held == [], "nothing waits for the end of a lease"
    assert (row(site, cut_off)["status"], row(site, cut_off)["tries"]) == ("pending", 0)
    with running_site(folder) as again:
        for key in set(asked) - set(taken):
            status, submission = again.upload("pets", tokens[int(key.split("-")[1]) % 2], answers(), key=key)
            assert status == 201, submission
            taken[key] = submission
        again.until_all_is_scored()
        end = {row["id"]: row for row in again.submissions()}
        assert len(end) == before + len(asked), "each file once, whether it was answered or not"
        assert {one["tries"] for one in end.values()} == {1}, "what was cut off had not counted"
        assert {one["status"] for one in end.values()} == {"scored"}
        assert {one["deaths"] for one in end.values()} == {0}
        again.check_promises()
        again.hang_up()
