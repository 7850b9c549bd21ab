"""The sealed processes: they score the files of all teams, within limits, and no file harms another."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import metrics
from leaderboard.scoring import client, custom_metrics, messages, scorer_answer
from leaderboard.scoring.scorer_answer import ScorerAnswer, ScoringLimits, TruthSpec
from leaderboard.scoring.seal import landlock, reason_without_seal
from metrics.core import custom
from metrics.tests import test_workbooks as workbooks
from tests.conftest import TRUTH, answers
from tests.processes import below, is_over, state_of
from tests.running_site import patience, until
from tests.scorer_in_process import score_here

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("hostile_scorer")]

LIMITS = ScoringLimits(seconds=20, memory_mb=1500)
FOREIGN = frozenset({"django", "celery", "redis", "psycopg", "sqlite3"})


@pytest.fixture
def ground_truth(tmp_path: Path) -> TruthSpec:
    (tmp_path / "truth.csv").write_text(TRUTH)
    return TruthSpec("1", "accuracy", str(tmp_path / "truth.csv"), {}, "id")


Measure = Callable[..., ScorerAnswer]


@pytest.fixture
def measure(ground_truth: TruthSpec, tmp_path: Path) -> Measure:
    """Bo hands in a file, or one that does what a word says."""

    def measured(
        data: bytes | str, limits: ScoringLimits = LIMITS, by: TruthSpec = ground_truth, alone: bool = False
    ) -> ScorerAnswer:
        file = tmp_path / "mine.csv"
        file.write_bytes(data if isinstance(data, bytes) else f"id,label\n{data},\n".encode())
        return client.score_file(by, file, limits, alone=alone)

    return measured


def message(answer: ScorerAnswer) -> dict[str, Any]:
    (problem,) = answer.problems
    found: dict[str, Any] = json.loads(problem["message"])
    return found


def sealed_process() -> int:
    """The sealed process that was used last."""
    return list(client._running[0].processes.values())[-1].pid


def at_work(root: int) -> int:
    """The sealed process below a waiting one, once it has a file that keeps it busy."""
    found: int = until(
        lambda: pids[0] if len(pids := below(root)) == 1 and state_of(pids[0]) == "R" else None, what="a file in work"
    )
    return found


def at_rest() -> int:
    """The waiting process, once one sealed process below it waits for a file."""
    root = client._running[0].process.pid
    until(lambda: len(below(root)) == 1 and state_of(below(root)[0]) == "S", what="a process that waits")
    return root


# --- what comes back --------------------------------------------------------------------------------------------


def test_the_same_digits_as_in_one_process(measure: Measure, ground_truth: TruthSpec, tmp_path: Path) -> None:
    data = answers(public=2, private=1)
    there = measure(data).result
    here = score_here(ground_truth, tmp_path / "mine.csv", LIMITS).result
    assert there is not None
    assert here is not None
    assert (there.public, there.private, there.parts) == (here.public, here.private, here.parts)
    for split, uncertainty in here.uncertainty.items():
        found = there.uncertainty[split]
        assert (found.standard_error, found.low, found.high) == (
            uncertainty.standard_error,
            uncertainty.low,
            uncertainty.high,
        )


def test_excel_and_parquet_files_are_read_within_the_sandbox(measure: Measure) -> None:
    lines = [line.split(",") for line in answers(public=2).decode().splitlines()]
    names, cells = lines[0], lines[1:]
    sheet = workbooks.workbook(workbooks.rows(*map(tuple, lines)))
    table = workbooks.parquet(**{name: [row[place] for row in cells] for place, name in enumerate(names)})
    expected = measure(answers(public=2)).result
    assert expected is not None
    for data in (sheet, table):
        answer = measure(data)
        assert answer.result is not None, answer
        found = answer.result
        assert (found.public, found.private) == (expected.public, expected.private)
    assert measure(b"PAR1\n-\n" + bytes(50)).problems


def test_all_problems_of_a_file_come_back(measure: Measure) -> None:
    found = measure(answers().replace(b"\n3,", b"\n2,").replace(b"\n5,", b"\n99,")).problems
    assert {problem["code"] for problem in found} >= {"repeated_ids"}
    assert len(found) >= 2


def test_what_stumbles_is_told_without_any_value(measure: Measure) -> None:
    answer = measure("stumble")
    assert answer.failure == "could not be scored: RuntimeError"
    assert "evaluate" in answer.details
    assert "cat" not in repr(answer) + answer.details


def test_a_truth_that_cannot_be_read_is_our_failure(measure: Measure, ground_truth: TruthSpec, tmp_path: Path) -> None:
    (tmp_path / "broken.csv").write_text("id,label\n1,cat\n1,dog\n")
    broken = TruthSpec("2", "accuracy", str(tmp_path / "broken.csv"), {}, "id")
    answer = measure(answers(), by=broken)
    assert answer.failure == "could not be scored: GroundTruthError"
    assert "dog" not in repr(answer) + answer.details
    assert measure(answers()).result is not None


def test_a_metric_that_is_gone_is_named(measure: Measure, ground_truth: TruthSpec) -> None:
    answer = measure(answers(), by=TruthSpec("3", "gone", ground_truth.truth, {}, "id"))
    assert "No metric is called" in answer.failure
    assert "The operator can put its file back." in answer.host_details


@pytest.mark.parametrize(
    "said_to_user",
    [
        {"problems": 7},
        {"problems": [{"code": "x"}]},
        {"problems": [{"code": 1, "message": "", "column": None, "line": None, "id": None, "count": 1}]},
        {"result": {}},
        {"result": {"metric": "a", "version": "b", "params": {}, "overall": float("nan"), "public": 1, "private": 1}},
        {"result": None},
    ],
)
def test_what_has_not_the_form_of_an_answer_is_believed_by_nobody(said_to_user: dict[str, Any]) -> None:
    with pytest.raises(messages.MalformedMessage):
        scorer_answer.read_answer(said_to_user)


def test_a_message_is_bounded_and_nothing_but_json() -> None:
    ours, theirs = messages.Channel.pair()
    with closing(ours), closing(theirs):
        for text in (b"[1]", b"no"):
            theirs.socket.send(struct.pack("!I", len(text)) + text)
            with pytest.raises(messages.MalformedMessage):
                ours.receive()
        theirs.socket.send(struct.pack("!I", messages.MAX_MESSAGE_BYTES + 1))
        with pytest.raises(messages.ConnectionEnded):
            ours.receive()


def test_each_wait_for_another_process_has_an_end(tmp_path: Path) -> None:
    ours, theirs = messages.Channel.pair()
    (tmp_path / "large.csv").write_bytes(bytes(20_000_000))
    begun = time.monotonic()
    with pytest.raises(messages.DeadlinePassed):
        ours.receive(begun + 0.1)
    with pytest.raises(messages.DeadlinePassed):
        ours.send_file(tmp_path / "large.csv", {}, begun + 0.2)
    with pytest.raises(messages.DeadlinePassed):
        ours.send({"large": "x" * 20_000_000}, begun + 0.3)
    assert time.monotonic() - begun < 5
    theirs.close()
    with closing(ours), pytest.raises(messages.ConnectionEnded):
        ours.receive(begun + 60)


# --- limits and the seal ----------------------------------------------------------------------------------------


def test_a_file_that_eats_memory_is_stopped_alone(measure: Measure) -> None:
    answer = measure("eat", ScoringLimits(20, 400))
    assert "400 MB" in answer.problems[0]["message"]
    assert measure(answers()).result is not None


@pytest.mark.parametrize("word", ["spin", "sleep"])
def test_what_takes_too_long_is_stopped_when_its_time_is_over(measure: Measure, word: str) -> None:
    measure(answers())
    begun = time.monotonic()
    with pytest.raises(client.JobTimedOut):
        measure(word, ScoringLimits(0.5, 1500))
    assert 0.4 < time.monotonic() - begun < 4 * patience()
    assert measure(answers()).result is not None


@pytest.mark.parametrize("word", ["die", "leave", "babble", "later abort", "later die"])
def test_a_process_that_ends_without_an_answer_is_our_fault_and_the_next_file_is_scored(
    measure: Measure, word: str
) -> None:
    with pytest.raises(client.ScorerDied):
        measure(word, ScoringLimits(3, 1500))
    assert measure(answers()).result is not None


@pytest.mark.fault(27)
def test_a_file_that_breaks_its_reader_twice_and_alone_cannot_be_read(measure: Measure) -> None:
    measure(answers())
    (problem,) = measure("abort").problems
    assert problem["code"] == "unreadable"
    assert problem["message"].startswith("This file cannot be read")
    assert measure(answers()).result is not None


def test_a_file_that_was_scored_in_a_process_spoilt_by_another_is_tried_again_alone(
    measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process dies with Bo's good file in hand, which is scored all the same."""
    measure(answers())
    spoilt, ask = sealed_process(), client._ask_process

    def die_first(process: client.SealedProcess, *others: Any) -> ScorerAnswer:
        if process.pid == spoilt:
            os.kill(process.pid, signal.SIGABRT)
            until(lambda: is_over(process.pid), what="its end")
        return ask(process, *others)

    monkeypatch.setattr(client, "_ask_process", die_first)
    assert measure(answers()).result is not None
    assert sealed_process() != spoilt


@pytest.mark.parametrize(("used", "is_its_own"), [(20.0, True), (0.1, False)])
def test_a_file_that_takes_too_long_to_read_is_at_fault_only_for_what_it_used_of_the_processor(
    measure: Measure, monkeypatch: pytest.MonkeyPatch, used: float, is_its_own: bool
) -> None:
    late = client.Death("reading", -signal.SIGKILL, used, is_late=True)
    monkeypatch.setattr(client, "_try_to_score", lambda *_, **__: late)
    if is_its_own:
        assert measure(answers(), alone=True).problems[0]["code"] == "unreadable"
        with pytest.raises(client.JobTimedOut):
            measure(answers())
    else:
        with pytest.raises(client.JobTimedOut):
            measure(answers(), alone=True)


def test_a_child_that_answered_and_stays_holds_up_nobody(measure: Measure) -> None:
    measure(answers())
    begun = time.monotonic()
    assert measure("linger").failure == "lingers"
    assert measure(answers()).result is not None
    assert time.monotonic() - begun < 5 * patience()


def test_a_child_has_nothing_of_the_site(measure: Measure, monkeypatch: pytest.MonkeyPatch) -> None:
    client.close_scorer()
    for name in ("SECRET_KEY", "DATABASE_URL", "ADMIN_PASSWORD", "REDIS_URL", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "secret")
    found = message(measure("show"))
    assert not set(found["environment"]) & {"SECRET_KEY", "DATABASE_URL", "ADMIN_PASSWORD", "REDIS_URL"}
    assert "AWS_SECRET_ACCESS_KEY" not in found["environment"]
    assert not FOREIGN & set(found["modules"])
    assert sorted(found["descriptors"]) == ["c", "c", "c", "s"], "/dev/null, its answer, nothing else"


def test_a_child_that_was_taken_over_reaches_nothing(measure: Measure, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("secret")
    found = message(measure("tell"))
    assert found.pop("a fork") != "done"
    assert found.pop("a program") != "done"
    if reason_without_seal():
        pytest.skip("this kernel has no sandbox; the limits hold")
    assert "done" not in found.values(), found


def test_a_truth_process_that_its_truth_took_over_reaches_nothing_but_the_files_of_this_truth(
    ground_truth: TruthSpec, tmp_path: Path
) -> None:
    if reason_without_seal():
        pytest.skip("this kernel has no sandbox; the limits hold")
    files = tmp_path / "files"
    files.mkdir()
    (files / "mine.csv").write_bytes(answers())
    for name in ("hostile.csv", "other.csv"):
        (tmp_path / name).write_text(TRUTH)
    taken = replace(ground_truth, mark="hostile", truth=str(tmp_path / "hostile.csv"))
    said_to_user = client.score_file(taken, files / "mine.csv", LIMITS).host_details
    found = json.loads(said_to_user[said_to_user.index("{") :])
    assert len(found) == 8
    if landlock._landlock_version() < 6:
        del found["the parent"]  # before Linux 6.12
    assert "done" not in found.values(), found


# --- processes --------------------------------------------------------------------------------------------------


def test_a_truth_is_read_once_and_few_stay(measure: Measure, ground_truth: TruthSpec) -> None:
    client.close_scorer()
    ground_truths = [TruthSpec(str(n), ground_truth.metric, ground_truth.truth, {}, "id") for n in range(6)]
    for one in ground_truths:
        measure(answers(), by=one)
    root = client._running[0].process.pid
    kept = set(below(root))
    assert len(kept) == client.MAX_PROCESSES
    for _ in range(3):
        measure(answers(), by=ground_truths[-1])
    assert set(below(root)) == kept


def test_no_descriptor_and_no_zombie_is_left_behind(measure: Measure) -> None:
    client.close_scorer()
    measure(answers())

    def state() -> tuple[int, int, int]:
        root = at_rest()  # a browser of other tests may run below this process too
        pids = [root, *below(root)]
        return len(os.listdir("/proc/self/fd")), len(pids), sum(len(os.listdir(f"/proc/{p}/fd")) for p in pids)

    measure(answers())
    before = state()
    for number in range(20):
        measure(answers(), alone=number % 2 == 0)
    assert state() == before


def test_the_waiting_process_has_one_thread_when_it_forks(measure: Measure) -> None:
    client.close_scorer()
    for _ in range(3):
        measure(answers(), alone=True)
    root = at_rest()
    assert len(os.listdir(f"/proc/{root}/task")) == 1


@pytest.mark.parametrize("killed", ["the waiting process", "the sealed process"])
def test_a_process_that_is_killed_between_two_files_costs_nothing(measure: Measure, killed: str) -> None:
    client.close_scorer()
    measure(answers())
    root, process = at_rest(), sealed_process()
    os.kill(root if killed == "the waiting process" else process, signal.SIGKILL)
    until(lambda: is_over(process), what="the end of the process")
    assert measure(answers()).result is not None


@pytest.mark.parametrize("killed", ["the waiting process", "the sealed process"])
@pytest.mark.fault(1)
def test_a_process_that_is_killed_with_a_file_in_hand_is_no_fault_of_the_file(measure: Measure, killed: str) -> None:
    """It is tried again alone, and killed again: then it is our failure, at once."""
    client.close_scorer()
    measure(answers())
    stop = threading.Event()

    def kill() -> None:
        ended: set[int] = set()
        while len(ended) < 2 and not stop.wait(0.01):
            for scorer in client._running[:1]:
                busy = [pid for pid in below(scorer.process.pid) if state_of(pid) == "R" and pid not in ended]
                if len(busy) == 1 and client._place.locked() and not is_over(scorer.process.pid):
                    ended.update(busy)
                    os.kill(scorer.process.pid if killed == "the waiting process" else busy[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    begun = time.monotonic()
    try:
        with pytest.raises(client.ScorerDied):
            measure("spin")
    finally:
        stop.set()
        killer.join()
    assert time.monotonic() - begun < 8 * patience()
    assert measure(answers()).result is not None


# --- one process for the files of all teams --------------------------------------------------------------------------


def test_one_process_scores_file_after_file_to_the_same_digits(measure: Measure) -> None:
    client.close_scorer()
    alone = [measure(answers(public=n), alone=True).result for n in range(4)]
    process = sealed_process()
    again = [measure(answers(public=n)).result for n in range(4)]
    assert sealed_process() == process
    assert [one and (one.public, one.private) for one in alone] == [one and (one.public, one.private) for one in again]
    assert None not in again


@pytest.mark.parametrize("word", ["stumble", "eat"])
def test_a_process_in_which_something_unforeseen_happened_scores_no_other_file(measure: Measure, word: str) -> None:
    limits = ScoringLimits(20, 400)
    measure(answers(), limits)
    process = sealed_process()
    measure(word, limits)
    assert measure(answers(), limits).result is not None
    assert sealed_process() != process


def test_a_process_whose_file_was_invalid_scores_no_other(measure: Measure) -> None:
    measure(answers(), alone=True)
    process = sealed_process()
    assert measure(answers().replace(b"\n3,", b"\n2,")).problems
    measure(answers())
    assert sealed_process() != process


def test_a_process_that_has_grown_scores_no_other_file(measure: Measure, monkeypatch: pytest.MonkeyPatch) -> None:
    measure(answers(), alone=True)
    process = sealed_process()
    monkeypatch.setattr(client, "memory_mb", lambda pid: 1000.0)
    measure(answers())
    monkeypatch.undo()
    measure(answers())
    assert sealed_process() != process


def test_a_process_scores_fifty_files_and_no_more(measure: Measure, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.MAX_FILES == 50
    monkeypatch.setattr(client, "MAX_FILES", 3)
    measure(answers(), alone=True)
    process = sealed_process()
    measure(answers())
    assert sealed_process() == process
    measure(answers())
    until(lambda: is_over(process), what="the end of the process")
    assert measure(answers()).result is not None


def test_a_process_that_had_a_large_file_scores_no_other(measure: Measure, monkeypatch: pytest.MonkeyPatch) -> None:
    measure(answers(), alone=True)
    process = sealed_process()
    monkeypatch.setattr(client, "MAX_REUSED_BYTES", 10)
    large = answers().replace(b"\n", b"\r\n") + b"\r\n" * 200
    assert measure(large).result is not None
    monkeypatch.undo()
    measure(answers())
    assert sealed_process() != process


def test_a_process_that_waits_for_long_ends(measure: Measure, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.IDLE_SECONDS == 30
    monkeypatch.setattr(client, "IDLE_SECONDS", 0.1)
    measure(answers(), alone=True)
    process = sealed_process()
    until(lambda: is_over(process), what="the end of the process")
    assert measure(answers()).result is not None


def test_a_process_that_speaks_before_it_is_asked_is_not_believed(measure: Measure) -> None:
    measure(answers())
    assert measure("linger").failure == "lingers"
    assert measure(answers()).result is not None


def test_a_file_that_is_gone_after_its_score_holds_up_nobody(measure: Measure, monkeypatch: pytest.MonkeyPatch) -> None:
    def stat(path: Path, **options: Any) -> os.stat_result:
        raise FileNotFoundError(path)

    measure(answers())  # the scorer has started
    with monkeypatch.context() as gone:
        gone.setattr(Path, "stat", stat)
        assert measure(answers()).result is not None
    begun = time.monotonic()
    assert measure(answers()).result is not None
    assert time.monotonic() - begun < 5 * patience()


JOB = """
import sys
from leaderboard.scoring.jobs import JobLimits, run_job
asked = dict(metric="accuracy", truth=sys.argv[1], params={}, id_column="id", submission=sys.argv[2], target="")
run_job("convert_submission", asked, JobLimits(60, 60), 1500)
"""


def has_reader(pipe: Path) -> bool:
    """Whether some process reads a pipe; it then waits for what is never written."""
    with suppress(OSError):
        os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        return True
    return False


def test_a_job_ends_with_the_web_process_that_asked_for_it(ground_truth: TruthSpec, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "endless.csv")
    web = subprocess.Popen([sys.executable, "-c", JOB, ground_truth.truth, str(tmp_path / "endless.csv")])
    until(lambda: has_reader(tmp_path / "endless.csv"), what="a job that reads")
    processes = below(web.pid)
    assert len(processes) == 2  # the waiting process, and the one that reads
    web.kill()
    web.wait()
    until(lambda: all(map(is_over, processes)), what="the end of all")


def test_stopping_ends_what_is_measured(measure: Measure) -> None:
    client.close_scorer()
    measure(answers())
    root = at_rest()

    def stop() -> None:
        at_work(root)
        client.stop_scorer()

    stopper = threading.Thread(target=stop)
    stopper.start()
    with pytest.raises(client.ScorerInterrupted):
        measure("spin")
    stopper.join()
    until(lambda: not Path(f"/proc/{root}").exists() or not below(root), what="the end of the child")
    assert measure(answers()).result is not None


def test_a_scorer_that_sleeps_is_ended_and_replaced(measure: Measure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "ANSWER_SECONDS", 0.5)
    measure(answers())
    root = at_rest()
    for pid in (root, *below(root)):
        os.kill(pid, signal.SIGSTOP)
    with pytest.raises(client.JobTimedOut):
        measure(answers(), ScoringLimits(0.3, 1500))
    assert measure(answers()).result is not None


# --- custom metrics ---------------------------------------------------------------------------------------

GAP = '''"""Mean gap. Lower is better."""

class ParticipantVisibleError(Exception):
    pass

def score(solution, submission, row_id_column_name):
    if (submission.y < 0).any():
        raise ParticipantVisibleError("Gaps need numbers from 0 on.")
    return float((solution.y - submission.y).abs().mean())
'''


def test_a_custom_metric_runs_in_the_sealed_process(
    measure: Measure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics_folder = tmp_path / "metrics"
    metrics_folder.mkdir()
    (metrics_folder / "gap.py").write_text(GAP)
    monkeypatch.setenv("METRICS_DIR", str(metrics_folder))
    client.close_scorer()
    (tmp_path / "gaps.csv").write_text("id,y,Usage\n1,1,Public\n2,2,Private\n3,3,Public\n4,4,Private\n")
    gap = TruthSpec("gap", "gap", str(tmp_path / "gaps.csv"), {}, "id", secondary=[("rmse", {})])
    result = measure(b"id,y\n4,4\n3,3\n2,3\n1,1\n", by=gap).result
    assert result is not None
    assert (result.public, result.private) == (0.0, 0.5)
    assert result.secondary[0].key == "rmse"
    (problem,) = measure(b"id,y\n4,4\n3,-3\n2,3\n1,1\n", by=gap).problems
    assert problem["message"] == "Gaps need numbers from 0 on."
    assert measure(b"id,y\n4,4\n", by=gap).problems


def test_a_custom_metric_in_the_form_of_ours_runs_there_too(
    measure: Measure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics_folder = tmp_path / "metrics"
    metrics_folder.mkdir()
    text = metrics.get("pearson").source_path.read_text().replace("\npearson = ", "\nown_pearson = ")
    (metrics_folder / "own_pearson.py").write_text(text)
    monkeypatch.setenv("METRICS_DIR", str(metrics_folder))
    monkeypatch.setattr(custom, "_inspector", [custom_metrics.inspect_sealed])
    custom._facts.clear()
    assert metrics.get("own_pearson").columns == metrics.get("pearson").columns
    client.close_scorer()
    (tmp_path / "truth.csv").write_text("id,y\n1,1\n2,2\n3,3\n")
    own = TruthSpec("own", "own_pearson", str(tmp_path / "truth.csv"), {}, "id", secondary=[("own_pearson", {})])
    result = measure(b"id,y\n3,6\n2,4\n1,2\n", by=own).result
    assert result is not None
    assert (result.overall, result.secondary[0].overall) == (1.0, 1.0)
    (problem,) = measure(b"id,y\n3,6\n2,many\n1,2\n", by=own).problems
    assert (problem["code"], problem["line"]) == ("not_a_number", 3)


HOSTILE = {
    "import time; time.sleep(60)": "Loading it took longer than 8 s.",
    "import os; os._exit(3)": "Loading it ended its process",
    "import os; os.abort()": "Loading it ended its process",
    "big = [b'x' * 50_000_000 for _ in range(10_000)]": "MemoryError",
    "import socket; socket.create_connection(('127.0.0.1', 9))": "PermissionError",
    "open('/etc/passwd')": "PermissionError",
    "import os; os.fork()": "PermissionError",
}


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.fault(47)
@pytest.mark.attack("code in a custom metric")
def test_47_a_file_that_hangs_dies_or_reaches_out_while_it_is_loaded_is_only_not_offered(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if HOSTILE[text] == "PermissionError" and reason_without_seal():
        pytest.skip("this kernel has no sandbox; the limits hold")
    metrics_folder = tmp_path / "metrics"
    metrics_folder.mkdir()
    (metrics_folder / "bad.py").write_text(text)
    (metrics_folder / "gap.py").write_text(GAP)
    monkeypatch.setenv("METRICS_DIR", str(metrics_folder))
    monkeypatch.setattr(custom, "_inspector", [None])
    custom._facts.clear()
    assert [file.key for file in custom_metrics.find_uninspected()] == ["bad", "gap"]
    for file in custom_metrics.find_uninspected():
        monkeypatch.setattr(custom_metrics, "INSPECT_SECONDS", 8 if file.key == "bad" and "sleep" in text else 60)
        monkeypatch.setattr(custom, "_inspector", [custom_metrics.inspect_sealed])
        custom.read_custom_file(file.path)
        monkeypatch.setattr(custom, "_inspector", [None])
    assert custom_metrics.find_uninspected() == []
    status = custom_metrics.custom_metrics_status()
    assert [file.key for file in status["offered"]] == ["gap"]
    assert HOSTILE[text] in status["unfit"][0].error
