"""Two competitions with the same ids and other answers: what a student reads of a file is the same in both.

The library obeys this law for every metric (`metrics/tests/test_truth_independence.py`); here it is asked at the doors.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition
from leaderboard.submissions import score
from tests.api.conftest import Program
from tests.conftest import enter, make_competition
from tests.pages import signed_in

pytestmark = [pytest.mark.thorough, pytest.mark.takes(10)]  # each check is a process
IDS = [f"r{number}" for number in range(8)]
ONE = (["3", "7", "0.5", "120", "9", "1e-40", "42", "5"], ["Public", "Private", "Ignored", "Private"] * 2)
OTHER = (["80", "0.2", "6", "1e-9", "7e90", "2", "3", "1"], ["Ignored", "Public", "Private", "Public"] * 2)
BISECTING = "1.3407807929942596e+155"
FILES = {
    "honest": ["1", "2", "3", "4", "5", "6", "7", "8"],
    "bisecting": [BISECTING, "1", "1", "1", "1", "1", "1", "1"],
    "all too large": ["1e308"] * 8,
    "largest moves first": ["1e100", "-1e100"] * 4,
    "next to nothing": ["5e-324", "0", "-1e-300", "1e-100"] * 2,
    "hostile": ["", "nan", "0,5", "1e400", "x", "1", "-", "2"],
    "short": ["1", "2", "3"],
}


def file_of(cells: list[str]) -> bytes:
    return ("id,y\n" + "".join(f"{name},{cell}\n" for name, cell in zip(IDS, cells, strict=False))).encode()


@pytest.fixture
def twins(ada: User, bo: User) -> list[Competition]:
    found = []
    for slug, answers in (("one", ONE), ("other", OTHER)):
        rows = zip(IDS, *answers, strict=True)
        truth = "id,y,Usage\n" + "".join(f"{name},{y},{usage}\n" for name, y, usage in rows)
        secondary: list[tuple[str, dict[str, Any]]] = [("pearson", {}), ("mape", {}), ("poisson_deviance", {})]
        found.append(
            make_competition(ada, slug=slug, metric="rmspe", truth=truth, secondary=secondary, daily_attempts=50)
        )
        enter(found[-1], bo)
    return found


def submitted(competition: Competition, bos: Program, data: bytes) -> dict[str, Any]:
    """What the API says of a file that was handed in and measured, its scores, names and times apart."""
    _, made = bos.submit(data, slug=competition.slug)
    score.score_one(made["id"])
    _, found = bos.get(f"submissions/{made['id']}")
    said_to_user = {name: found[name] for name in ("status", "errors", "warnings", "private_score")}
    return {**said_to_user, "beside": [one["problem"] for one in found["secondary"]]}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.attack("finding answers, weights or ignored rows by what a file is refused for")
def test_submitting_a_file_tells_nothing_of_the_answers(twins: list[Competition], bo: User, name: str) -> None:
    bos, data = Program(bo), file_of(FILES[name])
    scored = [submitted(twin, bos, data) for twin in twins]
    assert scored[0] == scored[1]


def test_bo_reads_on_every_door_that_his_labels_are_written_otherwise(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    bos, data = Program(bo), ("id,label\n" + "".join(f"{i},{['cat', 'DOG'][i % 2]}\n" for i in range(1, 13))).encode()
    _, made = bos.submit(data)
    score.score_one(made["id"])
    _, found = bos.get(f"submissions/{made['id']}")
    assert (found["status"], found["errors"]) == ("scored", [])
    assert [warning["code"] for warning in found["warnings"]] == ["foreign_labels"]
    client = signed_in(bo)
    pages = [
        client.get(reverse("submit", args=["pets"]), {"submission": made["id"]}),
        client.get(reverse("submission", args=["pets", made["id"]])),
    ]
    for page in pages:
        assert page.content.decode().count('data-testid="file-warning"') == 1
    assert 'data-testid="doubtful"' in client.get(reverse("submissions", args=["pets"])).content.decode()
