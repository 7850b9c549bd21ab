"""Numbers 102 to 108: what a file is called never matters to the disk, a header or a page."""

from __future__ import annotations

import io
import stat
import zipfile
from pathlib import Path

import pytest
from django.conf import LazySettings

from leaderboard.accounts.models import User
from leaderboard.common.storage import path_of
from leaderboard.competitions.models import Competition, Limits
from leaderboard.submissions import score
from tests.conftest import answers, enter
from tests.inputs.doors import DOORS, Api, Door, Form, another, attempts_used, body_of, part, stored_files


@pytest.fixture(autouse=True)
def many_attempts(pets: Competition) -> None:
    Limits.objects.update(daily_attempts=100)


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest, pets: Competition, bo: User) -> Door:
    enter(pets, bo)
    return DOORS[request.param](bo)


NAMES = {
    "102 a path": ('; filename="../../etc/passwd"', "passwd"),
    "102 a path in percent": ("; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd", "passwd"),
    "102 dots": ('; filename="..."', "..."),
    "103 a drive": ('; filename="C:\\\\x\\\\mine.csv"', "mine.csv"),
    "103 a server": ('; filename="\\\\\\\\server\\\\share\\\\mine.csv"', "mine.csv"),
    "104 NUL": ("; filename*=UTF-8''mi%00ne.csv", "mine.csv"),
    "104 a new line": ("; filename*=UTF-8''mi%0D%0ASet-Cookie:%20a=b.csv", "miSet-Cookie: a=b.csv"),
    "104 right to left": ("; filename*=UTF-8''mine%E2%80%AEvsc.exe", "minevsc.exe"),
    "104 colours": ("; filename*=UTF-8''%1B%5B31mmine.csv", "[31mmine.csv"),
    "105 long": (f'; filename="{"n" * 300}.csv"', "n" * 120),
    "106 a device": ('; filename="CON"', "CON"),
    "106 a device with an ending": ('; filename="NUL.csv"', "NUL.csv"),
    "106 blank": ('; filename="   "', "unnamed.csv"),
    "107 quotes": ('; filename="a\\"; filename=\\"b.csv"', 'a"; filename="b.csv'),
    "107 a semicolon": ('; filename="a;b.csv"', "a;b.csv"),
    "107 markup": ('; filename="<img src=x onerror=alert(1)>.csv"', "<img src=x onerror=alert(1)>.csv"),
    "107 letters of the world": ("; filename*=UTF-8''%E8%AF%AD%20caf%C3%A9.csv", "语 café.csv"),
}


@pytest.mark.case(102, 103, 104, 105, 106, 107)
def test_102_to_107_a_name_is_shown_clean_and_names_nothing(door: Door, settings: LazySettings) -> None:
    for number, (given, (disposition, shown)) in enumerate(NAMES.items()):
        before = stored_files()
        answer = door.post_raw(body_of(part("file", another(number), disposition)))
        assert answer.submission is not None, given
        assert answer.submission.file_name == shown, given
        path = path_of(answer.submission.file_key)
        assert path.read_bytes() == another(number)
        assert path.is_relative_to(Path(settings.FILES_DIR) / "submissions")
        assert path.name.isalnum()
        assert sorted(stored_files()) == sorted([*before, str(path)])
        said_to_user = door.said_to_user(answer.submission)
        assert "<img" not in said_to_user or isinstance(door, Api)
        assert "\u202e" not in said_to_user


@pytest.mark.case(107)
def test_107_a_download_has_one_name_in_one_header(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    door = Form(bo)
    for number, (given, (disposition, shown)) in enumerate(NAMES.items()):
        submission = door.post_raw(body_of(part("file", another(number), disposition))).submission
        assert submission is not None, given
        response = door.client.get(f"/c/pets/submissions/{submission.pk}/file/")
        assert response.getvalue() == another(number)
        header = response["Content-Disposition"]
        assert header.startswith("attachment; filename"), given
        assert header.isprintable()
        assert header.isascii()
        plain = header.replace('\\"', "")
        assert plain.count("filename") - shown.count("filename") == 1, given
        assert shown.isascii() or "filename*=utf-8''" in header
        assert response["Content-Type"] == "application/octet-stream"
        assert not {"Set-Cookie", "a"} & set(response.headers)


@pytest.mark.case(106)
def test_106_a_part_without_a_name_is_no_file(door: Door, bo: User) -> None:
    for disposition in ("", '; filename=""', "; filename*=UTF-8''%E2%80%8B"):
        answer = door.post_raw(body_of(part("file", answers(), disposition)))
        assert answer.status == 422
        assert "Choose a file first" in answer.words or '"column": "file"' in answer.words
    assert (stored_files(), attempts_used(bo)) == ([], 0)


def linked() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        member = zipfile.ZipInfo("mine.csv")
        member.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(member, "/etc/passwd")
    return out.getvalue()


def encrypted() -> bytes:
    data = bytearray(linked())
    for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + place] |= 1
    place = data.index(b"PK\x01\x02") + 38
    data[place : place + 4] = bytes(4)
    return bytes(data)


@pytest.mark.parametrize(("data", "words"), [(linked(), "a link instead of a CSV"), (encrypted(), "encrypted")])
@pytest.mark.case(108)
def test_108_a_link_in_a_zip_is_refused_and_followed_nowhere(door: Door, bo: User, data: bytes, words: str) -> None:
    answer = door.send(data, name="mine.zip")
    assert answer.submission is not None
    score.score_one(answer.submission.pk)
    answer.submission.refresh_from_db()
    assert answer.submission.status == "invalid"
    said_to_user = door.said_to_user(answer.submission)
    assert words in said_to_user
    assert "root:" not in said_to_user
    assert attempts_used(bo) == 0
