"""Conversions of slow files keep no host waiting, and a conversion takes seconds."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leaderboard.common.storage import path_of
from leaderboard.competitions.models import Competition
from leaderboard.competitions.services import truth_drafts
from leaderboard.scoring import job_slots, jobs_for_pages
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
        "target": f"{file}.converted",
    }


class Endless(threading.Thread):
    """A conversion of a file that never comes: a pipe into which nobody writes."""

    def __init__(self, competition: Competition, file: Path) -> None:
        super().__init__(daemon=True)
        self.file, self.arguments, self.error = file, arguments_of(competition, file), ""
        os.mkfifo(file)
        self.start()

    def run(self) -> None:
        try:
            jobs_for_pages.run_page_job("convert_submission", **self.arguments)
        except jobs_for_pages.JobFailed as error:
            self.error = type(error).__name__

    def end(self) -> None:
        while self.is_alive():
            with suppress(OSError):  # who opens it lets the reader see that it is no file
                os.close(os.open(self.file, os.O_WRONLY | os.O_NONBLOCK))
            self.join(0.05)


@contextmanager
def endless_conversions(competition: Competition, folder: Path, number: int) -> Iterator[list[Endless]]:
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


@pytest.mark.attack("files that take long to convert, so that hosts and others wait")
def test_two_endless_conversions_do_not_make_adas_check_wait(pets: Competition, tmp_path: Path) -> None:
    kind = jobs_for_pages.KINDS["convert_submission"]
    with endless_conversions(pets, tmp_path, 2) as hostile:
        until(lambda: are_taken(kind.places) or are_taken(kind.slow_places), what="both have begun")
        truth_drafts.recheck_ground_truth(competition=pets)
        assert all(one.is_alive() for one in hostile), "both went on meanwhile"


@pytest.mark.attack("files that take long to convert, so that hosts and others wait")
def test_a_conversion_that_takes_its_seconds_is_stopped(
    pets: Competition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = jobs_for_pages.KINDS["convert_submission"]
    monkeypatch.setitem(jobs_for_pages.KINDS, "convert_submission", replace(kind, kill_after=0.2))
    monkeypatch.setattr(job_slots, "QUICK_SECONDS", 0.1)
    monkeypatch.setattr(job_slots, "QUICK_SECONDS_ON_THE_WALL", 0.1)
    with endless_conversions(pets, tmp_path, 1) as (hostile,):
        hostile.join(60)
        assert hostile.error == "JobTimedOut"
    truth, file = tmp_path / "truth.csv", tmp_path / "many.csv"
    truth.write_text("id,l,Usage\n" + "".join(f"{n},a,{'Public' if n % 2 else 'Private'}\n" for n in range(2400)))
    labels = " ".join(f"{n}" for n in range(9000))
    file.write_text("id;l\n" + "".join(f"{n};x{n} {labels}\n" for n in range(2400)))
    monkeypatch.setitem(jobs_for_pages.KINDS, "convert_submission", replace(kind, seconds=1, slow_places=None))
    paths = {"truth": str(truth), "submission": str(file), "target": f"{file}.converted"}
    with pytest.raises(jobs_for_pages.JobTimedOut, match="of the processor"):
        jobs_for_pages.run_page_job("convert_submission", metric="hamming_loss", params={}, id_column="id", **paths)
