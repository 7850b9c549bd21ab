"""What a host changes about a competition, and what is refused."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import LazySettings
from django.core.exceptions import ValidationError
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import queries as boards_module
from leaderboard.boards import services as boards
from leaderboard.boards import standings
from leaderboard.common.storage import TooLarge
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, Course, GroundTruth, Submission
from leaderboard.competitions.models.competition import Split
from leaderboard.ground_truths.services import data_files, drafts
from leaderboard.ground_truths.specs import GroundTruthSpec
from tests.conftest import TRUTH, answers, close, enter, make_competition, save_truth, submit
from tests.ground_truths.test_publishing import files_in, publish_again


def test_removing_a_competition_removes_its_files(
    pets: Competition, ada: User, bo: User, settings: LazySettings
) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
    boards.add_baseline(competition=pets, user=ada, name="G", file_name="g.csv", chunks=[answers()])
    data_files.add_data_file(competition=pets, file_name="a.csv", chunks=[b"id,x\n1,2\n"])
    publish_again(pets, ada, TRUTH + "99,cat,Public\n")
    save_truth(pets, TRUTH)
    competitions.delete_competition(competition=pets)
    assert files_in(settings) == []
    assert not Submission.objects.exists()


def test_a_file_over_the_limit_leaves_nothing(pets: Competition, ada: User, settings: LazySettings) -> None:
    before = files_in(settings)
    settings.MAX_UPLOAD_BYTES = 5
    with pytest.raises(TooLarge):
        data_files.add_data_file(competition=pets, file_name="a.csv", chunks=[b"123456"])
    with pytest.raises(TooLarge):
        boards.add_baseline(competition=pets, user=ada, name="G", file_name="g.csv", chunks=[b"123456"])
    with pytest.raises(TooLarge):
        drafts.save_draft(
            competition=pets, spec=GroundTruthSpec(metric="accuracy", file_name="t.csv", chunks=[b"123456"])
        )
    assert files_in(settings) == before


def test_a_draft_is_not_revealed(ada: User) -> None:
    competition = make_competition(ada, launched=False)
    close(competition)
    with pytest.raises(competitions.CannotHost, match="The competition hasn't launched"):
        boards.reveal_competition(competition=competition)


def test_another_number_of_finals_after_the_reveal_is_on_the_board_at_once(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submit(pets, bo, answers(private=3))
    submit(pets, bo, answers(public=1))
    close(pets)
    boards.reveal_competition(competition=pets)
    competitions.change_competition(competition=pets, final_count=1)
    pets.refresh_from_db()
    assert pets.ground_truth is not None
    assert standings.standing_differences(pets.ground_truth) == []
    assert [row.value for row in boards_module.ranked_lines(pets, Split.PRIVATE)] == [0.5]


def test_the_deadline_stays_in_the_past_after_the_reveal(pets: Competition) -> None:
    close(pets)
    boards.reveal_competition(competition=pets)
    with pytest.raises(ValidationError, match="so accept late submissions or give points"):
        competitions.change_competition(competition=pets, closes_at=timezone.now() + timedelta(days=1))


def test_the_address_new_is_reserved(ada: User, pets: Competition) -> None:
    with pytest.raises(ValidationError, match="Another page"):
        competitions.create_competition(
            user=ada, slug="new", title="N", opens_at=pets.opens_at, closes_at=pets.closes_at
        )
    with pytest.raises(ValidationError, match="Another page"):
        competitions.change_competition(competition=pets, slug="new")


def test_a_host_changes_only_what_hosts_change(pets: Competition) -> None:
    with pytest.raises(TypeError, match="revealed_at"):
        competitions.change_competition(competition=pets, revealed_at=timezone.now())


def test_a_file_counts_when_the_deadline_moves_behind_it(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    competitions.change_competition(competition=pets, allows_late=True)
    close(pets)
    late = submit(Competition.objects.get(), bo, answers())

    def lateness_and_rows() -> tuple[bool, int]:
        ground_truth = GroundTruth.objects.get()
        return Submission.objects.get().is_late, boards_module.standings_in_order(ground_truth, Split.PUBLIC).count()

    assert lateness_and_rows() == (True, 0)
    competitions.change_competition(competition=pets, closes_at=timezone.now() + timedelta(hours=1))
    assert lateness_and_rows() == (False, 1)
    competitions.change_competition(competition=pets, closes_at=late.received_at)
    assert lateness_and_rows() == (True, 0)


def test_a_course_ends_with_its_last_competition(ada: User) -> None:
    first = make_competition(ada, course="STAT 451")
    second = make_competition(ada, slug="birds", title="Birds", course=first.course)
    other = make_competition(ada, slug="fish", title="Fish", course="STAT 451")
    assert other.course.slug != first.course.slug
    competitions.delete_competition(competition=first, user=ada)
    assert Course.objects.filter(pk=second.course_id).exists()
    competitions.delete_competition(competition=second, user=ada)
    assert list(Course.objects.all()) == [other.course]


def test_a_new_title_of_a_course_is_that_of_all_its_competitions(ada: User) -> None:
    first = make_competition(ada, course="STAT 451")
    second = make_competition(ada, slug="birds", title="Birds", course=first.course)
    competitions.change_competition(competition=first, user=ada, course="STAT 452")
    version = second.board_version
    second.refresh_from_db()
    assert second.course.title == "STAT 452"
    assert second.board_version > version
    with pytest.raises(ValidationError, match="at most 120"):
        competitions.change_competition(competition=first, user=ada, course="x" * 121)
