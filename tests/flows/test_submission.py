"""The way of a submission with the real broker and a real worker: upload over HTTP, score, rank on the page."""

from __future__ import annotations

import json
import re
import time

import pytest

from tests.conftest import answers
from tests.processes import asleep, broker
from tests.running_site import Site, patience, until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tokens(site: Site) -> list[str]:
    return site.make_class(is_listed=True)


def final(site: Site, token: str, submission: dict[str, object]) -> dict[str, object]:
    """What became of a submission, once it is no longer pending."""

    def look() -> dict[str, object] | None:
        found: dict[str, object] = json.loads(site.get(f"/api/v1/submissions/{submission['id']}", token)[1])
        return found if found["status"] != "pending" else None

    return until(look, what="the score")


def test_bo_and_cy_hand_in_files_and_see_their_ranks(site: Site, tokens: list[str]) -> None:
    bo, cy = tokens
    status, first = site.upload("pets", bo, answers(public=1))
    assert status == 201, first
    status, second = site.upload("pets", cy, answers())
    assert status == 201, second
    assert final(site, bo, first)["status"] == "scored"
    assert final(site, cy, second)["status"] == "scored"
    board = json.loads(site.get("/api/v1/competitions/pets/leaderboard?board=public", bo)[1])
    rows = [(row["rank"], row["team"]) for row in board["items"]]
    assert rows == [(1, "cy"), (2, "bo")]
    page = site.get("/c/pets/leaderboard/")[1]
    table = page[page.index("<tbody") : page.index("</tbody>")]
    assert re.findall(r">\s*(bo|cy)\s*<", table)[:2] == ["cy", "bo"]


@pytest.mark.fault(12)
def test_a_message_that_was_lost_is_rung_again_by_the_sweep(site: Site, tokens: list[str]) -> None:
    """The row is stored and the wake-up never rings: the beat's sweep finds it."""
    lost = site.shell(
        "from unittest import mock\n"
        "from leaderboard.competitions import wake_ups\nfrom leaderboard.submissions import submitting\n"
        "from leaderboard.competitions.models import Competition\n"
        "from leaderboard.accounts.models import User\n"
        "from tests.conftest import answers\n"
        "with mock.patch.object(wake_ups, 'wake_workers'):\n"
        "    print(submitting.submit_file(competition=Competition.objects.get(), user=User.objects.get(username='cy'),"
        " file_name='lost.csv', chunks=[answers()]).pk)"
    )
    assert final(site, tokens[1], {"id": lost})["status"] == "scored"


@pytest.mark.fault(8)
def test_a_frozen_broker_holds_no_upload_up(site: Site, tokens: list[str]) -> None:
    site.shell("from tests.classes import open_another\nopen_another('frozen', 'bo')")
    with asleep(broker(site)):
        begun = time.monotonic()
        status, submission = site.upload("frozen", tokens[0], answers())
        assert status == 201
        assert time.monotonic() - begun < 5 * patience(), "the goal is 3 s; the rest is for a busy machine"
    assert final(site, tokens[0], submission)["status"] == "scored"
