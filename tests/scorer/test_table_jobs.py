"""A conversion takes seconds and no longer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from leaderboard.scoring import table_jobs
from leaderboard.scoring.client import JobLimits

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
