"""The hidden board: nothing about scores can be read from it; and what probing an open one is worth.

Ada hosts on 40 public and 20 private rows, so a public score is a multiple of 0.025.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leaderboard.accounts.models import User
from leaderboard.boards import board_table, standings, team_ranks
from leaderboard.boards import queries as boards_module
from leaderboard.boards import services as boards
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, GroundTruth, Score, Standing, Submission
from leaderboard.competitions.models.competition import Split
from leaderboard.ground_truths.services import folders
from leaderboard.submissions import score as score_module
from leaderboard.submissions import submit_conditions, submitting
from tests.conftest import close, enter, make_competition, submit

PUBLIC, PRIVATE = 40, 20
ROWS = range(PUBLIC + PRIVATE)
TRUTH = "id,label,Usage\n" + "".join(
    f"{row},{'cat' if row % 3 else 'dog'},{'Public' if row < PUBLIC else 'Private'}\n" for row in ROWS
)


def file_with(wrong: int, *, private: int = 0, start: int = 0) -> bytes:
    """A file with so many wrong public and private rows; from another `start` they are other rows."""
    missed = {(start + number) % PUBLIC for number in range(wrong)} | set(range(PUBLIC, PUBLIC + private))
    given = ("bird" if row in missed else "cat" if row % 3 else "dog" for row in ROWS)
    return ("id,label\n" + "".join(f"{row},{label}\n" for row, label in enumerate(given))).encode()


def hidden(host: User, **fields: Any) -> Competition:
    return make_competition(host, truth=TRUTH, **{"hides_scores": True, **fields})


def board_of(competition: Competition) -> list[tuple[int | None, str, float | None]]:
    competition.refresh_from_db()
    return [(row.rank, row.name, row.value) for row in boards_module.ranked_lines(competition, Split.PUBLIC)]


def ground_truth_of(competition: Competition) -> GroundTruth:
    ground_truth = GroundTruth.objects.select_related("competition").get(pk=competition.ground_truth_id or 0)
    assert ground_truth.number
    return ground_truth


# --- probing ----------------------------------------------------------------------------------------------------


def vote(seed: int) -> tuple[float, float]:
    """What 150 random files gain for their majority, on 1,000 public rows and on 10,000 private ones. A file below one
    half is turned around."""
    dice, public, files = np.random.default_rng(seed), 1000, 150
    truth = dice.integers(0, 2, public + 10_000, dtype=np.int8)
    guesses = dice.integers(0, 2, (files, len(truth)), dtype=np.int8)
    weights = np.where((guesses[:, :public] == truth[:public]).mean(axis=1) > 0.5, 1.0, -1.0)
    votes = weights.astype(np.float32) @ (2 * guesses - 1).astype(np.float32)
    right = (votes + dice.uniform(-0.5, 0.5, len(truth)) > 0) == truth
    return float(right[:public].mean()) - 0.5, float(right[public:].mean()) - 0.5


@pytest.mark.attack("voting on answers by many public scores")
def test_who_probes_an_open_board_gains_nothing_in_the_final_ranking() -> None:
    """The same 12 classes: the public rows give way, the private ones decide and the board does not speak of them."""
    public, private = np.mean([vote(seed) for seed in range(12)], axis=0)
    assert public >= 0.08
    assert abs(private) < 0.01


@pytest.mark.attack("voting on answers by many public scores")
def test_a_day_has_as_many_scores_as_attempts_and_no_more(ada: User, bo: User) -> None:
    pets = hidden(ada, hides_scores=False, daily_attempts=3)
    enter(pets, bo)
    for number in range(3):
        submit(pets, bo, file_with(number))
    with pytest.raises(submit_conditions.SubmissionRefused):
        submit(pets, bo, file_with(5))
    assert Score.objects.filter(split="public").count() == 3


# --- standings --------------------------------------------------------------------------------------------------


def test_the_order_of_scoring_does_not_matter(ada: User, bo: User, cy: User) -> None:
    """Eight files, scored in two different orders: the same standings, and those of a rebuild."""
    pets = hidden(ada, daily_attempts=20)
    dice = random.Random(11)
    for user in (bo, cy):
        enter(pets, user)
        for _ in range(4):
            submitting.submit_file(
                competition=pets, user=user, file_name="f.csv", chunks=[file_with(dice.randrange(1, 30))]
            )
    files = list(Submission.objects.values_list("pk", flat=True))
    found = []
    for _ in range(2):
        Submission.objects.update(status="pending", finished_at=None, tries=0)
        Standing.objects.all().delete()
        for submission in Submission.objects.all():
            submission.scores.all().delete()
        dice.shuffle(files)
        for pk in files:
            score_module.score_one(pk)
            assert standings.standing_differences(ground_truth_of(pets)) == []
        found.append(sorted(Standing.objects.values_list("team", "submission", "value", "received_at")))
    assert found[0] == found[1]
    assert len(found[0]) == 2


def test_a_hidden_board_lists_teams_by_their_last_file(ada: User, bo: User, cy: User) -> None:
    pets = hidden(ada)
    enter(pets, bo)
    enter(pets, cy)
    submit(pets, cy, file_with(0))
    submit(pets, bo, file_with(2))
    assert board_of(pets) == [(None, "bo", None), (None, "cy", None)]
    last = submit(pets, cy, file_with(20))
    assert board_of(pets) == [(None, "cy", None), (None, "bo", None)]
    row = next(boards_module.ranked_lines(pets, Split.PUBLIC))
    assert (row.submission_id, row.received_at) == ("", last.received_at), "not those of the best file"
    assert team_ranks.placing_of(bo.memberships.get().team_id, ground_truth_of(pets), Split.PUBLIC) is None


def test_after_the_reveal_a_hidden_board_is_open(ada: User, bo: User) -> None:
    pets = hidden(ada)
    enter(pets, bo)
    submit(pets, bo, file_with(9, private=5))
    submit(pets, bo, file_with(8, private=5))
    close(pets)
    assert board_of(pets) == [(None, "bo", None)]
    boards.reveal_competition(competition=pets)
    assert board_of(pets) == [(1, "bo", 0.775)]  # of the two, the earlier one: both score 0.75 on the private rows
    assert standings.standing_differences(ground_truth_of(pets)) == []


def test_ada_hides_the_board_and_opens_it_again(ada: User, bo: User) -> None:
    pets = hidden(ada, hides_scores=False)
    enter(pets, bo)
    submit(pets, bo, file_with(9))
    seen = [board_of(pets)]
    for hides in (True, False):
        version = pets.board_version
        competitions.change_competition(competition=pets, hides_scores=hides)
        seen.append(board_of(pets))
        assert standings.standing_differences(ground_truth_of(pets)) == []
        assert pets.board_version > version
    assert seen == [[(1, "bo", 0.775)], [(None, "bo", None)], [(1, "bo", 0.775)]]


# --- other ways in and out --------------------------------------------------------------------------------------


def test_a_hidden_board_travels_in_the_folder(ada: User, tmp_path: Path) -> None:
    pets = hidden(ada)
    folders.export_folder(pets, tmp_path / "pets")
    assert "hides_scores = true\n" in (tmp_path / "pets" / "competition.toml").read_text()
    competitions.delete_competition(competition=pets)
    assert folders.import_folder(tmp_path / "pets", user=ada).board.hides_scores


def test_a_folder_without_a_word_about_the_board_makes_an_open_one(ada: User, tmp_path: Path) -> None:
    pets = make_competition(ada)
    folders.export_folder(pets, tmp_path / "pets")
    text = (tmp_path / "pets" / "competition.toml").read_text()
    (tmp_path / "pets" / "competition.toml").write_text(text.replace("hides_scores = false\n", ""))
    competitions.delete_competition(competition=pets)
    assert not folders.import_folder(tmp_path / "pets", user=ada).board.hides_scores


def test_ada_downloads_scores_that_are_hidden_from_her_students(ada: User, bo: User) -> None:
    pets = hidden(ada)
    enter(pets, bo)
    submit(pets, bo, file_with(9))
    submit(pets, bo, file_with(8))
    pets.refresh_from_db()
    assert board_table.board_csv(pets, Split.PUBLIC, is_for_hosts=True).splitlines()[1].startswith("1,bo,0.8,")
    assert board_table.board_csv(pets, Split.PUBLIC).splitlines()[1].startswith(",bo,,")
