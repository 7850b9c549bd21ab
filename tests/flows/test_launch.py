"""Ada's files on a site as the README starts it: its own worker reads them."""

from __future__ import annotations

import os
import signal

import pytest

from tests.processes import pages_worker
from tests.running_site import PASSWORD, Site, until
from tests.visitors import Caller

pytestmark = [pytest.mark.slow, pytest.mark.long]

LOOK = """
from leaderboard.competitions.models import Competition, PageTask
task = PageTask.objects.latest("created_at")
print(task.tries, Competition.objects.filter(slug__startswith="new-competition").count())
"""


def test_files_whose_worker_was_killed_are_read_by_the_next_one(site: Site) -> None:
    """Killed with the answers half read: the form is still there, and a draft is made of it once."""
    olga = Caller(site.address)
    olga.post("/accounts/login/", login="olga", password=PASSWORD)
    rows = "".join(f"{number},c{number % 7}\n" for number in range(200_000))
    page = olga.post("/host/new/", {"files": ("answers.csv", f"id,animal\n{rows}")}).url
    assert "/tasks/" in page
    until(lambda: "Working on it." in olga.get(page).text, what="a worker that reads the files")
    os.kill(pages_worker(site), signal.SIGKILL)
    until(lambda: "/tasks/" not in olga.get(page).url, seconds=120, every=0.5, what="a worker's answer")
    assert olga.get(page).url == f"{site.address}/host/predict-animal/setup/"
    assert site.shell(LOOK).split() == ["2", "0"]
