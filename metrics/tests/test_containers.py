"""What is accepted in place of a plain CSV, and how everything else is named and left closed."""

import gzip
import io
import tarfile
import zipfile
import zlib

import pytest

import metrics
from metrics.core.errors import Refused
from metrics.reading.sources import unpack

CSV = b"id,y\n1,2\n"


def zipped(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


def tarred(data: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo("sub.csv")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def link() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        info = zipfile.ZipInfo("sub.csv")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    return out.getvalue()


def message_of(data: bytes, limit: int = 10**7) -> str:
    with pytest.raises(Refused) as caught:
        unpack(data, limit)
    (problem,) = caught.value.problems
    assert problem.code in ("container", "too_large")
    return problem.message


def test_plain_gzip_and_zip_give_the_same_bytes() -> None:
    for data in (CSV, gzip.compress(CSV), zipped(("deep/er/sub.csv", CSV)), zipped(("a.csv", CSV), method=0)):
        assert unpack(data, 100_000) == CSV
        assert metrics.sniff(data, len(data), ["id", "y"]) == []


@pytest.mark.parametrize(
    "name",
    [
        "__MACOSX/._sub.csv",
        "._sub.csv",
        "deep/.DS_Store",
        "Thumbs.db",
        "desktop.ini",
        "a/.ipynb_checkpoints/b.csv",
        "~$a.xlsx",
        "a.csv~",
        ".git/HEAD",
    ],
)
def test_what_a_mac_or_windows_adds_is_no_second_file(name: str) -> None:
    for members in ((("sub.csv", CSV), (name, b"\x00")), ((name, b"\x00"), ("sub.csv", CSV))):
        data = zipped(("sub/", b""), *members)
        assert unpack(data, 1000) == CSV
        assert metrics.sniff(data, len(data), ["id", "y"]) == []


NAMED = [
    (zipped(("[Content_Types].xml", b"<x/>"), ("word/document.xml", b"<x/>")), "Word"),
    (zipped(("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"), method=0), "OpenDocument"),
    (tarred(CSV), "tar archive"),
    (gzip.compress(tarred(CSV)), "tar archive"),
    (b"<html><body>Log in</body></html>", "web page"),
    (b'{"id": 1}', "JSON"),
    (b'{"cells": 1, "id": 2}', "JSON"),
    (b'{\n "cells": [\n  {\n   "cell_type": "code", "source": ["' + b"x" * 9000 + b'"]}], "nbformat": 4}', "notebook"),
    (b'{"nbformat": 4, "nbformat_minor": 0, "metadata": {}, "cells": []}', "to_csv(index=False)"),
    (zipped(("work.ipynb", b'{"cells": [], "nbformat": 4}')), "notebook"),
]


@pytest.mark.parametrize(("data", "name"), NAMED, ids=lambda value: value if isinstance(value, str) else "")
def test_other_files_are_named_and_not_opened(data: bytes, name: str) -> None:
    assert name in message_of(data)
    (problem,) = metrics.sniff(data, len(data), ["id", "y"])
    assert name in problem.message


def test_a_container_inside_a_container_is_refused() -> None:
    assert "Inside the archive" in message_of(gzip.compress(gzip.compress(CSV)))
    assert "Inside the archive" in message_of(zipped(("a.zip", zipped(("a.csv", CSV)))))
    assert "Inside the archive" in message_of(gzip.compress(b"%PDF-1.7\n"))


def test_a_zip_must_hold_one_plain_file() -> None:
    assert "holds 0 files" in message_of(zipped())
    assert "holds 2 files" in message_of(zipped(("a.csv", CSV), ("b.csv", CSV)))
    assert "link" in message_of(link())
    for path in ("../a.csv", "/a.csv", "C:\\a.csv", "a\\..\\b.csv"):
        assert "path" in message_of(zipped((path, CSV)))
    assert "unusual compression" in message_of(zipped(("a.csv", CSV * 100), method=zipfile.ZIP_BZIP2))


def test_bombs_stop_at_the_ratio_and_at_the_limit() -> None:
    zeros = b"0" * 30_000_000
    assert "100 times" in message_of(gzip.compress(zeros), 10**9)
    assert "100 times" in message_of(zipped(("a.csv", zeros)), 10**9)
    assert "larger than" in message_of(gzip.compress(CSV * 1000), 1000)
    assert "larger than 1,000 bytes" in message_of(CSV * 1000, 1000)


def test_damaged_archives_are_told() -> None:
    packed = gzip.compress(CSV * 100)
    assert "cut off" in message_of(packed[:-20])
    assert "damaged" in message_of(packed[:10] + b"\xff" * 20)
    assert "more than one member" in message_of(packed + packed)
    assert "damaged" in message_of(zipped(("a.csv", CSV * 100))[:-30])
    assert zlib.crc32(CSV)


def test_a_packed_file_with_a_wrong_header_is_seen_in_the_first_megabyte() -> None:
    for data in (gzip.compress(b"no,y\n1,2\n"), zipped(("a.csv", b"no,y\n1,2\n"))):
        problems = metrics.sniff(data, len(data), ["id", "y"])
        assert [problem.code for problem in problems] == ["column_missing"]
