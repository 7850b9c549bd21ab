"""Backups: what is written, what is refused, what comes back. The drill under load is in tests/flows."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.db import connection
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import reveal
from leaderboard.boards import services as boards
from leaderboard.common.models import AuditEntry
from leaderboard.common.storage import path_of
from leaderboard.competitions.models import Baseline, Competition, DataFile, GroundTruth, Submission, TruthDraft
from leaderboard.ground_truths.services import data_files, drafts
from leaderboard.ground_truths.specs import GroundTruthSpec
from leaderboard.operations import backups, database_dumps
from tests.conftest import answers, close, enter, make_competition, submit

ROOT = Path(__file__).resolve().parent.parent.parent
REAL = pytest.mark.django_db(transaction=True)  # a snapshot is taken outside of any transaction


@pytest.fixture(autouse=True)
def own_var(settings: LazySettings, tmp_path: Path) -> Path:
    settings.VAR_DIR = tmp_path / "var"
    settings.FILES_DIR = tmp_path / "var" / "files"
    settings.VAR_DIR.mkdir()
    return tmp_path / "var"


@pytest.fixture
def folder(own_var: Path, tmp_path: Path) -> Path:
    """A backup as small as one can be; its database is no database, which nobody reads before it is in place."""
    folder = tmp_path / "backup"
    (folder / "files").mkdir(parents=True)
    parts = {"database.sqlite3": b"rows", "files/abc": b"id,label\n"}
    for name, data in parts.items():
        (folder / name).write_bytes(data)
    manifest = backups.Manifest(
        vendor=connection.vendor,
        database="database.sqlite3",
        version="0.1.0",
        made_at="2026-01-01T00:00:00+00:00",
        migrations=["competitions.0001_initial"],
        rows={},
        parts={name: (_sha256(folder / name), len(data)) for name, data in parts.items()},
    )
    manifest.write(folder)
    return folder


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def changed(folder: Path, **values: object) -> None:
    """Write other facts into a backup's manifest."""
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda folder: (folder / "manifest.json").unlink(), "never finished"),
        (lambda folder: (folder / "manifest.json").write_text("{"), "is damaged"),
        (lambda folder: (folder / "manifest.json").write_text('{"format": 1}'), "is damaged"),
        (lambda folder: (folder / "files" / "abc").write_bytes(b"id,label!"), "files/abc of the backup is damaged"),
        (lambda folder: (folder / "files" / "abc").write_bytes(b""), "files/abc of the backup is damaged"),
        (lambda folder: (folder / "files" / "abc").unlink(), "not complete"),
        (
            lambda folder: (folder / "database.sqlite3").write_bytes(b"row5"),
            "database.sqlite3 of the backup is damaged",
        ),
        (lambda folder: (folder / "database.sqlite3").unlink(), "not complete"),
        (lambda folder: changed(folder, format=2), "another version"),
        (lambda folder: changed(folder, vendor="oracle"), "backup of a oracle database"),
        (lambda folder: changed(folder, migrations=["competitions.9999_later"]), "newer version"),
        (lambda folder: changed(folder, database="other.sqlite3"), "names no database"),
        (lambda folder: changed(folder, parts={"../../outside": ["0" * 64, 1]}), "is outside of the backup"),
        (lambda folder: changed(folder, parts={"/etc/passwd": ["0" * 64, 1]}), "is outside of the backup"),
    ],
)
def test_a_damaged_backup_is_refused_before_anything_changes(
    db: None, folder: Path, own_var: Path, harm: Callable[[Path], object], words: str
) -> None:
    harm(folder)
    before = tree(own_var)
    with pytest.raises(database_dumps.BackupError) as refusal:
        backups.restore_backup(folder, force=True)
    assert words in str(refusal.value)
    assert tree(own_var) == before


def test_a_folder_that_is_not_there_is_no_backup(db: None, tmp_path: Path) -> None:
    with pytest.raises(database_dumps.BackupError, match="it is no backup"):
        backups.restore_backup(tmp_path / "nowhere")


def test_a_site_that_is_not_empty_is_not_overwritten_by_accident(db: None, folder: Path, own_var: Path) -> None:
    (own_var / "files").mkdir()
    (own_var / "files" / "somebodys").write_bytes(b"work")
    with pytest.raises(database_dumps.BackupError, match="not empty"):
        backups.restore_backup(folder)
    assert tree(own_var) == {"files/somebodys": b"work"}


@REAL
def test_a_backup_holds_every_file_that_a_row_speaks_of_and_no_other(
    pets: Competition, ada: User, bo: User, own_var: Path, tmp_path: Path
) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
    data_files.add_data_file(competition=pets, file_name="x.csv", chunks=[b"id,x\n1,2\n"])
    drafts.save_draft(competition=pets, spec=GroundTruthSpec(metric="accuracy"))
    (own_var / "files" / "orphan").write_bytes(b"of an upload that never got its row")
    (own_var / "secret_key").write_text("hush")
    manifest = backups.write_backup(tmp_path / "backup")
    written = tree(tmp_path / "backup")
    files = {name for name in written if name.startswith("files/")}
    named = [
        model.objects.values_list("file_key", flat=True) for model in (Submission, GroundTruth, DataFile, TruthDraft)
    ]
    assert files == {f"files/{key}" for keys in named for key in keys}
    assert len(files) == 4
    assert written.keys() == manifest.parts.keys() | {"manifest.json"}
    assert written["secret_key"] == b"hush"
    assert manifest.rows == {"competitions": 1, "people": 2, "teams": 1, "submissions": 1}
    assert manifest.lost == []
    for path in (tmp_path / "backup", *(p for p in (tmp_path / "backup").rglob("*") if p.is_file())):
        assert not path.stat().st_mode & 0o077


@REAL
def test_a_baseline_replaced_meanwhile_does_not_leave_a_hole(
    pets: Competition, ada: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its row is in the first snapshot and its file is gone when the files are copied: a newer snapshot is taken."""
    boards.add_baseline(competition=pets, user=ada, name="Guess", file_name="b.csv", chunks=[answers()])
    copy_new = backups._copy_new
    rounds: list[int] = []

    def replaced_in_the_first_round(*arguments: object) -> set[str]:
        if not rounds:
            boards.add_baseline(
                competition=pets, user=ada, name="Guess", file_name="b2.csv", chunks=[answers(public=1)]
            )
        rounds.append(1)
        return copy_new(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(backups, "_copy_new", replaced_in_the_first_round)
    manifest = backups.write_backup(tmp_path / "backup")
    assert len(rounds) == 2
    assert manifest.lost == []
    key = Submission.objects.get(baseline=Baseline.objects.get()).file_key
    assert (tmp_path / "backup" / "files" / key).read_bytes() == answers(public=1)
    assert len([name for name in manifest.parts if name.startswith("files/submissions/")]) == 1


@REAL
def test_files_that_the_site_lost_are_named_and_the_rest_is_saved(
    pets: Competition, bo: User, cy: User, tmp_path: Path
) -> None:
    for user in (bo, cy):
        enter(pets, user)
    lost, changed_on_disk = submit(pets, bo, answers()), submit(pets, cy, answers(public=1))
    path_of(lost.file_key).unlink()
    path_of(changed_on_disk.file_key).write_bytes(b"something else")
    manifest = backups.write_backup(tmp_path / "backup")
    assert manifest.lost == sorted([lost.file_key, changed_on_disk.file_key])
    assert any(name.startswith("files/truths/") for name in manifest.parts)


@REAL
def test_custom_metric_files_go_along(pets: Competition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = tmp_path / "outside"
    (outside / ".inspected").mkdir(parents=True)
    (outside / "pinball.py").write_text("x")
    (outside / ".inspected" / "pinball-1.json").write_text("{}")
    (outside / "packages" / "lifelines").mkdir(parents=True)
    (outside / "packages" / "lifelines" / "__init__.py").write_text("# can be installed again")
    monkeypatch.setenv("METRICS_DIR", str(outside))
    manifest = backups.write_backup(tmp_path / "backup")
    found = {name for name in manifest.parts if name.startswith("metrics/")}
    assert found == {"metrics/pinball.py", "metrics/.inspected/pinball-1.json"}


@REAL
def test_a_backup_goes_into_a_folder_of_its_own(pets: Competition, own_var: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("years")
    for place in (tmp_path / "full", tmp_path / "full" / "thesis.txt", own_var / "files" / "backup"):
        with pytest.raises(database_dumps.BackupError):
            backups.write_backup(place)
    assert tree(tmp_path / "full") == {"thesis.txt": b"years"}


@REAL
def test_a_backup_that_fails_leaves_nothing_that_looks_like_one(
    pets: Competition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backups, "copy_stream", full)
    with pytest.raises(database_dumps.BackupError, match="No space left"):
        backups.write_backup(tmp_path / "backup")
    assert tree(tmp_path / "backup") == {}


def test_time_that_was_given_after_the_backup_is_not_forgotten_by_an_open_board(ada: User) -> None:
    """The restored site knows neither the later deadline nor the extension, so it asks its host."""
    past, later = make_competition(ada, slug="past"), make_competition(ada, slug="later")
    by_hand = make_competition(ada, slug="by-hand", reveals_itself=False)
    close(past)
    close(by_hand)
    assert backups.hold_private_boards() == ["past"]
    assert reveal.reveal_due_competitions(timezone.now()) == []
    assert AuditEntry.objects.filter(competition=past.pk, about="restored from a backup").count() == 1
    later.refresh_from_db()
    assert later.board.reveals_itself
    assert backups.hold_private_boards() == []


# --- whole sites, each in a folder of its own -------------------------------------------------------------------

FILL = """
from django.core.management import call_command
from django.utils import timezone
from tests.conftest import answers, enter, submit, make_competition, person
from leaderboard.boards import services as boards
from leaderboard.submissions import score as scoring
call_command("migrate", verbosity=0)
ada, bo, cy = person("ada", can_host=True), person("bo"), person("cy")
pets = make_competition(ada, daily_attempts=50)
for user in (bo, cy):
    enter(pets, user)
for wrong in range(3):
    submit(pets, bo, answers(public=wrong)), submit(pets, cy, answers(private=wrong))
submit(pets, cy, b"nonsense")
type(pets).objects.update(closes_at=timezone.now())
guess = dict(competition=pets, user=ada, name="Guess", file_name="b", chunks=[answers()])
scoring.score_one(boards.add_baseline(**guess).pk)
call_command("backup", FOLDER)
"""
# A site with something in it stays as it is, unless its operator insists; then it is moved aside.
RESTORE = """
from django.core.management import CommandError, call_command
from leaderboard.competitions.models import Competition
call_command("restore", FOLDER)
look()
Competition.objects.update(title="Later")
try:
    call_command("restore", FOLDER)
except CommandError as error:
    print("refused:", error)
print("now:", Competition.objects.get())
call_command("restore", FOLDER, force=True)
look()
"""
LOOK = """
def look():
    from leaderboard.boards import board_table
    from leaderboard.competitions.models import Competition, Score
    pets = Competition.objects.get()
    print("----")
    print(board_table.board_csv(pets, "public"), board_table.board_csv(pets, "private"))
    print(sorted((str(s.submission_id), s.split, s.value.hex(), s.metric_version) for s in Score.objects.all()))
    print("----")
"""


def site(var: Path, folder: Path, code: str) -> str:
    """Run code in a process of its own with the site in `var`; gives what it prints."""
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    environment |= {"VAR_DIR": str(var), "DJANGO_SETTINGS_MODULE": "leaderboard.settings"}
    code = f"import django; django.setup()\nFOLDER = {str(folder)!r}\n{LOOK}\n{code}"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_wiped_site_comes_back_to_the_byte(tmp_path: Path) -> None:
    var, other, folder = tmp_path / "one", tmp_path / "other", tmp_path / "backup"
    filled = site(var, folder, FILL + "look()")
    assert "8 submissions" in filled
    before = filled.split("----")[1]
    assert "bo" in before
    output, first, meanwhile, second, _ = site(other, folder, RESTORE).split("----")
    assert "Every part has the hash of the manifest" in output
    assert "Restored and checked" in output
    assert "pets: its deadline has passed, so its private board stays closed until a host opens it." in output
    assert first == second == before
    assert "refused: This site is not empty" in meanwhile
    assert "now: Later" in meanwhile
    assert "lies in" in meanwhile
    stored = tree(other / "files")
    assert {name: data for name, data in tree(var / "files").items() if name in stored} == stored
    (secondary_metric,) = other.glob("before-restore-*")
    assert {path.name for path in secondary_metric.iterdir()} >= {"leaderboard.sqlite3", "files", "secret_key"}
