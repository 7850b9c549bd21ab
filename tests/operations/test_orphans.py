"""Files without a row: a web server died between the two. They go after a day, and nothing else does."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.common import storage
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, DailyAttempts, Submission
from leaderboard.ground_truths.services import data_files, drafts
from leaderboard.ground_truths.specs import GroundTruthSpec
from leaderboard.operations import backups, consistency, database_dumps
from leaderboard.operations.management.commands import sweep_files
from leaderboard.submissions import scoring_again, submit_conditions, submitting
from tests.conftest import answers, enter, submit

DAY = timedelta(hours=24)


def left_behind(pets: Competition) -> str:
    """What `kill -9` leaves of an upload whose file was stored and whose row was not written."""
    return storage.store_file([answers()], f"submissions/{pets.pk}").key


def files_of_truth(competition: Competition) -> set[str]:
    ground_truth = competition.ground_truths.get()
    return {ground_truth.file_key, ground_truth.sample_key}


def stored() -> set[str]:
    return {key for key, _ in storage.list_stored()}


@pytest.mark.fault(11)
def test_11_after_a_day_it_is_swept_and_the_upload_can_be_repeated(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    orphan = left_behind(pets)
    submission = submitting.submit_file(
        competition=pets, user=bo, file_name="a.csv", chunks=[answers()], upload_key="the same form"
    )
    assert DailyAttempts.objects.get().used == 1
    now = timezone.now()
    assert sweep_files.sweep_files(at=now + DAY - timedelta(minutes=1)) == 0
    assert orphan in stored()
    assert sweep_files.sweep_files(at=now + DAY + timedelta(minutes=1)) == 1
    assert stored() == {submission.file_key, *files_of_truth(pets)}


def test_whatever_belongs_to_something_stays(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
    data_files.add_data_file(competition=pets, file_name="train.csv", chunks=[b"id,x\n100,1\n"])
    drafts.save_draft(competition=pets, spec=GroundTruthSpec(metric="accuracy"))
    boards.add_baseline(competition=pets, user=ada, name="cats", file_name="b.csv", chunks=[answers(public=2)])
    before = stored()
    assert len(before) == 6
    assert sweep_files.sweep_files(at=timezone.now() + 2 * DAY) == 0
    assert stored() == before


def test_unfinished_and_foreign_files(pets: Competition, settings: LazySettings) -> None:
    (Path(settings.FILES_DIR) / "notes.txt").write_text("of the operator")
    unfinished = Path(settings.FILES_DIR) / f"{pets.ground_truths.get().file_key}.0a.partial"
    unfinished.write_text("half")
    assert sweep_files.sweep_files(at=timezone.now() + 2 * DAY) == 1
    assert not unfinished.exists()
    assert "notes.txt" in stored()


def test_with_another_database_nothing_is_removed(pets: Competition, monkeypatch: pytest.MonkeyPatch) -> None:
    orphans = {left_behind(pets) for _ in range(25)}
    with pytest.raises(database_dumps.BackupError, match="25 of 27 stored files have no row"):
        sweep_files.sweep_files(at=timezone.now() + 2 * DAY)
    assert orphans < stored()
    assert sweep_files.sweep_files(at=timezone.now() + 2 * DAY, force=True) == 25


def test_olga_runs_it_by_hand(pets: Competition, monkeypatch: pytest.MonkeyPatch) -> None:
    out = StringIO()
    call_command("sweep_files", stdout=out)
    assert out.getvalue() == "0 files removed.\n"

    def refuse(**_: object) -> int:
        raise database_dumps.BackupError("Nothing was removed.\nGive --force.")

    monkeypatch.setattr(sweep_files, "sweep_files", refuse)
    with pytest.raises(CommandError, match=r"Nothing was removed\.\nGive --force\."):
        call_command("sweep_files")


# --- files of invalid submissions ---------------------------------------------------------------------------------


@pytest.mark.attack("files without end, readable or not, to fill the disk")
def test_the_bytes_of_an_invalid_file_go_after_two_weeks_and_its_page_stays(
    pets: Competition, bo: User, client: Client
) -> None:
    enter(pets, bo)
    scored, invalid = submit(pets, bo, answers()), submit(pets, bo, b"id,label\n1,cat\n")
    now, stay = timezone.now(), scoring_again.INVALID_FILES_STAY
    assert scoring_again.remove_invalid_files(at=now + stay - timedelta(minutes=1)) == 0
    assert scoring_again.remove_invalid_files(at=now + stay + timedelta(minutes=1)) == 1
    assert scoring_again.remove_invalid_files(at=now + stay + timedelta(minutes=1)) == 0
    assert stored() == {scored.file_key, *files_of_truth(pets)}
    client.force_login(bo)
    page = client.get(f"/c/pets/submissions/{invalid.pk}/").content.decode()
    assert '<h2 id="problems-title"' in page
    assert f"/c/pets/submissions/{invalid.pk}/file/" not in page
    assert client.get(f"/c/pets/submissions/{invalid.pk}/file/").status_code == 404


@pytest.mark.django_db(transaction=True)
def test_the_checks_and_a_backup_know_of_removed_files(pets: Competition, bo: User, tmp_path: Path) -> None:
    enter(pets, bo)
    submit(pets, bo, b"id,label\n1,cat\n")
    scoring_again.remove_invalid_files(at=timezone.now() + 2 * scoring_again.INVALID_FILES_STAY)
    assert next(consistency.run_checks(only={1})).holds
    backups.write_backup(tmp_path / "backup")
    # A file that counts and is gone is found, whatever its row says.
    scored = submit(pets, bo, answers())
    Submission.objects.filter(pk=scored.pk).update(file_removed_at=timezone.now())
    assert next(consistency.run_checks(only={1})).broken == 1


def test_what_was_removed_is_not_scored_again(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    submit(pets, bo, b"id,label\n1,cat\n")
    scoring_again.remove_invalid_files(at=timezone.now() + 2 * scoring_again.INVALID_FILES_STAY)
    with pytest.raises(competitions.CannotHost):
        scoring_again.score_again(competition=pets, user=ada, files=Submission.objects.all())


@pytest.mark.attack("files without end, readable or not, to fill the disk")
def test_a_team_that_fills_the_disk_is_refused_in_words_and_small_files_still_pass(
    pets: Competition, bo: User, cy: User, settings: LazySettings
) -> None:
    settings.TEAM_BYTES = 3_000_000
    large = answers() + b"\n" * 1_500_000
    for user in (bo, cy):
        enter(pets, user)
    submitting.submit_file(competition=pets, user=bo, file_name="a.csv", chunks=[large])
    with pytest.raises(submit_conditions.SubmissionRefused, match=r"2\.8 MB") as refused:
        submitting.submit_file(competition=pets, user=bo, file_name="b.csv", chunks=[large])
    assert refused.value.code == "team_bytes"
    assert len(stored()) == 3
    assert submitting.submit_file(competition=pets, user=bo, file_name="c.csv", chunks=[answers()]).size < 1000
    assert submitting.submit_file(competition=pets, user=cy, file_name="a.csv", chunks=[large]).size > 1_000_000
