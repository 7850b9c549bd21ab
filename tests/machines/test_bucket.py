"""Files in an S3-compatible bucket: nothing is lost, nothing is half, and what is wrong for a moment is tried again."""

from __future__ import annotations

import os
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, ReadTimeoutError
from botocore.response import StreamingBody
from django.conf import LazySettings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from moto import mock_aws
from storages.backends.s3 import S3Storage

from leaderboard.accounts import personal_data
from leaderboard.accounts.models import ApiToken, User
from leaderboard.common import storage
from leaderboard.common.storage import bucket as bucket_module
from leaderboard.common.storage.bucket import BadStorageAddress, storage_at
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, DailyAttempts, Submission
from leaderboard.ground_truths.services import data_files, folders, publishing
from leaderboard.operations import consistency
from leaderboard.submissions import outcomes, score, submitting
from tests.conftest import answers, broken_promises, enter, make_competition, submit
from tests.mail_servers import silent_server

NAME = "class-files"
ADDRESS = f"s3://key:secret@s3.amazonaws.com/{NAME}/term"


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[Any, Any]]:
    """A bucket in this process, and a client that speaks to it as the site would: making one takes a second."""
    with mock_aws():
        bucket = boto3.resource("s3", region_name="us-east-1").create_bucket(Bucket=NAME)
        yield bucket, S3Storage(**storage_at(ADDRESS)["OPTIONS"]).connection.meta.client


@pytest.fixture
def objects(
    server: tuple[Any, Any], settings: LazySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Any]:
    """A site that keeps its files in a bucket; the bucket itself for who looks."""
    bucket, client = server
    monkeypatch.setattr(bucket_module, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(bucket_module, "_bucket_client", lambda: client)
    settings.STORAGE_URL = ADDRESS
    settings.STORAGES = {**settings.STORAGES, "default": storage_at(ADDRESS)}
    settings.CACHE_DIR, settings.CACHE_BYTES = tmp_path / "cache", 10_000_000
    yield bucket
    bucket.objects.all().delete()


def keys(objects: Any) -> list[str]:
    return [one.key for one in objects.objects.all()]


def forget(settings: LazySettings) -> None:
    """As another machine, which has no copies."""
    settings.CACHE_DIR = settings.CACHE_DIR.with_name(f"{settings.CACHE_DIR.name}-elsewhere")


def badly(monkeypatch: pytest.MonkeyPatch, times: int, wrong: Callable[[dict[str, Any]], dict[str, Any]]) -> list[int]:
    """Let the first answers to GET be `wrong`; the list grows by one for each."""
    client, asked = bucket_module._bucket_client(), []
    whole = client.get_object

    def get_object(**named: str) -> dict[str, Any]:
        asked.append(1)
        answer: dict[str, Any] = whole(**named)
        return wrong(answer) if len(asked) <= times else answer

    monkeypatch.setattr(client, "get_object", get_object)
    return asked


# --- one file ---------------------------------------------------------------------------------------------------


def test_a_file_lies_in_the_bucket_under_its_folder_and_closed(objects: Any) -> None:
    stored = storage.store_file([b"id,", b"label\n"], "submissions/1")
    (key,) = keys(objects)
    assert key == f"term/{stored.key}"
    assert objects.Object(key).get()["Body"].read() == b"id,label\n"
    everybody = [grant for grant in objects.Object(key).Acl().grants if "AllUsers" in str(grant)]
    assert everybody == []


def test_a_file_that_is_too_large_or_breaks_off_leaves_nothing(objects: Any, settings: LazySettings) -> None:
    def broken() -> Iterator[bytes]:
        yield b"id,label\n"
        raise ConnectionResetError

    with pytest.raises(storage.TooLarge):
        storage.store_file([b"x" * 11], "submissions/1", limit=10)
    with pytest.raises(ConnectionResetError):
        storage.store_file(broken(), "submissions/1")
    assert keys(objects) == []
    assert [path for path in settings.CACHE_DIR.rglob("*") if path.is_file()] == []


def test_another_machine_fetches_it_once_and_compares_it(
    objects: Any, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = storage.store_file([b"id,label\n"], "submissions/1")
    forget(settings)
    asked = badly(monkeypatch, 0, dict)
    for _ in range(3):
        assert storage.path_of(stored.key, stored.sha256).read_bytes() == b"id,label\n"
    assert len(asked) == 1


def test_a_copy_that_rotted_is_fetched_again(objects: Any) -> None:
    stored = storage.store_file([b"id,label\n"], "submissions/1")
    storage.path_of(stored.key).write_bytes(b"rot")
    assert storage.path_of(stored.key, stored.sha256).read_bytes() == b"id,label\n"


def test_what_the_bucket_does_not_have_is_not_found(objects: Any) -> None:
    with pytest.raises(FileNotFoundError):
        storage.path_of("submissions/1/nothing")
    with pytest.raises(FileNotFoundError), storage.open_stored("submissions/1/nothing"):
        pass
    storage.remove_file("submissions/1/nothing")


def test_a_file_that_cannot_be_removed_now_is_no_trouble(objects: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = storage.store_file([b"id,label\n"], "checks")
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(bucket_module._bucket_client(), "delete_object", lambda **_: broken({}))
        storage.remove_file(stored.key)
    assert keys(objects) == [f"term/{stored.key}"]
    storage.remove_file(stored.key)
    assert keys(objects) == []


def test_reading_very_many_leaves_nothing_on_this_machine(objects: Any, settings: LazySettings) -> None:
    stored = storage.store_file([b"id,label\n"], "submissions/1")
    forget(settings)
    with storage.open_stored(stored.key, stored.sha256) as file:
        assert file.read() == b"id,label\n"
    assert [path for path in settings.CACHE_DIR.rglob("*") if path.is_file()] == []


def test_copies_used_longest_ago_make_room_and_those_in_use_stay(
    objects: Any, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CACHE_BYTES = 2500
    monkeypatch.setitem(bucket_module._added, "bytes", 0.0)
    old = [storage.store_file([b"x" * 1000], "submissions/1") for _ in range(2)]
    died = settings.CACHE_DIR / "submissions/1/a.partial"
    for age, path in ((4000, storage.path_of(old[0].key)), (3000, storage.path_of(old[1].key)), (90_000, died)):
        path.touch()
        os.utime(path, (time.time() - age,) * 2)
    new = storage.store_file([b"y" * 1000], "submissions/1")
    left = {path.name for path in settings.CACHE_DIR.rglob("*") if path.is_file()}
    assert left == {old[1].key.rsplit("/")[-1], new.key.rsplit("/")[-1]}
    assert storage.path_of(old[0].key, old[0].sha256).read_bytes() == b"x" * 1000


# --- fault 22 ---------------------------------------------------------------------------------------------------


def half(answer: dict[str, Any]) -> dict[str, Any]:
    """A body that ends early although the connection ends well, as behind a proxy that gave up."""
    body = answer["Body"].read()[:4]
    return {**answer, "Body": StreamingBody(BytesIO(body), len(body))}


def slow(answer: dict[str, Any]) -> dict[str, Any]:
    raise ReadTimeoutError(endpoint_url="https://s3")


def broken(answer: dict[str, Any]) -> dict[str, Any]:
    raise ClientError({"Error": {"Code": "500"}}, "GetObject")


@pytest.mark.parametrize("wrong", [half, slow, broken])
@pytest.mark.fault(22)
def test_22_a_storage_that_answers_badly_twice_is_asked_again(
    objects: Any, settings: LazySettings, monkeypatch: pytest.MonkeyPatch, wrong: Callable[[dict[str, Any]], Any]
) -> None:
    stored = storage.store_file([b"id,label\n"], "submissions/1")
    forget(settings)
    asked = badly(monkeypatch, 2, wrong)
    assert storage.path_of(stored.key).read_bytes() == b"id,label\n"
    assert len(asked) == 3


@pytest.mark.parametrize("wrong", [half, slow, broken])
@pytest.mark.fault(22)
def test_22_a_storage_that_goes_on_like_that_is_out_of_reach_and_no_half_file_stays(
    objects: Any, settings: LazySettings, monkeypatch: pytest.MonkeyPatch, wrong: Callable[[dict[str, Any]], Any]
) -> None:
    stored = storage.store_file([b"id,label\n"], "submissions/1")
    forget(settings)
    badly(monkeypatch, 99, wrong)
    with pytest.raises(storage.StorageUnreachable):
        storage.path_of(stored.key, stored.sha256)
    assert [path for path in settings.CACHE_DIR.rglob("*") if path.is_file()] == []


@pytest.mark.fault(22)
def test_22_a_file_waits_while_the_storage_is_out_of_reach_and_no_try_is_counted(
    objects: Any, settings: LazySettings, pets: Competition, bo: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(pets, bo)
    submission = submitting.submit_file(competition=pets, user=bo, file_name="a.csv", chunks=[answers()])
    forget(settings)
    with monkeypatch.context() as meanwhile:
        badly(meanwhile, 99, broken)
        assert score.score_one(submission.pk) == "waiting"
    submission.refresh_from_db()
    assert (submission.status, submission.tries, submission.claim) == ("pending", 0, None)
    assert score.score_one(submission.pk) == "scored"


# --- a bucket that says nothing ---------------------------------------------------------------------------------


@contextmanager
def site_with_bucket_at(port: int, settings: LazySettings, tmp_path: Path) -> Iterator[None]:
    settings.STORAGE_URL, settings.CACHE_DIR = f"s3://key:secret@127.0.0.1:{port}/{NAME}?tls=off", tmp_path / "cache"
    settings.STORAGES = {**settings.STORAGES, "default": storage_at(settings.STORAGE_URL)}
    yield
    bucket_module._clients.clear()


@pytest.mark.parametrize("is_hurried", [True, pytest.param(False, marks=[pytest.mark.slow, pytest.mark.takes(40)])])
@pytest.mark.fault(22)
def test_22_an_upload_to_a_silent_bucket_is_refused_in_time_and_nothing_is_taken(
    pets: Competition,
    bo: User,
    settings: LazySettings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_hurried: bool,
) -> None:
    enter(pets, bo)
    if is_hurried:
        monkeypatch.setattr(bucket_module, "ANSWER_SECONDS", 0.1)
        monkeypatch.setattr(bucket_module, "TRIES", 1)
    token = ApiToken.issue(bo, "test")[1]
    with silent_server() as port, site_with_bucket_at(port, settings, tmp_path):
        for path, headers in (
            ("/c/pets/submit/", {}),
            ("/api/v1/competitions/pets/submissions", {"authorization": f"Bearer {token}"}),
        ):
            client = Client(headers=headers)
            if not headers:
                client.force_login(bo)
            begun = time.monotonic()
            answer = client.post(path, {"file": SimpleUploadedFile("a.csv", answers())})
            assert time.monotonic() - begun < storage.MAX_STORE_SECONDS
            assert answer.status_code == 503
            assert "Nothing was saved and no attempt was used. Try again in a minute." in answer.content.decode()
    assert not Submission.objects.exists()
    assert not DailyAttempts.objects.filter(used__gt=0).exists()
    assert [path for path in settings.CACHE_DIR.rglob("*") if path.is_file()] == []


@pytest.mark.fault(22)
def test_22_all_tries_together_end_in_time() -> None:
    """As the limits of a connection are added up by botocore, with its pause of at most a second."""
    assert (
        bucket_module.CONNECT_SECONDS + bucket_module.ANSWER_SECONDS
    ) * bucket_module.TRIES + 1 < storage.MAX_STORE_SECONDS


@pytest.mark.fault(22)
def test_22_a_bucket_that_takes_a_file_too_slowly_is_left(objects: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "MAX_STORE_SECONDS", 0.0)
    with pytest.raises(storage.StorageUnreachable):
        storage.store_file([b"id,label\n"], "submissions/1")
    assert keys(objects) == []


@pytest.mark.fault(22)
def test_22_a_silent_bucket_is_asked_for_a_file_once(
    objects: Any, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = storage.store_file([b"id,label\n"], "submissions/1")
    forget(settings)
    monkeypatch.setattr(bucket_module, "FETCH_AGAIN_WITHIN_SECONDS", -1.0)
    asked = badly(monkeypatch, 1, slow)
    with pytest.raises(storage.StorageUnreachable):
        storage.path_of(stored.key)
    assert len(asked) == 1


@pytest.mark.fault(21)
def test_21_an_object_that_is_gone_is_called_damaged(
    objects: Any, settings: LazySettings, pets: Competition, bo: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(pets, bo)
    submission = submitting.submit_file(competition=pets, user=bo, file_name="a.csv", chunks=[answers()])
    forget(settings)
    objects.Object(f"term/{submission.file_key}").delete()
    assert score.score_one(submission.pk) == "failed"
    submission.refresh_from_db()
    assert submission.failure == outcomes.DAMAGED_FILE_TEXT
    assert DailyAttempts.objects.get().used == 0


@pytest.mark.fault(21)
def test_21_an_object_that_somebody_exchanged_is_called_damaged_and_not_waited_for(
    objects: Any, settings: LazySettings, pets: Competition, bo: User
) -> None:
    enter(pets, bo)
    submission = submitting.submit_file(competition=pets, user=bo, file_name="a.csv", chunks=[answers()])
    forget(settings)
    objects.Object(f"term/{submission.file_key}").put(Body=answers(public=1))
    assert score.score_one(submission.pk) == "failed"
    submission.refresh_from_db()
    assert submission.failure == outcomes.DAMAGED_FILE_TEXT
    (result,) = consistency.run_checks(seed=1, only={1})
    assert "its receipt says" in result.examples[0]


def test_a_storage_out_of_reach_takes_no_upload_and_uses_no_attempt(
    objects: Any, client: Client, pets: Competition, bo: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(pets, bo)
    monkeypatch.setattr(bucket_module._bucket_client(), "put_object", lambda **_: broken({}))
    with pytest.raises(storage.StorageUnreachable):
        submitting.submit_file(competition=pets, user=bo, file_name="a.csv", chunks=[answers()])
    assert not Submission.objects.exists()
    assert not storage.can_write()


# --- a whole competition ----------------------------------------------------------------------------------------


def test_a_competition_lives_in_a_bucket(
    objects: Any, settings: LazySettings, client: Client, ada: User, bo: User, tmp_path: Path
) -> None:
    """Truth, data, submissions, baselines and samples; each step on a machine that has no copies."""
    pets = make_competition(ada)
    enter(pets, bo)
    forget(settings)
    data_files.add_data_file(competition=pets, file_name="train.csv", chunks=[b"id,x\n100,1\n"])
    forget(settings)
    submission = submit(pets, bo, answers(public=1))
    assert submission.status == "scored"
    forget(settings)
    client.force_login(bo)
    data_file = pets.data_files.get()
    for address in (f"/c/pets/data/files/{data_file.name}", f"/c/pets/submissions/{submission.pk}/file/"):
        answer = client.get(address)
        assert answer.status_code == 200, address
        assert answer.getvalue()
    for _ in range(2):  # made once, then stored
        assert publishing.sample_submission_of(pets.ground_truths.get()).startswith(b"id,label")
        forget(settings)
    folders.export_folder(pets, tmp_path / "exported")
    with zipfile.ZipFile(tmp_path / "mine.zip", "w") as archive:
        personal_data.export_account(archive, account=bo, at=submission.received_at)
    assert storage.can_write()
    forget(settings)
    assert broken_promises() == []
    assert not Path(settings.FILES_DIR).exists()
    competitions.delete_competition(competition=pets, user=ada)
    assert keys(objects) == []


# --- the address ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://host/bucket", "has the form"),
        ("s3://key:secret@host", "has the form"),
        ("s3://key:secret@host/bucket?colour=red", "not colour"),
        ("s3://key:secret@host/bucket?tls=perhaps", "tls is on or off"),
    ],
)
def test_an_address_that_means_nothing_is_refused_and_its_secret_not_repeated(url: str, words: str) -> None:
    with pytest.raises(BadStorageAddress, match=words) as refusal:
        storage_at(url)
    assert "secret@" not in str(refusal.value)


def test_an_address_says_where_and_who() -> None:
    found = storage_at("s3://a%2Fb:c%40d@minio.example.org:9000/files/class/2026?region=eu-west-1&ca=/etc/ca.pem")
    wanted = {
        "bucket_name": "files",
        "location": "class/2026",
        "endpoint_url": "https://minio.example.org:9000",
        "region_name": "eu-west-1",
        "access_key": "a/b",
        "secret_key": "c@d",
        "verify": "/etc/ca.pem",
    }
    assert {name: found["OPTIONS"][name] for name in wanted} == wanted
    assert storage_at("s3://host/files?tls=off")["OPTIONS"]["endpoint_url"] == "http://host"
    assert storage_at("s3://host/files")["OPTIONS"]["access_key"] is None
