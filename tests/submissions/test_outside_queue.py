"""Files are scored under a candidate while the board stays as it is."""

from __future__ import annotations

import errno
from collections.abc import Callable

import pytest
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import queries as boards
from leaderboard.boards import standings
from leaderboard.common.storage import StorageUnreachable
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import (
    CandidateProblem,
    Competition,
    GroundTruth,
    Score,
    Submission,
)
from leaderboard.competitions.models.competition import Split
from leaderboard.ground_truths.queries import preview_candidate
from leaderboard.ground_truths.services import publishing, rescoring
from leaderboard.scoring.scorer_answer import ScorerAnswer
from leaderboard.submissions import outcomes, outside_queue
from leaderboard.submissions import score as score_module
from tests.conftest import TRUTH, answers, enter, save_truth, submit
from tests.submissions.test_scoring import waiting_file


class TestRescoring:
    """Ada corrects the truth: everything is measured again while the board stays as it is."""

    CORRECTED = TRUTH.replace("1,cat,Public", "1,bird,Public", 1)

    @pytest.fixture
    def two_files(self, pets: Competition, bo: User, cy: User) -> tuple[Submission, Submission]:
        enter(pets, bo), enter(pets, cy)
        return submit(pets, bo, answers()), submit(pets, cy, answers(public=1))

    def correct(self, competition: Competition, user: User, truth: str = CORRECTED) -> GroundTruth:
        save_truth(competition, truth)
        return publishing.publish_draft(competition=competition, user=user)

    def board(self, competition: Competition) -> list[tuple[int | None, str]]:
        competition.refresh_from_db()
        return [(r.rank, r.name) for r in boards.board_page(competition, Split.PUBLIC, at=timezone.now()).rows]

    def test_what_a_machine_lacks_for_a_while_refuses_no_file(
        self,
        pets: Competition,
        ada: User,
        two_files: tuple[Submission, Submission],
        work: Callable[[], int],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        candidate = self.correct(pets, ada)

        def lacking(*_: object, **__: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr("leaderboard.submissions.outcomes.path_of", lacking)
            with pytest.raises(StorageUnreachable):
                outside_queue.rescore_batch(candidate.pk)
        work()
        assert not CandidateProblem.objects.exists()
        assert Score.objects.filter(ground_truth=candidate).count() == 4

    @pytest.mark.fault(36)
    def test_the_board_stays_until_she_applies(
        self, pets: Competition, ada: User, two_files: object, work: Callable[[], int]
    ) -> None:
        self.correct(pets, ada)
        assert self.board(pets) == [(1, "bo"), (2, "cy")]
        with pytest.raises(competitions.CannotHost, match="still being scored"):
            rescoring.apply_candidate(competition=pets)
        work()
        assert self.board(pets) == [(1, "bo"), (2, "cy")]
        preview = preview_candidate(pets)
        assert preview is not None
        assert preview.is_complete
        assert [(m.team.name, m.rank_now, m.rank_then) for m in preview.moves] == [("cy", 2, 1), ("bo", 1, 2)]
        rescoring.apply_candidate(competition=pets)
        assert self.board(pets) == [(1, "cy"), (2, "bo")]
        assert pets.ground_truth is not None
        assert pets.ground_truth.number == 2
        assert standings.standing_differences(pets.ground_truth) == []

    def test_discarding_changes_nothing(
        self, pets: Competition, ada: User, two_files: object, work: Callable[[], int]
    ) -> None:
        self.correct(pets, ada)
        work()
        rescoring.discard_candidate(competition=pets)
        assert self.board(pets) == [(1, "bo"), (2, "cy")]
        assert self.correct(pets, ada).number == 3

    def test_earlier_scores_and_receipts_are_never_edited(
        self, pets: Competition, ada: User, two_files: tuple[Submission, Submission], work: Callable[[], int]
    ) -> None:
        before = list(Score.objects.order_by("pk").values_list("pk", "value"))
        receipts = list(Submission.objects.order_by("pk").values_list("pk", "received_at"))
        self.correct(pets, ada)
        work()
        work()
        rescoring.apply_candidate(competition=pets)
        assert list(Score.objects.order_by("pk").values_list("pk", "value"))[: len(before)] == before
        assert Score.objects.count() == 2 * len(before)
        assert list(Submission.objects.order_by("pk").values_list("pk", "received_at")) == receipts

    def test_a_file_the_new_ground_truth_cannot_read_is_shown_to_ada(
        self, pets: Competition, ada: User, two_files: object, work: Callable[[], int]
    ) -> None:
        self.correct(pets, ada, self.CORRECTED + "13,cat,Public\n")
        work()
        preview = preview_candidate(pets)
        assert preview is not None
        assert len(preview.refusals) == 2
        assert CandidateProblem.objects.count() == 2
        assert Submission.objects.filter(status="scored").count() == 2

    @pytest.mark.fault(36)
    def test_a_file_measured_while_the_ground_truth_changed_is_measured_again(
        self, pets: Competition, ada: User, cy: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        submission = waiting_file(pets, cy)
        measure = outcomes.compute_outcome

        def meanwhile(*arguments: object) -> ScorerAnswer:
            monkeypatch.setattr(score_module, "compute_outcome", measure)
            self.correct(pets, ada)
            rescoring.apply_candidate(competition=pets)
            return measure(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(score_module, "compute_outcome", meanwhile)
        assert score_module.score_one(submission.pk) == "stale"
        assert score_module.score_one(submission.pk) == "scored"
        assert set(Score.objects.values_list("ground_truth__number", flat=True)) == {2}
