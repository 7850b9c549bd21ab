"""File formats by their first bytes. Nothing is ever unpickled, and only gzip, zip, Excel and Parquet files are
opened."""

import re

from ..core.errors import Problem
from ..core.messages import Message
from .workbook_limits import broken

_NOTEBOOK = Message("a notebook (.ipynb)")
_TAR = Message("a tar archive (.tar, .tar.gz)")
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Message("an old Excel or Word file (.xls, .doc)")),
    (b"BZh", Message("a bzip2 archive")),
    (b"\xfd7zXZ\x00", Message("an xz archive")),
    (b"\x28\xb5\x2f\xfd", Message("a Zstandard archive")),
    (b"7z\xbc\xaf\x27\x1c", Message("a 7-Zip archive")),
    (b"Rar!\x1a\x07", Message("a RAR archive")),
    (b"PAR1", "parquet"),
    (b"ARROW1", Message("an Arrow (Feather) file")),
    (b"FEA1", Message("a Feather file")),
    (b"\x93NUMPY", Message("a NumPy file (.npy)")),
    (b"\x89HDF\r\n\x1a\n", Message("an HDF5 file")),
    (b"SQLite format 3\x00", Message("an SQLite database")),
    (b"%PDF-", Message("a PDF document")),
    (b"\x89PNG\r\n\x1a\n", Message("a PNG image")),
    (b"\xff\xd8\xff", Message("a JPEG image")),
    (b"GIF8", Message("a GIF image")),
    (b"{\\rtf", Message("an RTF document")),
    (b"#!", Message("a script")),
    (b"\x7fELF", Message("a program")),
)
ARCHIVES = {name for _, name in _MAGIC if "archive" in name} | {_TAR}
TABLES = ("xlsx", "parquet")
PACKED = ("gzip", "zip")
NAMES = {
    "gzip": Message("a gzip file"),
    "zip": Message("a zip archive"),
    "xlsx": Message("an Excel file"),
    "parquet": Message("a Parquet file"),
}
_JSON = re.compile(rb'\{|\[\s*(["\[{\]0-9-]|true|false|null|$)')  # and no [name] in brackets
_OF_NOTEBOOK = re.compile(rb'"nbformat"|^\s*\{\s*"cells"\s*:\s*\[.*"cell_type"', re.DOTALL)
"""What only the beginning of a notebook has; its version usually stands at its end."""
_MARKUP = (b"<!doctype", b"<html", b"<head", b"<?xml", b"<body")


def container_of(head: bytes) -> str | None:
    """``"gzip"``, ``"zip"``, ``"xlsx"``, ``"parquet"``, ``None`` for plain text, else a readable name of the file's
    format."""
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        if head[30:38] == b"mimetype":
            return Message("an OpenDocument file (.ods, .odt, …)")
        if any(mark in head for mark in (b"word/", b"ppt/")) and b"xl/" not in head:
            return Message("a Word or PowerPoint file")
        return "xlsx" if b"[Content_Types].xml" in head or b"xl/" in head else "zip"
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    if len(head) > 2 and head[0] == 0x80 and head[1] in (2, 3, 4, 5):
        return Message("a Python pickle")
    return _TAR if head[257:262] == b"ustar" else _format_of_text(head)


def _format_of_text(head: bytes) -> str | None:
    start = head[:512].removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.lower().startswith(_MARKUP):
        return Message("a web page (HTML or XML), perhaps a log-in page that was saved in place of the file")
    if _JSON.match(start):
        is_notebook = start.startswith(b"{") and _OF_NOTEBOOK.search(head)
        return _NOTEBOOK if is_notebook else Message("a JSON file")
    return None


def format_of(head: bytes) -> str:
    """The readable name of a file's format, by its first bytes; empty for plain text."""
    kind = container_of(head) or ""
    return NAMES.get(kind, kind)


def refuse_container(name: str) -> Problem:
    """The problem of a file that is not a table; ``name`` is a result of ``container_of``."""
    kind = NAMES.get(name, name)
    if kind in ARCHIVES:
        return broken(
            Message("This is {kind}, which isn't unpacked. Send the CSV in it, as it is or as .zip.", kind=kind)
        )
    if kind == _NOTEBOOK:
        return broken(
            Message('This is {kind}. Write a CSV in it with "to_csv(index=False)", and choose that file.', kind=kind)
        )
    return broken(
        Message(
            "This is {kind}, not a CSV file. Choose another file, or export this one as CSV (UTF-8, comma).", kind=kind
        )
    )
