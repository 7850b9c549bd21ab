"""The honest board: what a steady and a hidden board say of scores, and that nothing else can be read from them.

Ada hosts on 40 public and 20 private rows, so a public score is a multiple of 0.025; the step is 0.1 unless said.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from datetime import timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.accounts.models import User
from leaderboard.competitions.models import BoardSettings, Competition, GroundTruth, Standing, Submission, Uncertainty
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.ranking import boards as boards_module
from leaderboard.competitions.ranking import ladder as ladder_module
from leaderboard.competitions.ranking import standings, team_ranks
from leaderboard.competitions.ranking.ladder import Ladder
from leaderboard.competitions.scoring import score as score_module
from leaderboard.competitions.services import (
    boards,
    competitions,
    folders,
    launches,
    publishing,
    rescoring,
    submitting,
    truth_drafts,
)
from tests.conftest import close, enter, hand_in, make_competition

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


def steady(host: User, **fields: Any) -> Competition:
    """One that keeps exact scores from their own teams as well, unless `fields` say something else."""
    usual = {"board_mode": "steady", "board_step": 0.1, "hides_own_scores": True}
    return make_competition(host, truth=TRUTH, **{**usual, **fields})


def board_of(competition: Competition) -> list[tuple[int | None, str, float | None]]:
    competition.refresh_from_db()
    return [(row.rank, row.name, row.value) for row in boards_module.ranked_lines(competition, Split.PUBLIC)]


def ground_truth_of(competition: Competition) -> GroundTruth:
    ground_truth = GroundTruth.objects.select_related("competition").get(pk=competition.ground_truth_id or 0)
    assert ground_truth.number
    return ground_truth


# --- the ladder -------------------------------------------------------------------------------------------------


def test_the_shown_score_moves_only_for_a_file_that_is_better_by_more_than_the_step() -> None:
    said_to_user = list(Ladder(0.03, -1.0, 1.0).answers([0.845, 0.8, 0.869, 0.87, 0.8701, 0.9]))
    assert said_to_user == [(0.84, True), (0.84, False), (0.84, False), (0.84, False), (0.87, True), (0.87, False)]


def test_where_lower_is_better_the_same_holds_downwards() -> None:
    said_to_user = list(Ladder(0.5, 1.0, 0.0).answers([3.1, 2.5, 2.49, 9.0, 1.1]))
    assert said_to_user == [(3.5, True), (2.5, True), (2.5, False), (2.5, False), (1.5, True)]


def test_shown_scores_are_multiples_without_the_dust_of_binary_numbers() -> None:
    ladder = Ladder(0.03, -1.0)
    assert [ladder.rounded(k * 3 / 100) for k in range(34)] == [float(f"{k * 3 / 100:.2f}") for k in range(34)]
    # A score that is smaller by its last digit has not reached the multiple.
    assert 11 * 0.03 < 0.33
    assert ladder.rounded(11 * 0.03) == 0.3


def test_no_score_is_shown_that_no_file_has_reached() -> None:
    assert Ladder(0.2, -1.0, 1.0).rounded(0.94) == 0.8
    assert Ladder(0.2, -1.0, 1.0).rounded(1.0) == 1.0
    assert Ladder(0.35, -1.0, 1.0).rounded(1.0) == 0.7
    assert Ladder(0.05, 1.0, 0.0).rounded(0.01) == 0.05
    assert Ladder(0.05, 1.0, 0.0).rounded(0.0) == 0.0
    assert Ladder(0.5, -1.0).rounded(-0.2) == -0.5


def test_the_largest_numbers_are_rounded_without_an_accident() -> None:
    assert math.isfinite(Ladder(1e307, 1.0).rounded(1.7976931348623157e308))
    assert list(Ladder(1e307, -1.0).answers([1.7976931348623157e308, 0.0]))[1][1] is False


def test_a_hidden_board_answers_every_file_alike() -> None:
    assert list(Ladder(ladder_module.NO_STEP, -1.0).answers([0.1, 0.9, 1.0])) == [
        (0.0, True),
        (0.0, False),
        (0.0, False),
    ]


finite = st.floats(-1e6, 1e6)


@given(st.lists(finite, min_size=1), st.sampled_from([0.01, 0.03, 0.5, 7.0]), st.sampled_from([1.0, -1.0]))
def test_laws_of_the_ladder(scores: list[float], step: float, sign: float) -> None:
    """The first file counts; the shown score moves if and only if a file beats the bar, and only to better ones; it is
    never better, and at most one step worse, than the exact best."""
    ladder = Ladder(step, sign)
    said_to_user = list(ladder.answers(scores))
    assert said_to_user[0][1]
    for (before, _), score, (after, is_new) in zip(said_to_user, scores[1:], said_to_user[1:], strict=False):
        assert is_new == (sign * score < sign * ladder.bar_above(before))
        assert after == (ladder.rounded(score) if is_new else before)
        assert not is_new or sign * after < sign * before
    exact, shown = min(sign * score for score in scores), sign * said_to_user[-1][0]
    assert exact <= shown <= exact + step + 1e-6


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(min_value=5e-324, allow_nan=False, allow_infinity=False),
    st.sampled_from([1.0, -1.0]),
)
def test_a_ladder_counts_as_fractions_do(score: float, step: float, sign: float) -> None:
    """However large or small a score and a step are, nothing is lost between them."""
    ladder, rung = Ladder(step, sign), Fraction(repr(step))
    rungs = Fraction(repr(score)) / rung
    try:
        shown = float((math.ceil(rungs) if sign > 0 else math.floor(rungs)) * rung)
        above = float(Fraction(repr(shown)) - int(sign) * rung)
    except OverflowError:
        return  # `test_the_largest_numbers_are_rounded_without_an_accident`
    assert repr(ladder.rounded(score)) == repr(shown)
    assert ladder.bar_above(shown) == above


# --- probing ----------------------------------------------------------------------------------------------------


def vote(seed: int, step: float | None) -> tuple[float, float]:
    """What 150 random files gain for their majority, on 1,000 public rows and on 10,000 private ones.

    On a plain board a file below one half is turned around. A steady one tells of which files the score moved.
    """
    dice, public, files = np.random.default_rng(seed), 1000, 150
    truth = dice.integers(0, 2, public + 10_000, dtype=np.int8)
    guesses = dice.integers(0, 2, (files, len(truth)), dtype=np.int8)
    exact = (guesses[:, :public] == truth[:public]).mean(axis=1)
    if step is None:
        weights = np.where(exact > 0.5, 1.0, -1.0)
    else:
        weights = np.array([float(is_new) for _, is_new in Ladder(step, -1.0, 1.0).answers(exact.tolist())])
    votes = weights.astype(np.float32) @ (2 * guesses - 1).astype(np.float32)
    right = (votes + dice.uniform(-0.5, 0.5, len(truth)) > 0) == truth
    return float(right[:public].mean()) - 0.5, float(right[public:].mean()) - 0.5


def test_the_voting_attack_gains_much_on_a_plain_board_and_next_to_nothing_on_a_steady_one() -> None:
    """Both boards, the same 12 classes. Nobody gains on the private rows, which the board does not speak of."""
    plain = np.mean([vote(seed, None) for seed in range(12)], axis=0)
    climbed = np.mean([vote(seed, 0.03) for seed in range(12)], axis=0)
    assert plain[0] >= 0.08
    assert climbed[0] <= 0.03
    assert max(abs(plain[1]), abs(climbed[1])) < 0.01


def test_an_honest_class_keeps_its_order() -> None:
    """60 teams whose files get better with time: the steady order agrees with the private one as well as the exact
    best scores do, to within 0.03 of Kendall's tau."""
    dice = np.random.default_rng(4)
    skill = dice.uniform(0.7, 0.9, 60)
    ladder, exact, shown = Ladder(0.03, -1.0, 1.0), [], []
    for best in skill:
        scores = dice.binomial(1000, np.linspace(best - 0.1, best, 20)) / 1000
        exact.append(scores.max())
        shown.append(list(ladder.answers(scores.tolist()))[-1][0])
    assert _agreement(skill, np.array(exact)) - _agreement(skill, np.array(shown)) < 0.03
    assert _agreement(skill, np.array(shown)) > 0.75


def _agreement(skill: np.ndarray, scores: np.ndarray) -> float:
    """Kendall's tau-b."""
    here, there = (np.sign(np.subtract.outer(values, values)) for values in (skill, scores))
    return float((here * there).sum() / np.sqrt((here**2).sum() * (there**2).sum()))


# --- standings --------------------------------------------------------------------------------------------------


def test_a_steady_board_shows_the_last_clear_improvement_of_each_team(ada: User, bo: User, cy: User) -> None:
    pets = steady(ada)
    enter(pets, bo)
    enter(pets, cy)
    hand_in(pets, bo, file_with(12))  # 0.7
    hand_in(pets, cy, file_with(7))  # 0.825 → 0.8
    hand_in(pets, bo, file_with(8))  # 0.8, no more than 0.1 better
    assert board_of(pets) == [(1, "cy", 0.8), (2, "bo", 0.7)]
    hand_in(pets, bo, file_with(6))  # 0.85 → 0.8, received after Cy's
    assert board_of(pets) == [(1, "cy", 0.8), (1, "bo", 0.8)], "equal shown scores share a rank"
    hand_in(pets, bo, file_with(3))  # 0.925 → 0.9
    assert board_of(pets) == [(1, "bo", 0.9), (2, "cy", 0.8)]
    assert standings.standing_differences(ground_truth_of(pets)) == []


@pytest.mark.parametrize("mode", ["plain", "steady", "hidden"])
def test_the_order_of_scoring_does_not_matter(ada: User, bo: User, cy: User, mode: str) -> None:
    """Eight files, scored in two different orders: the same standings, and those of a rebuild."""
    pets = steady(ada, board_mode=mode, daily_attempts=20)
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
            score_module.score_submission(pk)
            assert standings.standing_differences(ground_truth_of(pets)) == []
        found.append(sorted(Standing.objects.values_list("team", "submission", "value", "received_at")))
    assert found[0] == found[1]
    assert len(found[0]) == 2


def test_a_hidden_board_holds_no_score_at_all(ada: User, bo: User, cy: User) -> None:
    pets = steady(ada, board_mode="hidden", board_step=None)
    enter(pets, bo)
    enter(pets, cy)
    hand_in(pets, cy, file_with(20))
    hand_in(pets, bo, file_with(2))
    hand_in(pets, cy, file_with(0))
    assert board_of(pets) == [(None, "cy", None), (None, "bo", None)]
    assert not any(value or key for value, key in Standing.objects.values_list("value", "sort_key"))
    assert team_ranks.placing_of(bo.memberships.get().team, ground_truth_of(pets), Split.PUBLIC) is None


@pytest.mark.parametrize("mode", ["steady", "hidden"])
def test_after_the_reveal_everything_is_exact(ada: User, bo: User, mode: str) -> None:
    pets = steady(ada, board_mode=mode)
    enter(pets, bo)
    hand_in(pets, bo, file_with(9, private=5))
    hand_in(pets, bo, file_with(8, private=5))
    close(pets)
    assert board_of(pets) == [(1, "bo", 0.7)] if mode == "steady" else [(None, "bo", None)]
    boards.reveal_competition(competition=pets)
    assert board_of(pets) == [(1, "bo", 0.775)]  # of the two, the earlier one: both score 0.75 on the private rows
    assert standings.standing_differences(ground_truth_of(pets)) == []


def test_ada_changes_the_board_and_the_standings_follow(ada: User, bo: User) -> None:
    pets = steady(ada, board_mode="plain")
    enter(pets, bo)
    hand_in(pets, bo, file_with(9))
    hand_in(pets, bo, file_with(8))
    seen = [board_of(pets)]
    for fields in ({"board_mode": "steady"}, {"board_step": 0.02}, {"board_mode": "hidden"}, {"board_mode": "plain"}):
        version = pets.board_version
        competitions.change_competition(competition=pets, **fields)
        seen.append(board_of(pets))
        assert standings.standing_differences(ground_truth_of(pets)) == []
        assert pets.board_version > version
    assert seen == [[(1, "bo", 0.8)], [(1, "bo", 0.7)], [(1, "bo", 0.8)], [(None, "bo", None)], [(1, "bo", 0.8)]]


def test_late_files_never_climb(ada: User, bo: User) -> None:
    pets = steady(ada, allows_late=True, reveals_itself=False)
    enter(pets, bo)
    hand_in(pets, bo, file_with(12))
    close(pets)
    late = hand_in(pets, bo, file_with(0))
    assert late.is_late
    assert board_of(pets) == [(1, "bo", 0.7)]
    shown = ladder_module.shown_scores(bo.memberships.get().team, ground_truth_of(pets))
    assert shown is not None
    assert str(late.pk) not in shown


def test_automatic_picks_are_made_by_exact_scores(ada: User, bo: User) -> None:
    """The second file is better by less than the step, so nobody saw it; at the reveal it is picked all the same."""
    pets = steady(ada, final_count=1)
    enter(pets, bo)
    hand_in(pets, bo, file_with(9, private=1))
    better = hand_in(pets, bo, file_with(8, private=4))
    close(pets)
    boards.reveal_competition(competition=pets)
    assert [row.submission_id for row in boards_module.ranked_lines(pets, Split.PRIVATE)] == [str(better.pk)]


def test_movement_compares_what_was_shown(ada: User, bo: User, cy: User) -> None:
    """Before midnight Bo was shown 0.7 and Cy 0.8, though 0.725 and 0.8 are less than a step apart."""
    pets = steady(ada)
    enter(pets, bo)
    enter(pets, cy)
    for user, wrong in ((bo, 11), (cy, 8)):
        file = hand_in(pets, user, file_with(wrong))
        Submission.objects.filter(pk=file.pk).update(received_at=file.received_at - timedelta(days=2))
    file = hand_in(pets, bo, file_with(1))
    standings.rebuild_standings(ground_truth_of(pets))
    board = boards_module.board_page(pets, Split.PUBLIC, at=file.received_at)
    assert [(row.name, row.movement, row.trend) for row in board.rows] == [("bo", 1, (0.7, 0.9)), ("cy", -1, (0.8,))]


# --- the step ---------------------------------------------------------------------------------------------------


def test_a_ground_truth_proposes_a_step_of_one_digit(ada: User, bo: User) -> None:
    pets = steady(ada, board_step=None)
    step = ground_truth_of(pets).step
    assert step is not None
    assert step == float(f"{step:.0e}")
    enter(pets, bo)
    hand_in(pets, bo, file_with(10))
    error = Uncertainty.objects.get(score__split="public").standard_error
    assert error is not None
    assert 1 < step / error < 4
    assert ladder_module.step_of(pets, ground_truth_of(pets)) == step


def test_a_steady_board_without_a_step_shows_nothing_rather_than_too_much(ada: User, bo: User) -> None:
    pets = steady(ada, board_step=None)
    GroundTruth.objects.update(step=None)
    pets.refresh_from_db()
    enter(pets, bo)
    hand_in(pets, bo, file_with(3))
    assert board_of(pets) == [(None, "bo", None)]
    with pytest.raises(ValidationError, match="We can't derive a rounding step from these answers"):
        competitions.change_competition(competition=pets, title="Dogs or cats")


def test_a_steady_competition_is_not_launched_without_a_step(ada: User) -> None:
    pets = steady(ada, launched=False, board_step=None)
    GroundTruth.objects.update(step=None)
    pets = Competition.objects.get(pk=pets.pk)
    with pytest.raises(competitions.CannotHost) as refused:
        launches.launch_competition(competition=pets)
    (missing,) = refused.value.details
    assert missing == "Missing: Rounding step is set."
    competitions.change_competition(competition=pets, board_step=0.05)
    launches.launch_competition(competition=Competition.objects.get(pk=pets.pk))


@pytest.mark.parametrize("fields", [{"mode": "shy"}, {"step": 0.0}, {"step": -1.0}])
def test_boards_are_plain_steady_or_hidden_and_steps_positive(ada: User, fields: dict[str, Any]) -> None:
    pets = make_competition(ada)
    with pytest.raises(ValidationError):
        competitions.change_competition(competition=pets, **{f"board_{name}": value for name, value in fields.items()})
    with pytest.raises(IntegrityError), transaction.atomic():
        BoardSettings.objects.filter(pk=pets.pk).update(**fields)


# --- other ways in and out --------------------------------------------------------------------------------------


def test_a_board_travels_in_the_folder(ada: User, tmp_path: Any) -> None:
    pets = steady(ada)
    folders.export_folder(pets, tmp_path / "pets")
    text = (tmp_path / "pets" / "competition.toml").read_text()
    assert 'board_mode = "steady"\nboard_step = 0.1\n' in text
    competitions.delete_competition(competition=pets)
    again = folders.import_folder(tmp_path / "pets", user=ada)
    assert (again.board.mode, again.board.step) == ("steady", 0.1)


def test_a_folder_without_a_word_about_the_board_makes_a_plain_one(ada: User, tmp_path: Any) -> None:
    pets = make_competition(ada)
    folders.export_folder(pets, tmp_path / "pets")
    text = (tmp_path / "pets" / "competition.toml").read_text()
    assert "board_step" not in text
    (tmp_path / "pets" / "competition.toml").write_text(text.replace('board_mode = "plain"\n', ""))
    competitions.delete_competition(competition=pets)
    assert folders.import_folder(tmp_path / "pets", user=ada).board.mode == "plain"


def test_ada_downloads_exact_scores_whatever_her_students_see(ada: User, bo: User) -> None:
    pets = steady(ada, board_mode="hidden")
    enter(pets, bo)
    hand_in(pets, bo, file_with(9))
    hand_in(pets, bo, file_with(8))
    pets.refresh_from_db()
    assert boards.board_csv(pets, Split.PUBLIC, is_exact=True).splitlines()[1].startswith("1,bo,0.8,2,")
    assert boards.board_csv(pets, Split.PUBLIC).splitlines()[1].startswith(",bo,,2,")


def test_a_corrected_truth_is_previewed_exactly_and_climbed_anew(ada: User, bo: User, work: Callable[[], int]) -> None:
    pets = steady(ada)
    enter(pets, bo)
    hand_in(pets, bo, file_with(9))
    hand_in(pets, bo, file_with(8))
    corrected = TRUTH.replace("\n0,dog", "\n0,bird")  # a row that both files call bird
    truth_drafts.draft_truth(
        competition=pets, metric="accuracy", params={}, file_name="truth.csv", chunks=[corrected.encode()]
    )
    publishing.publish_draft(competition=pets, user=ada)
    work()
    pets.refresh_from_db()
    preview = rescoring.preview_candidate(pets)
    assert preview is not None
    assert [(move.value_now, move.value_then) for move in preview.moves] == [(0.8, 0.825)]
    rescoring.apply_candidate(competition=pets)
    assert board_of(pets) == [(1, "bo", 0.8)]
    assert standings.standing_differences(ground_truth_of(pets)) == []
