"""Ada takes all submissions home: whole files, plain names, a manifest that a spreadsheet may open."""

from __future__ import annotations

import csv
import hashlib
import io
import tracemalloc
import zipfile
from pathlib import PurePosixPath
from tempfile import TemporaryFile

from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.classroom.models import RosterEntry
from leaderboard.common.storage import path_of
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, Limits, Submission, Team
from leaderboard.submissions import submissions_zip, submitting
from tests.conftest import answers, enter, submit
from tests.pages import signed_in


def archive_of(client: Client) -> zipfile.ZipFile:
    response = client.post("/host/pets/submissions.zip")
    assert response["Content-Disposition"] == 'attachment; filename="pets-submissions.zip"'
    return zipfile.ZipFile(io.BytesIO(response.getvalue()))


def manifest_of(archive: zipfile.ZipFile) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(archive.read("manifest.csv").decode("utf-8-sig"))))


def test_every_file_is_there_byte_for_byte_with_its_hash_time_and_scores(
    pets: Competition, ada: User, bo: User, cy: User
) -> None:
    enter(pets, bo), enter(pets, cy)
    good = submit(pets, bo, answers(public=1))
    bad = submit(pets, cy, b"id,label\r\n1,cat\n")
    boards.add_baseline(competition=pets, user=ada, name="Guess", file_name="g.csv", chunks=[answers()])
    archive = archive_of(signed_in(ada))
    assert archive.testzip() is None
    first, second = manifest_of(archive)
    assert [first["submission"], second["submission"]] == [str(good.pk), str(bad.pk)]
    for line, data in ((first, answers(public=1)), (second, b"id,label\r\n1,cat\n")):
        assert archive.read(line["path"]) == data
        assert hashlib.sha256(data).hexdigest() == line["sha256"]
    assert (first["public_score"], first["private_score"]) == (repr(5 / 6), "1.0")
    assert (second["public_score"], second["status"], second["problems"]) == ("", "invalid", "missing_ids")
    assert first["received_at"] == good.received_at.isoformat()
    assert len(archive.namelist()) == 3


def test_no_name_leads_out_of_the_archive_or_becomes_a_formula(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    Team.objects.update(name="../../=cmd|' /C calc'!A0")
    for name in ("../../etc/passwd", "..", "C:\\evil.csv", "=1+1.csv", "a\u202etxt.csv", "x" * 190 + ".csv"):
        submission = submitting.submit_file(competition=pets, user=bo, file_name="a.csv", chunks=[answers()])
        Submission.objects.filter(pk=submission.pk).update(file_name=name)
        if Submission.objects.count() == 5:
            Limits.objects.update(daily_attempts=100)
            pets.refresh_from_db()
    archive = archive_of(signed_in(ada))
    names = [name for name in archive.namelist() if name != "manifest.csv"]
    assert len(set(names)) == 6
    for name in names:
        path = PurePosixPath(name)
        assert not path.is_absolute()
        assert len(path.parts) == 2
        assert not {"..", "."} & set(path.parts)
        assert not set("\\:=\u202e'") & set(name)
    for line in manifest_of(archive):
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in line.values())


def test_a_file_that_the_site_lost_is_named_without_a_path(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    lost, stored = submit(pets, bo, answers()), submit(pets, bo, answers(public=1))
    path_of(lost.file_key).unlink()
    lines = {line["submission"]: line["path"] for line in manifest_of(archive_of(signed_in(ada)))}
    assert lines[str(lost.pk)] == ""
    assert lines[str(stored.pk)]


def test_large_files_pass_through_without_being_held(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submission = submit(pets, bo, answers())
    path = path_of(submission.file_key)
    path.chmod(0o600)
    data = hashlib.shake_256(b"x").digest(12_000_000)
    path.write_bytes(data)
    tracemalloc.start()
    with TemporaryFile() as file, zipfile.ZipFile(file, "w") as archive:
        submissions_zip.write_submissions(archive, pets, timezone.now())
        size = file.tell()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size > 12_000_000
    assert peak < 3_000_000


def test_more_files_than_a_batch_come_each_once(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    submission = submit(pets, bo, answers())
    same = [name.name for name in Submission._meta.fields if name.name not in ("id", "upload_key")]
    Submission.objects.bulk_create(
        Submission(**{name: getattr(submission, name) for name in same}, upload_key=str(number))
        for number in range(450)
    )
    lines = manifest_of(archive_of(signed_in(ada)))
    assert len({line["submission"] for line in lines}) == len(lines) == 451


def test_the_manifest_says_who_is_behind_a_file(pets: Competition, ada: User, bo: User, cy: User) -> None:
    enter(pets, bo), enter(pets, cy)
    RosterEntry.objects.create(course=pets.course, user=bo, name="=Berg, Bo", student_id="0042")
    User.objects.filter(pk=cy.pk).update(first_name="Cy", last_name="Clay")
    competitions.change_competition(competition=pets, user=ada, uses_pseudonyms=True)
    submit(pets, bo, answers(public=1), note="bigger forest")
    submit(pets, cy, answers())
    first, second = manifest_of(archive_of(signed_in(ada)))
    assert (first["user"], first["name"], first["student_id"]) == ("bo", "'=Berg, Bo", "0042")
    assert first["note"] == "bigger forest"
    assert first["pseudonym"] == Team.objects.get(name="bo").pseudonym != ""
    assert (second["user"], second["name"], second["student_id"]) == ("cy", "Cy Clay", "")
