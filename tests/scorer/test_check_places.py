"""Nobody's check waits for the slow checks of others, and a check takes seconds."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leaderboard import scoring
from leaderboard.accounts.models import User
from leaderboard.common.storage import path_of
from leaderboard.competitions.models import Competition
from leaderboard.competitions.services import checking, submit_conditions, truth_drafts
from leaderboard.scoring import job_slots, jobs_for_pages
from tests.conftest import answers, enter
from tests.site import until

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def arguments_of(competition: Competition, file: Path) -> dict[str, Any]:
    ground_truth = competition.ground_truth
    assert ground_truth is not None
    return {
        "metric": ground_truth.metric_key,
        "truth": str(path_of(ground_truth.file_key)),
        "params": ground_truth.params,
        "id_column": ground_truth.id_column,
        "submission": str(file),
    }


class Endless(threading.Thread):
    """A check of a file that never comes: a pipe into which nobody writes."""

    def __init__(self, competition: Competition, file: Path) -> None:
        super().__init__(daemon=True)
        self.file, self.arguments, self.error = file, arguments_of(competition, file), ""
        os.mkfifo(file)
        self.start()

    def run(self) -> None:
        try:
            jobs_for_pages.run_page_job("check_submission", **self.arguments)
        except jobs_for_pages.JobFailed as error:
            self.error = type(error).__name__

    def end(self) -> None:
        while self.is_alive():
            with suppress(OSError):  # who opens it lets the reader see that it is no file
                os.close(os.open(self.file, os.O_WRONLY | os.O_NONBLOCK))
            self.join(0.05)


@contextmanager
def endless_checks(competition: Competition, folder: Path, number: int) -> Iterator[list[Endless]]:
    with ExitStack() as stack:
        running = []
        for one in range(number):
            running.append(Endless(competition, folder / f"{one}.csv"))
            stack.callback(running[-1].end)
        yield running


def are_taken(places: threading.BoundedSemaphore | None) -> bool:
    assert places is not None
    if places.acquire(blocking=False):
        places.release()
        return False
    return True


@pytest.mark.attack("files that take long to check, so that hosts and others wait")
def test_two_endless_checks_make_neither_adas_nor_cys_wait(pets: Competition, cy: User, tmp_path: Path) -> None:
    enter(pets, cy)
    kind = jobs_for_pages.KINDS["check_submission"]
    with endless_checks(pets, tmp_path, 2) as hostile:
        until(lambda: are_taken(kind.places) or are_taken(kind.slow_places), what="both have begun")
        truth_drafts.recheck_ground_truth(competition=pets)
        assert checking.check_file_with_conditions(competition=pets, user=cy, chunks=[answers()]).problems == []
        assert all(one.is_alive() for one in hostile), "both went on meanwhile"


@pytest.mark.attack("files that take long to check, so that hosts and others wait")
def test_a_third_slow_check_is_stopped_at_once_with_a_clear_answer(
    pets: Competition, bo: User, cy: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(pets, bo), enter(pets, cy)
    monkeypatch.setattr(job_slots, "QUICK_SECONDS", 0.01)
    monkeypatch.setattr(job_slots, "QUICK_SECONDS_ON_THE_WALL", 0.01)
    with endless_checks(pets, tmp_path, 2):
        until(lambda: are_taken(jobs_for_pages.KINDS["check_submission"].slow_places), what="both are known to be slow")
        with pytest.raises(submit_conditions.SubmissionRefused) as refused:
            checking.check_file_with_conditions(competition=pets, user=cy, chunks=[answers()])
    assert refused.value.code == "slow_check"
    monkeypatch.undo()
    assert checking.check_file_with_conditions(competition=pets, user=bo, chunks=[answers()]).problems == []


@pytest.mark.attack("files that take long to check, so that hosts and others wait")
def test_a_check_that_takes_its_seconds_is_stopped(
    pets: Competition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = jobs_for_pages.KINDS["check_submission"]
    monkeypatch.setitem(jobs_for_pages.KINDS, "check_submission", replace(kind, kill_after=0.2))
    monkeypatch.setattr(job_slots, "QUICK_SECONDS", 0.1)
    monkeypatch.setattr(job_slots, "QUICK_SECONDS_ON_THE_WALL", 0.1)
    with endless_checks(pets, tmp_path, 1) as (hostile,):
        hostile.join(60)
        assert hostile.error == "JobTimedOut"
    truth, file = tmp_path / "truth.csv", tmp_path / "many.csv"
    truth.write_text("id,l,Usage\n" + "".join(f"{n},a,{'Public' if n % 2 else 'Private'}\n" for n in range(2400)))
    labels = " ".join(f"{n}" for n in range(9000))
    file.write_text("id,l\n" + "".join(f"{n},x{n} {labels}\n" for n in range(2400)))
    monkeypatch.setitem(jobs_for_pages.KINDS, "check_submission", replace(kind, seconds=1, slow_places=None))
    paths = {"truth": str(truth), "submission": str(file)}
    with pytest.raises(jobs_for_pages.JobTimedOut, match="of the processor"):
        jobs_for_pages.run_page_job("check_submission", metric="hamming_loss", params={}, id_column="id", **paths)


def test_a_check_that_others_slow_files_stopped_costs_cy_none_of_his_checks(
    pets: Competition, cy: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(pets, cy)
    monkeypatch.setattr(
        jobs_for_pages, "run_page_job", lambda *_, **__: (_ for _ in ()).throw(scoring.NoSlowSlot("taken"))
    )
    codes = []
    for _ in range(4):
        with pytest.raises(submit_conditions.SubmissionRefused) as refused:
            checking.check_file_with_conditions(competition=pets, user=cy, chunks=[answers()])
        codes.append(refused.value.code)
    assert codes == ["slow_check"] * 4


@pytest.mark.attack("files that take long to check, so that hosts and others wait")
def test_who_sends_slow_files_has_few_of_them_checked(
    pets: Competition, bo: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(pets, bo)
    monkeypatch.setattr(
        jobs_for_pages, "run_page_job", lambda *_, **__: (_ for _ in ()).throw(jobs_for_pages.JobTimedOut("10 s"))
    )
    codes = []
    for _ in range(4):
        with pytest.raises(submit_conditions.SubmissionRefused) as refused:
            checking.check_file_with_conditions(competition=pets, user=bo, chunks=[answers()])
        codes.append(refused.value.code)
    assert codes == ["slow_check", "slow_check", "slow_check", "checks"]
