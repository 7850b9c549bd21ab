"""Jobs on tables take seconds and no longer, and load their libraries once for a page."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from leaderboard.scoring import page_jobs, table_jobs
from leaderboard.scoring.jobs import JobLimits, shared_waiting_process

pytestmark = pytest.mark.slow


@pytest.mark.attack("files that take long to convert, so that hosts and others wait")
def test_a_conversion_that_takes_its_seconds_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, file = tmp_path / "truth.csv", tmp_path / "many.csv"
    truth.write_text("id,l,Usage\n" + "".join(f"{n},a,{'Public' if n % 2 else 'Private'}\n" for n in range(2400)))
    arguments = {"metric": "hamming_loss", "params": {}, "id_column": "id", "truth": str(truth)}
    os.mkfifo(tmp_path / "endless.csv")
    monkeypatch.setitem(table_jobs.LIMITS, "convert_submission", JobLimits(10, 0.2))
    with pytest.raises(table_jobs.JobTimedOut):
        table_jobs.run_page_job(
            "convert_submission", **arguments, submission=str(tmp_path / "endless.csv"), target=f"{file}.converted"
        )
    labels = " ".join(f"{n}" for n in range(9000))
    file.write_text("id;l\n" + "".join(f"{n};x{n} {labels}\n" for n in range(2400)))
    monkeypatch.setitem(table_jobs.LIMITS, "convert_submission", JobLimits(1, 60))
    with pytest.raises(table_jobs.JobTimedOut, match="of the processor"):
        table_jobs.run_page_job("convert_submission", **arguments, submission=str(file), target=f"{file}.converted")


def waiting_processes() -> set[str]:
    return set(Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split())


def test_the_jobs_of_a_page_share_a_waiting_process_that_outlives_each_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "truth.csv").write_text("id,l\n1,a\n2,b\n")
    os.mkfifo(tmp_path / "endless.csv")
    before = waiting_processes()
    with shared_waiting_process():
        for _ in range(2):
            assert table_jobs.run_page_job("describe_table", truth=str(tmp_path / "truth.csv"))["rows"] == 2
            (waiting,) = waiting_processes() - before
            monkeypatch.setattr(table_jobs, "OF_HOSTS", JobLimits(10, 0.2))
            with pytest.raises(table_jobs.JobTimedOut):
                table_jobs.run_page_job("describe_table", truth=str(tmp_path / "endless.csv"))
            monkeypatch.undo()
            assert waiting_processes() - before == {waiting}
        os.kill(int(waiting), signal.SIGKILL)
        assert table_jobs.run_page_job("describe_table", truth=str(tmp_path / "truth.csv"))["rows"] == 2
    assert waiting_processes() == before


def test_a_large_file_with_semicolons_is_described_by_both_its_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [f"{row};{row * 7919 % 101},5;{'Public' if row < 300 else 'Private'}" for row in range(900)]
    (tmp_path / "truth.csv").write_text("\n".join(["id;y;Teil", *rows, ""]))
    for described in (200, 1_000_000):
        monkeypatch.setattr(page_jobs, "DESCRIBED_BYTES", described)
        found = page_jobs.do_job("describe_table", truth=str(tmp_path / "truth.csv"))
        assert [(one["name"], one["kind"]) for one in found["columns"]][1:] == [("y", "numbers"), ("Usage", "usage")]
        assert not found["is_sound"]
