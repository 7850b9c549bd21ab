"""Boards by Kaggle's rules: best public score, ties by receipt, finals after the close."""

from __future__ import annotations

import math
import random
import uuid
from collections.abc import Iterable
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import queries as boards
from leaderboard.boards import ranking, reveal, standings
from leaderboard.boards import rows as rows_module
from leaderboard.boards import services as boards_services
from leaderboard.boards.queries import merge_baselines, shared_ranks
from leaderboard.boards.ranking import final_standings, standings_before
from leaderboard.classroom import extensions
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import (
    BoardSettings,
    Competition,
    GroundTruth,
    Score,
    Standing,
    Submission,
    Team,
)
from leaderboard.competitions.models.competition import Split
from leaderboard.submissions import services as submission_services
from leaderboard.submissions import submitting
from tests.conftest import answers, close, enter, submit


def scored(team: Team, public: float, private: float = 0.5, at: datetime | None = None) -> Submission:
    """A scored row without a file, as if measured."""
    ground_truth = team.competition.ground_truth
    submission = Submission.objects.create(
        competition=team.competition,
        team=team,
        file_name="a.csv",
        file_key="none",
        sha256="0" * 64,
        size=1,
        received_at=at or timezone.now(),
        upload_key=str(random.random()),
        status=Submission.Status.SCORED,
        finished_at=timezone.now(),
    )
    assert ground_truth is not None
    Score.objects.create(submission=submission, ground_truth=ground_truth, split=Split.PUBLIC, value=public)
    Score.objects.create(submission=submission, ground_truth=ground_truth, split=Split.PRIVATE, value=private)
    return submission


def teams(competition: Competition, *names: str) -> list[Team]:
    return [Team.objects.create(competition=competition, name=name) for name in names]


def shown(competition: Competition, split: Split = Split.PUBLIC, page: int = 1) -> list[tuple[int | None, str]]:
    competition.refresh_from_db()
    standings.rebuild_standings(GroundTruth.objects.get())
    board = boards.board_page(competition, split, page=page, at=timezone.now())
    return [(row.rank, row.name) for row in board.rows]


def test_the_best_public_score_of_each_team_counts(pets: Competition) -> None:
    one, two = teams(pets, "one", "two")
    for value in (0.5, 0.9, 0.7):
        scored(one, value)
    scored(two, 0.8)
    assert shown(pets) == [(1, "one"), (2, "two")]


def test_equal_scores_go_to_the_earlier_receipt(pets: Competition) -> None:
    now = timezone.now()
    late, early = teams(pets, "late", "early")
    scored(late, 0.5, at=now)
    scored(early, 0.5, at=now - timedelta(seconds=1))
    assert shown(pets) == [(1, "early"), (2, "late")]


def test_equal_score_and_time_share_the_rank(pets: Competition) -> None:
    now = timezone.now()
    for team, value in zip(teams(pets, "a", "b", "c", "d"), (0.9, 0.8, 0.8, 0.7), strict=True):
        scored(team, value, at=now)
    assert shown(pets) == [(1, "a"), (2, "b"), (2, "c"), (4, "d")]


def test_a_difference_in_the_last_digit_decides(pets: Competition) -> None:
    low, high = teams(pets, "low", "high")
    scored(low, 0.3)
    scored(high, math.nextafter(0.3, 1))
    assert shown(pets) == [(1, "high"), (2, "low")]


@pytest.mark.parametrize("seed", range(5))
def test_ranks_equal_counting_who_is_better(pets: Competition, seed: int) -> None:
    """A rank is one more than the number of strictly better teams, whatever the ties, on every page."""
    chance = random.Random(seed)
    now = timezone.now()
    for team in teams(pets, *(f"t{i}" for i in range(130))):
        scored(team, chance.choice([0.1, 0.2, 0.3]), at=now - timedelta(seconds=chance.randrange(3)))
    pages = shown(pets) + shown(pets, page=2)
    places = {
        s.team.name: (s.sort_key, s.received_at)
        for s in boards.standings_in_order(GroundTruth.objects.get(), Split.PUBLIC)
    }
    assert len(pages) == 130
    for rank, name in pages:
        better = sum(1 for place in places.values() if place < places[name])
        assert rank == better + 1


@pytest.mark.parametrize("seed", range(6))
def test_every_page_of_a_board_is_a_part_of_the_whole_one(
    pets: Competition, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Whatever ties go over the edges of pages; after the last page comes the last."""
    chance, now = random.Random(seed), timezone.now()
    for team in teams(pets, *(f"t{i}" for i in range(chance.choice([20, 23, 24, 25])))):
        at = now - timedelta(seconds=chance.randrange(2))
        scored(team, chance.choice([0.1, 0.2, 0.3]), at=at)
    standings.rebuild_standings(GroundTruth.objects.get())
    pets.refresh_from_db()

    def rows(page: int) -> list[tuple[object, ...]]:
        found = boards.board_page(pets, Split.PUBLIC, page=page, at=now).rows
        return [(row.rank, row.name) for row in found]

    whole = rows(1)
    monkeypatch.setattr(boards, "PAGE_SIZE", 4)
    ends = -(-len(whole) // 4)
    assert [row for page in range(1, ends + 1) for row in rows(page)] == whole
    for far in (ends + 1, ends + 2, 1000):
        assert rows(far) == rows(ends)


def test_shared_ranks_continue_a_tie_from_the_page_before() -> None:
    assert shared_ranks([1, 1, 2, 3, 3], above=100, first=99) == [99, 99, 103, 104, 104]


@pytest.mark.parametrize("seed", range(3))
def test_finals_and_best_values_are_what_reading_all_files_gives(pets: Competition, seed: int) -> None:
    """A team's picks, else its best public files; files that tie go by receipt. Other files never come in between."""
    chance, now, ground_truth = random.Random(seed), timezone.now(), GroundTruth.objects.get()
    expected: dict[int, tuple[list[object], bool]] = {}
    best: dict[int, float] = {}
    for number, team in enumerate(teams(pets, "a", "b", "c", "d")):
        files = [
            (-scored(team, value, at=at).scores.get(split=Split.PUBLIC).value, at, chance.random() < 0.3 * (number % 2))
            for value, at in ((chance.choice([0.1, 0.2, 0.3]), now - timedelta(seconds=one)) for one in range(6))
        ]
        for _, at, is_picked in files:
            Submission.objects.filter(team=team, received_at=at).update(is_selected=is_picked)
        picked = sorted(file[:2] for file in files if file[2])
        expected[team.pk] = ([*(picked or sorted(file[:2] for file in files)[:2])], not picked)
        best[team.pk] = -min(file[0] for file in files)
    found = ranking.final_submissions(ground_truth)
    assert {team: [one.order for one in its] for team, its in found.items()} == {k: v[0] for k, v in expected.items()}
    assert {team: its[0].is_picked_by_system for team, its in found.items()} == {k: v[1] for k, v in expected.items()}
    assert {one.team_id: one.value for one in ranking.best_submissions(ground_truth)} == best
    standings.rebuild_standings(ground_truth)
    assert ranking.best_values(ground_truth) == best


def by_team(found: Iterable[Standing]) -> dict[int, tuple[uuid.UUID, tuple[float, datetime]]]:
    return {one.team_id: (one.submission_id, one.order) for one in found}


@pytest.mark.parametrize("seed", range(3))
def test_what_stood_yesterday_and_what_decides_is_what_reading_all_files_gives(pets: Competition, seed: int) -> None:
    """Some teams came further today, some only handed in worse files, some began today, and ties go by receipt."""
    chance, now = random.Random(seed), timezone.now()
    midnight = now - timedelta(hours=1)
    for team in teams(pets, *"abcdefgh"):
        for _ in range(chance.randint(1, 6)):
            at = now - timedelta(minutes=10 * chance.randint(0, 20))
            scored(team, chance.choice([0.1, 0.2, 0.3, 0.35, 0.4]), at=at)
    ground_truth = GroundTruth.objects.get()
    standings.rebuild_standings(ground_truth)
    yesterday = by_team(standings_before(ground_truth, midnight))
    exact = by_team(ranking.best_submissions(ground_truth))
    assert any(received_at >= midnight for _, (_, received_at) in exact.values()), "nobody came further today"
    assert by_team(ranking.best_standings(ground_truth)) == exact
    Submission.objects.filter(received_at__gte=midnight).delete()
    assert yesterday == by_team(ranking.best_submissions(ground_truth))


@pytest.mark.parametrize("hides_scores", [False, True])
def test_hosts_read_the_best_of_each_team_whatever_happens_to_its_files(
    pets: Competition, ada: User, bo: User, cy: User, *, hides_scores: bool
) -> None:
    """What stands next to the board is what all scores say, after each score and each deed of a host."""
    competitions.change_competition(competition=pets, hides_scores=hides_scores, daily_attempts=20)
    dice = random.Random(5)

    def said_to_user() -> dict[int, float]:
        ground_truth = GroundTruth.objects.select_related("competition").get()
        found = ranking.best_values(ground_truth)
        assert found == {best.team_id: best.value for best in ranking.best_submissions(ground_truth)}
        assert standings.standing_differences(ground_truth) == []
        stored, computed = (
            {(split, one.team_id, one.submission_id, one.order, one.is_picked_by_system) for split, one in candidates}
            for candidates in (ranking.deciding_standings(ground_truth), final_standings(ground_truth))
        )
        assert stored == computed
        return found

    for user in (bo, cy):
        enter(pets, user)
        for _ in range(4):
            submit(pets, user, answers(public=dice.randrange(7), private=dice.randrange(7)))
            said_to_user()
    team = bo.memberships.get().team
    before = said_to_user()[team.pk]
    submission_services.hide_submission(submission=_best_file(team), user=ada, reason="Twice")
    submission_services.hide_submission(submission=_best_file(team), user=ada, reason="Twice")
    assert said_to_user()[team.pk] <= before
    extensions.disqualify_team(team=team, user=ada, reason="Shared")
    assert set(said_to_user()) == {cy.memberships.get().team_id}
    extensions.readmit_team(team=team, user=ada)
    close(pets)
    assert len(said_to_user()) == 2
    boards_services.reveal_competition(competition=pets)
    assert len(said_to_user()) == 2


def _best_file(team: Team) -> Submission:
    best = Score.objects.filter(submission__team=team, submission__hidden_at=None, split=Split.PUBLIC)
    return best.order_by("-value")[0].submission


def test_late_files_never_rank(pets: Competition) -> None:
    (team,) = teams(pets, "one")
    submission = scored(team, 0.9)
    Submission.objects.filter(pk=submission.pk).update(is_late=True)
    assert shown(pets) == []


def test_a_lower_value_leads_where_lower_is_better(ada: User) -> None:
    from tests.conftest import make_competition

    truth = "id,y,Usage\n" + "".join(f"{i},{i},{'Public' if i % 2 else 'Private'}\n" for i in range(8))
    lengths = make_competition(ada, slug="lengths", metric="rmse", truth=truth)
    one, two = teams(lengths, "far", "near")
    scored(one, 3.0)
    scored(two, 1.0)
    assert shown(lengths) == [(1, "near"), (2, "far")]


def test_movement_is_since_yesterday(pets: Competition) -> None:
    now = timezone.now()
    a, b = teams(pets, "a", "b")
    scored(a, 0.5, at=now - timedelta(days=2))
    scored(b, 0.4, at=now - timedelta(days=2))
    scored(b, 0.6, at=now)
    assert shown(pets) == [(1, "b"), (2, "a")]
    rows = boards.board_page(pets, Split.PUBLIC, at=now).rows
    assert {row.name: row.movement for row in rows} == {"b": 1, "a": -1}


def test_baselines_stand_among_the_teams_unranked(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    from leaderboard.submissions import score as score_module

    baseline = boards_services.add_baseline(
        competition=pets, user=ada, name="Guess", file_name="b.csv", chunks=[answers(public=3)]
    )
    score_module.score_one(baseline.pk)
    submit(pets, bo, answers())
    assert shown(pets) == [(1, "bo"), (None, "Guess")]


def test_merging_puts_each_baseline_on_exactly_one_page() -> None:
    now = timezone.now()

    def row(name: str, value: float, *, rank: int | None) -> rows_module.BoardRowData:
        return rows_module.BoardRowData(rank, name, 1, value, None, "", now, is_baseline=rank is None)

    ranked = [row(f"t{i}", 10 - i, rank=i + 1) for i in range(6)]
    between = [row(f"at {value}", value, rank=None) for value in (9, 8.5, 8, 7.5, 7, 6.5, 5)]
    references = [row("best", 99, rank=None), *between, row("worst", 0, rank=None)]
    first = merge_baselines(ranked[:3], references, -1, previous=None, is_last=False)
    last = merge_baselines(ranked[3:], references, -1, previous=-8, is_last=True)
    assert sorted(r.name for r in first + last if r.is_baseline) == sorted(r.name for r in references)
    assert [r.name for r in first] == ["best", "t0", "t1", "at 9", "at 8.5", "t2"]
    assert [r.name for r in last][:3] == ["at 8", "at 7.5", "t3"]


class TestAfterTheClose:
    def reveal(self, competition: Competition) -> None:
        close(competition)
        boards_services.reveal_competition(competition=competition)

    def test_the_best_private_final_decides_on_both_boards(self, pets: Competition, bo: User) -> None:
        enter(pets, bo)
        lucky = submit(pets, bo, answers(public=0, private=4))
        solid = submit(pets, bo, answers(public=1, private=0))
        self.reveal(pets)
        for split in Split:
            row = boards.board_page(pets, split, at=timezone.now()).rows[0]
            assert row.submission_id == str(solid.pk) != str(lucky.pk)
            assert row.is_picked_by_system

    def test_selected_finals_bind(self, pets: Competition, bo: User) -> None:
        enter(pets, bo)
        chosen = submit(pets, bo, answers(public=2, private=2))
        submit(pets, bo, answers())
        submission_services.select_finals(competition=pets, user=bo, submission_ids=[str(chosen.pk)], at=timezone.now())
        self.reveal(pets)
        row = boards.board_page(pets, Split.PRIVATE, at=timezone.now()).rows[0]
        assert row.submission_id == str(chosen.pk)
        assert not row.is_picked_by_system

    def test_only_the_best_public_ones_are_taken_for_who_picked_nothing(self, pets: Competition, bo: User) -> None:
        enter(pets, bo)
        for wrong in (1, 2):
            submit(pets, bo, answers(public=wrong, private=3))
        submit(pets, bo, answers(public=3, private=0))
        self.reveal(pets)
        assert boards.board_page(pets, Split.PRIVATE, at=timezone.now()).rows[0].value == 3 / 6

    def test_the_private_board_opens_by_itself_once_all_files_have_scores(self, pets: Competition, bo: User) -> None:
        enter(pets, bo)
        waiting = submitting.submit_file(competition=pets, user=bo, file_name="a.csv", chunks=[answers()])
        close(pets)
        assert reveal.reveal_due_competitions(timezone.now()) == []
        from leaderboard.submissions import score as score_module

        score_module.score_one(waiting.pk)
        assert reveal.reveal_due_competitions(timezone.now()) == [pets]
        assert reveal.reveal_due_competitions(timezone.now()) == []

    def test_it_stays_shut_where_ada_opens_it_herself(self, pets: Competition) -> None:
        BoardSettings.objects.filter(pk=pets.pk).update(reveals_itself=False)
        close(pets)
        assert reveal.reveal_due_competitions(timezone.now()) == []

    def test_nobody_reveals_before_the_deadline(self, pets: Competition) -> None:
        with pytest.raises(competitions.CannotHost, match="deadline"):
            boards_services.reveal_competition(competition=pets)
        assert reveal.reveal_due_competitions(timezone.now()) == []

    def test_the_private_door(self, pets: Competition, ada: User, bo: User, dee: User, olga: User) -> None:
        enter(pets, bo)
        now = timezone.now()
        assert [pets.private_is_visible_to(user, now) for user in (ada, olga, bo, dee)] == [
            True,
            True,
            False,
            False,
        ]
        self.reveal(pets)
        pets.refresh_from_db()
        assert all(pets.private_is_visible_to(user, timezone.now()) for user in (ada, bo, dee))
        assert not pets.private_is_visible_to(bo, now)
