"""Data files: locked until the rules are accepted and the competition is open."""

from __future__ import annotations

import io
import zipfile
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.classroom import joining
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition
from leaderboard.ground_truths.services import data_files
from tests.conftest import enter, make_competition


@pytest.fixture
def with_files(ada: User) -> Competition:
    pets = make_competition(ada, is_listed=True)
    rows = b"id,weight\n" + b"".join(b"%d,canary%d\n" % (i, i) for i in range(1, 13))
    data_files.add_data_file(competition=pets, file_name="train.csv", chunks=[rows], description="What to learn from.")
    return pets


def body(client: Client, address: str) -> bytes:
    response = client.get(address)
    return b"".join(response) if response.streaming else response.content


def test_a_member_who_accepted_sees_and_downloads(client: Client, with_files: Competition, bo: User) -> None:
    enter(with_files, bo)
    client.force_login(bo)
    text = body(client, "/c/pets/data/").decode()
    assert "train.csv" in text
    assert "canary5" in text
    assert "canary6" not in text
    file = with_files.data_files.get()
    assert file.rows == 12
    assert file.sha256 in text
    response = client.get("/c/pets/data/files/train.csv")
    assert response["Content-Disposition"] == 'attachment; filename="train.csv"'
    assert response["X-Content-Type-Options"] == "nosniff"
    assert b"canary12" in b"".join(response)
    sample = client.get("/c/pets/data/sample_submission.csv")
    assert sample.content.startswith(b"id,label")
    assert "attachment" in sample["Content-Disposition"]


def test_the_rows_of_a_file_are_counted_below_its_title(with_files: Competition) -> None:
    rows = b"".join(b"%d;%d,5\r\n" % (number, number) for number in range(1, 13))
    data = b"\xef\xbb\xbfsep=;\r\nPets of spring\r\n\r\nid;House  weight\r\n" + rows
    added = data_files.add_data_file(competition=with_files, file_name="test.csv", chunks=[data])
    assert added.rows == 12
    assert added.head[:2] == [["id", "House weight"], ["1", "1,5"]]
    western = "id;Höhe\r\n".encode("cp1252") + rows * 99
    added = data_files.add_data_file(competition=with_files, file_name="test.csv", chunks=[western])
    assert (added.rows, added.head[0]) == (12 * 99, ["id", "Höhe"])
    western = "id;Höhe\r\n1;1,5\r\n".encode("cp1252")
    added = data_files.add_data_file(competition=with_files, file_name="test.csv", chunks=[western])
    assert (added.rows, added.head[0]) == (1, ["id", "Höhe"])
    empty = data_files.add_data_file(competition=with_files, file_name="none.csv", chunks=[b"\n"])
    assert empty.rows is None


def test_all_files_come_in_one_zip_with_the_sample(client: Client, with_files: Competition, bo: User) -> None:
    enter(with_files, bo)
    client.force_login(bo)
    assert 'href="/c/pets/data.zip"' in client.get("/c/pets/data/").content.decode()
    archive = zipfile.ZipFile(io.BytesIO(body(client, "/c/pets/data.zip")))
    assert sorted(archive.namelist()) == ["sample_submission.csv", "train.csv"]
    assert {entry.date_time[0] for entry in archive.infolist()} == {1980}, "the same files are the same bytes"
    for name in archive.namelist():
        alone = f"/c/pets/data/{name}" if name.startswith("sample") else f"/c/pets/data/files/{name}"
        assert archive.read(name) == body(client, alone)


def test_nobody_else_gets_a_byte(client: Client, with_files: Competition, bo: User, dee: User) -> None:
    joining.enter_competition(user=bo, competition=with_files)
    for person, words in ((None, "Join to download"), (dee, "Join to download"), (bo, "Accept the rules first")):
        if person:
            client.force_login(person)
        assert words in body(client, "/c/pets/data/").decode()
        for address in ("", "files/train.csv", "sample_submission.csv"):
            assert b"canary" not in body(client, f"/c/pets/data/{address}")
        assert client.get("/c/pets/data/files/train.csv").status_code == 302
        assert client.get("/c/pets/data.zip").status_code == 302


def test_before_it_opens_the_data_stay_closed(client: Client, with_files: Competition, bo: User) -> None:
    enter(with_files, bo)
    Competition.objects.update(opens_at=timezone.now() + timedelta(hours=1))
    client.force_login(bo)
    assert "The data opens with the competition" in body(client, "/c/pets/data/").decode()
    assert client.get("/c/pets/data/files/train.csv").status_code == 302


def test_changed_rules_lock_the_data_again(client: Client, with_files: Competition, bo: User) -> None:
    enter(with_files, bo)
    competitions.change_competition(competition=with_files, rules="New ones.")
    client.force_login(bo)
    assert "The rules have changed" in body(client, "/c/pets/data/").decode()


def test_names_lead_to_no_other_file(client: Client, with_files: Competition, bo: User) -> None:
    enter(with_files, bo)
    client.force_login(bo)
    key = with_files.ground_truth.file_key if with_files.ground_truth else ""
    for name in ("truth.csv", "..%2Ftruth.csv", "%2e%2e/secret_key", key.replace("/", "%2F")):
        assert client.get(f"/c/pets/data/files/{name}").status_code == 404
