"""Where the sandbox does not hold, metrics from outside are off: Olga reads why, Ada chooses another, Bo loses
nothing."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition, DailyAttempts
from leaderboard.competitions.scoring import queue
from leaderboard.competitions.services import competitions, publishing, truth_drafts
from leaderboard.operations import health, tasks
from leaderboard.sandbox import outside_metrics
from leaderboard.sandbox.models import SandboxTest
from metrics.sandbox import metric_files
from metrics.sandbox import processes as processes_module
from metrics.sandbox.escapes import ATTEMPTS
from metrics.sandbox.processes import TRUST_HELP, explain_missing_sandbox
from metrics.sandbox.self_test import Outcome
from metrics.sandbox.self_test import SandboxReport as Found
from tests.conftest import enter, hand_in, make_competition
from tests.pages import tidy
from tests.sandbox.test_outside_metrics import GAP, MINE, TRUTH, page_of

SetSandboxTest = Callable[..., None]


@pytest.fixture(scope="module", autouse=True)
def _one_waiting_process() -> Iterator[None]:
    yield
    processes_module.close()


@pytest.fixture
def metrics_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "metrics"
    folder.mkdir()
    monkeypatch.setenv("METRICS_DIR", str(folder))
    metric_files._facts.clear()
    (folder / "gap.py").write_text(GAP)
    return folder


def found(*escaped: str, missing: str = "") -> Found:
    ways = [
        Outcome(name, one.title, "ESCAPED" if name in escaped else "stopped", "fork" if name in escaped else "")
        for name, one in ATTEMPTS.items()
    ]
    return Found("6.1.0", 1.9, missing, "", [] if missing else ways)


@pytest.fixture
def set_sandbox_test(monkeypatch: pytest.MonkeyPatch) -> SetSandboxTest:
    """What the self-test finds on this machine from now on."""

    def note(*escaped: str, missing: str = "") -> None:
        monkeypatch.delenv("TRUST_METRICS", raising=False)
        monkeypatch.setattr("leaderboard.sandbox.outside_metrics.try_escapes", lambda: found(*escaped, missing=missing))
        outside_metrics.run_sandbox_self_test()

    return note


@pytest.fixture
def gaps(metrics_folder: Path, ada: User, bo: User) -> Competition:
    competition = make_competition(ada, slug="gaps", metric="gap", truth=TRUTH)
    enter(competition, bo)
    return competition


NO_LANDLOCK = "This kernel has no Landlock: Linux 5.13 or newer is needed, built with it."


@pytest.mark.attack("code in a metric from outside")
def test_bos_file_fails_at_no_cost_and_ada_reads_why(
    gaps: Competition, ada: User, bo: User, set_sandbox_test: SetSandboxTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_sandbox_test(missing=NO_LANDLOCK)
    mine = hand_in(gaps, bo, MINE)
    assert (mine.status, mine.failure) == ("failed", queue.OUR_FAULT)
    assert mine.host_details == f"Metrics added by the administrator are off: {NO_LANDLOCK} {TRUST_HELP}"
    assert sum(DailyAttempts.objects.filter(team__memberships__user=bo).values_list("used", flat=True)) == 0
    assert NO_LANDLOCK in page_of(ada, "/host/gaps/submissions/")
    assert "Landlock" not in page_of(bo, f"/c/gaps/submissions/{mine.pk}/")
    set_sandbox_test()
    if explain_missing_sandbox():  # for the tests' own machine nobody mends it
        monkeypatch.setenv("TRUST_METRICS", "1")
    assert hand_in(gaps, bo, MINE).status == "scored"


def test_a_single_way_out_turns_them_off_and_trust_turns_them_on(
    gaps: Competition,
    bo: User,
    set_sandbox_test: SetSandboxTest,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    set_sandbox_test("processes")
    assert (
        "The sandbox does not hold on this machine: Start processes, one or many."
        in outside_metrics.why_outside_metrics_are_off()
    )
    assert f"metrics from outside are off on {socket.gethostname()}: The sandbox does not hold" in caplog.text
    assert hand_in(gaps, bo, MINE).status == "failed"
    monkeypatch.setenv("TRUST_METRICS", "1")
    assert outside_metrics.why_outside_metrics_are_off() == ""
    assert hand_in(gaps, bo, MINE).status == "scored"


CHOICE = 'name="metric" value="gap"'


def test_ada_cannot_choose_or_publish_one_and_reads_why(
    gaps: Competition, ada: User, set_sandbox_test: SetSandboxTest
) -> None:
    truth_drafts.draft_truth(competition=gaps, metric="gap", params={})
    assert CHOICE in page_of(ada, "/host/gaps/truth/metric/")
    set_sandbox_test("network")
    page = page_of(ada, "/host/gaps/truth/metric/")
    assert CHOICE not in page
    assert "Reach the network by TCP or UDP" in page
    assert "gap" not in [metric.key for metric in outside_metrics.selectable_metrics()]
    assert "accuracy" in [metric.key for metric in outside_metrics.selectable_metrics()]
    with pytest.raises(competitions.CannotHost, match="are off: The sandbox does not hold"):
        publishing.publish_draft(competition=gaps, user=ada)
    for url in ("/c/gaps/", "/c/gaps/leaderboard/", "/metrics/gap/", "/host/gaps/"):
        page_of(ada, url)


def test_metrics_of_the_library_are_not_touched(
    metrics_folder: Path, ada: User, bo: User, set_sandbox_test: SetSandboxTest
) -> None:
    set_sandbox_test("network")
    pets = make_competition(ada)
    enter(pets, bo)
    assert hand_in(pets, bo, b"id,label\n" + b"".join(b"%d,cat\n" % i for i in range(1, 13))).status == "scored"
    assert outside_metrics.why_metric_is_off("accuracy") == ""


def test_what_was_found_on_this_machine_counts_before_others(
    metrics_folder: Path, db: None, set_sandbox_test: SetSandboxTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRUST_METRICS", raising=False)
    earlier = found(missing=NO_LANDLOCK)
    SandboxTest.objects.create(host="far", tested_at=timezone.now(), reason=earlier.reason, report=earlier.as_dict())
    assert NO_LANDLOCK in outside_metrics.why_outside_metrics_are_off()  # a web server without a worker of its own
    set_sandbox_test()
    assert outside_metrics.why_outside_metrics_are_off() == ""
    assert SandboxTest.objects.count() == 2
    set_sandbox_test()
    assert SandboxTest.objects.count() == 2


def test_before_any_test_the_kernel_is_asked(metrics_folder: Path, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRUST_METRICS", raising=False)
    monkeypatch.setattr("leaderboard.sandbox.outside_metrics.explain_missing_sandbox", lambda: NO_LANDLOCK)
    assert NO_LANDLOCK in outside_metrics.why_outside_metrics_are_off()
    monkeypatch.setattr("leaderboard.sandbox.outside_metrics.explain_missing_sandbox", lambda: "")
    assert outside_metrics.why_outside_metrics_are_off() == ""


def test_without_a_folder_there_is_nothing_to_turn_off(db: None, set_sandbox_test: SetSandboxTest) -> None:
    set_sandbox_test("network")
    assert outside_metrics.why_outside_metrics_are_off() == ""


def test_olga_sees_what_was_tried(
    metrics_folder: Path,
    client: Client,
    olga: User,
    ada: User,
    set_sandbox_test: SetSandboxTest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(health, "queue_length", lambda: 0)
    (metrics_folder / "broken.py").write_text("import nothing_like_this")
    assert "Not tested yet" in page_of(olga, "/status/")
    set_sandbox_test()
    page = tidy(page_of(olga, "/status/"))
    assert "1 offered, each in a sandbox." in page
    assert page.count("<td>stopped</td>") == 18
    assert "broken.py" in page_of(olga, "/metrics/")
    assert "broken.py" not in page_of(ada, "/metrics/")
    set_sandbox_test("network", "links")
    page = tidy(page_of(olga, "/status/"))
    assert page.count("<td>stopped</td>") == 16
    assert page.count("ESCAPED") == 2
    assert "The sandbox does not hold on this machine" in page
    assert "The sandbox does not hold on this machine" in page_of(olga, "/metrics/")
    assert "The sandbox" not in page_of(ada, "/metrics/")
    monkeypatch.setenv("TRUST_METRICS", "1")
    assert "They run even without a working sandbox (" in tidy(page_of(olga, "/status/"))


def test_olga_can_try_it_by_hand(
    db: None, set_sandbox_test: SetSandboxTest, capsys: pytest.CaptureFixture[str]
) -> None:
    set_sandbox_test()
    out = StringIO()
    call_command("check_sandbox", stdout=out)
    lines = out.getvalue().splitlines()
    assert lines[0] == "stopped  Read the truth of another competition"
    assert "18 of 18" in lines[-1]
    set_sandbox_test("processes")
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("check_sandbox", stdout=out)
    assert "ESCAPED  Start processes, one or many: fork" in out.getvalue()
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("check_sandbox", verbosity=0, stdout=out)
    assert out.getvalue() == ""


def test_olga_can_try_a_machine_before_it_has_a_database(
    db: None, set_sandbox_test: SetSandboxTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise OperationalError("no such table")

    monkeypatch.setattr(SandboxTest.objects, "update_or_create", refuse)
    set_sandbox_test()
    out = StringIO()
    call_command("check_sandbox", stdout=out)
    assert "18 of 18" in out.getvalue()
    set_sandbox_test("processes")
    with pytest.raises(SystemExit):
        call_command("check_sandbox", stdout=StringIO())


def test_a_worker_tries_it_when_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[tuple[str, ...]] = []
    monkeypatch.setattr(tasks, "run_command", lambda *command: begun.append(command))
    tasks._run_sandbox_self_test()
    assert begun == [("check_sandbox", "--verbosity=0")]
