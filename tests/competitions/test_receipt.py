"""A score's receipt: what it names, what it keeps back, and that it is enough to compute the score again."""

from __future__ import annotations

import hashlib
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import metrics
from leaderboard.accounts.models import User
from leaderboard.common.storage import path_of
from leaderboard.competitions.models import BoardSettings, Competition, Score, ScoringEnvironment, Submission
from leaderboard.competitions.services import boards
from tests.conftest import answers, close, enter, hand_in, make_competition
from tests.pages import signed_in

LARGE = "id,label,Usage\n" + "".join(
    f"{i},{'cat' if i % 3 else 'dog'},{'Public' if i % 2 else 'Private'}\n" for i in range(1, 201)
)


def receipt(user: User, submission: Submission) -> dict[str, Any]:
    found: dict[str, Any] = signed_in(user).get(f"/c/pets/submissions/{submission.pk}/receipt.json").json()
    return found


def test_the_receipt_is_enough_to_compute_the_score_again(ada: User, bo: User) -> None:
    pets = make_competition(ada, metric="f1", params={"average": "macro"}, truth=LARGE)
    enter(pets, bo)
    file = "id,label\n" + "".join(f"{i},{'cat' if i % 5 else 'dog'}\n" for i in range(1, 201))
    handed_in = hand_in(pets, bo, file.encode())
    close(pets)
    boards.reveal_competition(competition=pets)
    named = receipt(bo, handed_in)

    truth, submission = path_of(pets.ground_truths.get().file_key), path_of(handed_in.file_key)
    assert hashlib.sha256(truth.read_bytes()).hexdigest() == named["ground_truth"]["sha256"]
    assert hashlib.sha256(submission.read_bytes()).hexdigest() == named["submission"]["sha256"]
    metric = metrics.get(named["metric"]["key"])
    assert named["metric"]["version"] == hashlib.sha256(metric.source_path.read_bytes()).hexdigest()[:12]
    again = metrics.evaluate(
        named["metric"]["key"], truth, submission, named["metric"]["params"], named["ground_truth"]["id_column"]
    )
    assert named["scores"] == {"public": again.public, "private": again.private}
    for name in ("numpy", "pandas", "pyarrow"):
        assert named["measured_with"][name] == version(name)
    assert len(named["measured_with"]["reader"]) == 64
    assert named["measured_at"] > named["submission"]["received_at"]


def test_what_was_measured_with_is_a_fact_of_that_moment(
    pets: Competition, bo: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An upgrade tomorrow does not change the receipt of today."""
    enter(pets, bo)
    handed_in = hand_in(pets, bo, answers())
    before = receipt(bo, handed_in)
    monkeypatch.setattr("leaderboard.competitions.models.submission.software_versions", lambda: {"numpy": "99.0"})
    assert receipt(bo, handed_in) == before
    later = hand_in(pets, bo, answers(public=1))
    assert receipt(bo, later)["measured_with"] == {"numpy": "99.0"}
    assert ScoringEnvironment.objects.count() == 2


def test_the_private_score_is_on_it_after_the_reveal_alone(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    handed_in = hand_in(pets, bo, answers(private=1))
    before = receipt(bo, handed_in)
    assert before["scores"].keys() == {"public"}
    Score.objects.filter(split="private").update(value=0.123)
    assert receipt(bo, handed_in) == before
    close(pets)
    boards.reveal_competition(competition=pets)
    assert receipt(bo, handed_in)["scores"].keys() == {"public", "private"}


@pytest.mark.attack("confirming a guessed list of answers by a hash of the truth")
def test_a_receipt_commits_to_the_truth_and_tells_no_hash_of_it_before_the_reveal(ada: User, bo: User) -> None:
    """A hash would confirm a list of all answers with the split, which may be guessed but for a few rows."""
    pets = make_competition(ada, truth=LARGE)
    enter(pets, bo)
    file = "id,label\n" + "".join(f"{i},cat\n" for i in range(1, 201))
    handed_in = hand_in(pets, bo, file.encode())
    page = f"/c/pets/submissions/{handed_in.pk}/"
    sha256 = hashlib.sha256(LARGE.encode()).hexdigest()
    before = receipt(bo, handed_in)["ground_truth"]
    assert (before["sha256"], before["commitment_key"]) == (None, None)
    assert sha256 not in signed_in(bo).get(page).content.decode()
    assert before["commitment"] in signed_in(bo).get(page).content.decode()

    close(pets)
    boards.reveal_competition(competition=pets)
    after = receipt(bo, handed_in)["ground_truth"]
    assert after["sha256"] == sha256
    assert after["commitment"] == before["commitment"]
    assert after["commitment"] == committed(after["commitment_key"], sha256)
    assert after["commitment"] != committed(after["commitment_key"], hashlib.sha256(b"another file").hexdigest())
    assert after["commitment_key"] in signed_in(bo).get(page).content.decode()


def committed(key: str, sha256: str) -> str:
    """What the command line of the student guide prints."""
    guide = (Path(__file__).parents[2] / "docs" / "student-guide.md").read_text()
    [line] = [line for line in guide.splitlines() if line.startswith("python3 -c ") and "hmac" in line]
    command = shlex.split(line.replace("KEY", key).replace("SHA256", sha256))
    done = subprocess.run([sys.executable, *command[1:]], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_each_truth_has_a_key_of_its_own(ada: User) -> None:
    """Two terms with the same file have different commitments: none tells what the other one's key opened."""
    one, other = (make_competition(ada, slug=slug).ground_truths.get() for slug in ("one", "other"))
    assert one.sha256 == other.sha256
    assert one.commitment != other.commitment


@pytest.mark.parametrize("mode", ["steady", "hidden"])
def test_a_board_that_keeps_scores_back_has_none_on_the_receipt(pets: Competition, bo: User, mode: str) -> None:
    BoardSettings.objects.update(mode=mode, step=0.1, hides_own_scores=True)
    enter(pets, bo)
    assert receipt(bo, hand_in(pets, bo, answers(public=1)))["scores"] == {}


def test_a_file_without_a_score_has_a_receipt_too(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    named = receipt(bo, hand_in(pets, bo, b"id,label\n1,cat\n1,cat\n"))
    assert named["submission"]["status"] == "invalid"
    assert "scores" not in named


def test_scores_older_than_the_receipt_say_so(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    handed_in = hand_in(pets, bo, answers())
    Score.objects.update(scoring_environment=None, measured_at=None)
    named = receipt(bo, handed_in)
    assert (named["measured_at"], named["measured_with"]) == (None, {})
    assert "not recorded" in signed_in(bo).get(f"/c/pets/submissions/{handed_in.pk}/").content.decode()
