"""A score's receipt: what it names, what it keeps back, and that it is enough to compute the score again."""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from typing import Any

import pytest

import metrics
from leaderboard import hosting
from leaderboard.models import Competition, Instrument, Score, Submission, User
from leaderboard.storage import path_of
from tests.conftest import answers, close, enter, hand_in, make_competition
from tests.web.test_join import signed_in

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
    hosting.reveal(competition=pets)
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
    monkeypatch.setattr("leaderboard.models.instrument.software", lambda: {"numpy": "99.0"})
    assert receipt(bo, handed_in) == before
    later = hand_in(pets, bo, answers(public=1))
    assert receipt(bo, later)["measured_with"] == {"numpy": "99.0"}
    assert Instrument.objects.count() == 2


def test_the_private_score_is_on_it_after_the_reveal_alone(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    handed_in = hand_in(pets, bo, answers(private=1))
    before = receipt(bo, handed_in)
    assert before["scores"].keys() == {"public"}
    Score.objects.filter(split="private").update(value=0.123)
    assert receipt(bo, handed_in) == before
    close(pets)
    hosting.reveal(competition=pets)
    assert receipt(bo, handed_in)["scores"].keys() == {"public", "private"}


def test_the_fingerprint_of_a_tiny_truth_is_shown_after_the_end(pets: Competition, bo: User) -> None:
    """Twelve rows can be found by trying; then the hash would tell that the guess is right."""
    enter(pets, bo)
    handed_in = hand_in(pets, bo, answers())
    sha256 = pets.ground_truths.get().sha256
    page = f"/c/pets/submissions/{handed_in.pk}/"
    assert receipt(bo, handed_in)["ground_truth"]["sha256"] is None
    assert sha256 not in signed_in(bo).get(page).content.decode()
    close(pets)
    hosting.reveal(competition=pets)
    assert receipt(bo, handed_in)["ground_truth"]["sha256"] == sha256
    assert sha256 in signed_in(bo).get(page).content.decode()


def test_the_fingerprint_of_a_larger_truth_is_shown_at_once(ada: User, bo: User) -> None:
    pets = make_competition(ada, truth=LARGE)
    enter(pets, bo)
    file = "id,label\n" + "".join(f"{i},cat\n" for i in range(1, 201))
    named = receipt(bo, hand_in(pets, bo, file.encode()))
    assert named["ground_truth"]["sha256"] == hashlib.sha256(LARGE.encode()).hexdigest()


@pytest.mark.parametrize("mode", ["steady", "hidden"])
def test_a_board_that_keeps_scores_back_has_none_on_the_receipt(pets: Competition, bo: User, mode: str) -> None:
    Competition.objects.update(board_mode=mode, board_step=0.1)
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
    Score.objects.update(instrument=None, measured_at=None)
    named = receipt(bo, handed_in)
    assert (named["measured_at"], named["measured_with"]) == (None, {})
    assert "not noted then" in signed_in(bo).get(f"/c/pets/submissions/{handed_in.pk}/").content.decode()


def test_a_receipt_is_its_teams_alone(pets: Competition, bo: User, cy: User, dee: User) -> None:
    enter(pets, bo)
    enter(pets, cy)
    address = f"/c/pets/submissions/{hand_in(pets, bo, answers()).pk}/receipt.json"
    assert [signed_in(user).get(address).status_code for user in (cy, dee)] == [404, 404]
