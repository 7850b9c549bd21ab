"""Ada drafts and publishes ground truths: what is refused, and what becomes of the files."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest
from django.conf import LazySettings
from django.utils import timezone

import metrics
from leaderboard.accounts.models import User
from leaderboard.boards import queries as boards_module
from leaderboard.boards import standings
from leaderboard.common.storage import path_of
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, Score, TruthDraft
from leaderboard.competitions.models.competition import Split
from leaderboard.ground_truths.queries import preview_candidate
from leaderboard.ground_truths.services import drafts, publishing, rescoring
from leaderboard.ground_truths.specs import GroundTruthSpec
from leaderboard.scoring import table_jobs
from leaderboard.submissions import outside_queue, score, submitting
from tests.conftest import TRUTH, answers, enter, make_competition, save_truth, submit
from tests.pages import signed_in

BARE = TRUTH.replace(",Public", "").replace(",Private", "").replace(",Usage", "")


def publish_again(competition: Competition, user: User, truth: str) -> None:
    save_truth(competition, truth)
    publishing.publish_draft(competition=competition, user=user)


def files_in(settings: LazySettings) -> list[Path]:
    return [path for path in Path(settings.FILES_DIR).rglob("*") if path.is_file()]


def test_a_board_never_mixes_two_ground_truths(pets: Competition, ada: User, bo: User, cy: User) -> None:
    enter(pets, bo)
    enter(pets, cy)
    submit(pets, bo, answers(public=1))
    publish_again(pets, ada, TRUTH.replace("1,cat,Public\n2", "1,bird,Public\n2"))
    submit(pets, cy, answers(public=2))  # measured while ground truth 2 waits

    def ground_truths_on_the_board() -> set[int]:
        rows = boards_module.board_page(pets, Split.PUBLIC, at=timezone.now()).rows
        shown, values = [UUID(row.submission_id) for row in rows], {row.value for row in rows}
        scores = Score.objects.filter(submission__in=shown, split=Split.PUBLIC, ground_truth=pets.ground_truth)
        assert set(scores.values_list("value", flat=True)) == values
        return set(scores.values_list("ground_truth__number", flat=True))

    assert ground_truths_on_the_board() == {1}
    with pytest.raises(competitions.CannotHost, match="still being scored"):
        rescoring.apply_candidate(competition=pets)
    assert ground_truths_on_the_board() == {1}
    assert pets.candidate is not None
    outside_queue.rescore_batch(pets.candidate.pk)
    rescoring.apply_candidate(competition=pets)
    assert ground_truths_on_the_board() == {2}
    assert pets.ground_truth is not None
    assert standings.standing_differences(pets.ground_truth) == []


def test_files_that_wait_get_the_new_ground_truth(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    waiting = submitting.submit_file(competition=pets, user=bo, file_name="a.csv", chunks=[answers()], note="")
    publish_again(pets, ada, TRUTH.replace("1,cat,Public\n2", "1,bird,Public\n2"))
    rescoring.apply_candidate(competition=pets)
    assert score.score_one(waiting.pk) == "scored"
    assert set(Score.objects.values_list("ground_truth__number", flat=True)) == {2}


def test_an_invalid_file_stays_invalid_and_the_preview_counts_it(pets: Competition, ada: User, bo: User) -> None:
    """Under the new ground truth it would be valid; scored now it would be a file without an attempt."""
    enter(pets, bo)
    early = submit(pets, bo, answers() + b"99,cat\n")
    assert early.status == "invalid"
    publish_again(pets, ada, TRUTH + "99,cat,Public\n")
    assert pets.candidate is not None
    outside_queue.rescore_batch(pets.candidate.pk)
    preview = preview_candidate(pets)
    assert preview is not None
    assert (preview.is_complete, preview.invalid, preview.scored) == (True, 1, 0)
    client = signed_in(ada)
    page = client.get("/host/pets/truth/").content.decode()
    assert "1 submission was invalid and stays so" in page
    rescoring.apply_candidate(competition=pets)
    early.refresh_from_db()
    assert early.status == "invalid"
    assert submit(pets, bo, answers() + b"99,cat\n").status == "scored"


def test_before_the_launch_a_ground_truth_is_current_at_once(ada: User) -> None:
    competition = make_competition(ada, launched=False)
    publish_again(competition, ada, TRUTH)
    assert competition.candidate is None
    assert competition.ground_truth is not None
    assert competition.ground_truth.number == 2


def test_a_draft_takes_the_file_of_the_last_ground_truth_when_none_is_given(pets: Competition, ada: User) -> None:
    draft = drafts.save_draft(competition=pets, spec=GroundTruthSpec(metric="multilabel_f1"))
    assert draft.report["ok"]
    publishing.publish_draft(competition=pets, user=ada)
    assert pets.candidate is not None
    assert pets.ground_truth is not None
    assert pets.candidate.sha256 == pets.ground_truth.sha256
    assert pets.candidate.file_key != pets.ground_truth.file_key


def test_a_draft_without_any_file_is_refused(ada: User, pets: Competition) -> None:
    bare = competitions.create_competition(
        user=ada, slug="bare", title="Bare", opens_at=pets.opens_at, closes_at=pets.closes_at
    )
    with pytest.raises(competitions.CannotHost, match="Choose"):
        drafts.save_draft(competition=bare, spec=GroundTruthSpec(metric="accuracy"))


@pytest.mark.parametrize("trouble", [table_jobs.JobFailed("killed"), MemoryError()])
def test_a_check_that_breaks_changes_nothing(
    pets: Competition, monkeypatch: pytest.MonkeyPatch, settings: LazySettings, trouble: BaseException
) -> None:
    save_truth(pets, TRUTH, file_name="a.csv")
    before = files_in(settings)

    def broken(*_: object, **__: object) -> None:
        raise trouble

    monkeypatch.setattr(table_jobs, "run_page_job", broken)
    with pytest.raises(type(trouble)):
        drafts.save_draft(
            competition=pets, spec=GroundTruthSpec(metric="accuracy", file_name="b.csv", chunks=[b"id,y\n"])
        )
    assert TruthDraft.objects.get().file_name == "a.csv"
    assert files_in(settings) == before


def test_wrong_parameters_are_refused_before_anything_is_stored(pets: Competition, settings: LazySettings) -> None:
    before = files_in(settings)
    with pytest.raises(metrics.ParameterError):
        save_truth(pets, TRUTH, metric="fbeta", params={"beta": -1}, file_name="a.csv")
    assert files_in(settings) == before


@pytest.mark.parametrize("header", ["{long},label", "row,label,{long}"], ids=["of ids", "of groups"])
def test_a_column_with_a_name_too_long_to_be_kept_is_refused_in_words(
    ada: User, settings: LazySettings, header: str
) -> None:
    competition = make_competition(ada, launched=False)
    files = sorted(settings.FILES_DIR.rglob("*.*"))
    long = "a whole sentence " * 20
    cells = ["{i},{label}", "{i},{label},{who}"]["row" in header]
    lines = [cells.format(i=i, label="cat" if i % 3 else "dog", who=i % 4) for i in range(1, 41)]
    with pytest.raises(competitions.CannotHost, match="has 339 characters; the limit is 200"):
        save_truth(
            competition,
            "\n".join([header.format(long=long.strip()), *lines]),
            group_column=long if "row" in header else "",
        )
    assert sorted(settings.FILES_DIR.rglob("*.*")) == files


def test_drafts_leave_one_file_and_their_publication_none_but_the_answers_and_the_sample(
    pets: Competition, ada: User, settings: LazySettings
) -> None:
    before = len(files_in(settings))
    for _ in range(3):
        save_truth(pets, BARE, file_name="a.csv")
    assert len(files_in(settings)) == before + 1
    publishing.publish_draft(competition=pets, user=ada)
    assert len(files_in(settings)) == before + 2
    save_truth(pets, BARE, file_name="a.csv")
    with pytest.raises(competitions.CannotHost, match="Apply or discard"):
        publishing.publish_draft(competition=pets, user=ada)
    drafts.discard_draft(competition=pets)
    assert len(files_in(settings)) == before + 2


def test_the_systems_split_depends_on_secret_seed_and_ids_alone(ada: User) -> None:
    """The secret stays with its competition, so Ada gets the same rows again."""
    backwards = "id,label\n" + "".join(f"{line}\n" for line in reversed(BARE.splitlines()[1:]))
    competition = make_competition(ada, launched=False)

    def public_ids(truth: str, seed: int) -> set[str]:
        save_truth(competition, truth, public_share=0.5, seed=seed)
        ground_truth = publishing.publish_draft(competition=competition, user=ada)
        lines = path_of(ground_truth.file_key).read_text().splitlines()
        return {line.split(",")[0] for line in lines if line.endswith(",Public")}

    assert public_ids(BARE, 1) == public_ids(backwards, 1)
    # Of so few rows two seeds draw the same ones now and then.
    assert any(public_ids(BARE, seed) != public_ids(BARE, 1) for seed in (2, 3, 4, 5))


def test_a_corrected_file_without_a_split_keeps_the_split_of_the_launched_competition(
    pets: Competition, ada: User
) -> None:
    publish_again(pets, ada, BARE.replace("1,cat", "1,bird", 1) + "99,cat\n")
    assert pets.candidate is not None
    stored = path_of(pets.candidate.file_key).read_text().splitlines()
    corrected = TRUTH.replace("1,cat", "1,bird", 1).splitlines()
    assert stored[: len(corrected)] == corrected
    assert stored[-1] in ("99,cat,Public", "99,cat,Private")


def test_a_correction_with_other_ids_says_what_becomes_of_the_files(pets: Competition) -> None:
    """As a spreadsheet makes them, which eats zeros."""

    def other_ids(text: str) -> list[str]:
        draft = save_truth(pets, text)
        assert draft.report["ok"]
        return [one["message"] for one in draft.report["findings"] if one["code"] == "other_ids"]

    assert other_ids(BARE.replace("1,cat", "1,bird", 1)) == []
    changed = "".join(f"{line}\n" if line[0] == "i" else f"0{line}\n" for line in BARE.splitlines())
    assert other_ids(changed) == ["The ids differ from the current answers: 12 new, 12 removed."]
