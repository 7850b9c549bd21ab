"""A competition's folder as one zip file: from somewhere else, and to take along."""

from __future__ import annotations

import re
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common.storage import TooLarge, size_text
from leaderboard.common.zip_files import BROKEN_ARCHIVE_ERRORS, StreamingBuffer

from ..models import Competition
from .competitions import CannotHost
from .folders import folder_files, import_folder

MOST_FILES = 1000
LONGEST_NAME = 200
TIMES_LARGER = 5
"""How much larger than an upload may be what comes out of it."""
# A folder of ours has these and nothing else; no name can lead out of it.
_PART = r"[^/\\:\x00-\x1f]+"
_KNOWN = re.compile(
    rf"(competition\.toml|(overview|rules)\.md|truth\.csv|split_secret\.txt|data/{_PART}|baselines/({_PART}/)?{_PART})"
)


def import_zip(*, chunks: Iterable[bytes], user: User, finds_address: bool = False) -> Competition:
    """Make a draft of a zipped folder as `import_folder` does, with or without a truth file.

    Raises `CannotHost` and `storage.TooLarge`.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "folder"
        folder.mkdir()
        _unpack(_saved_zip(chunks, Path(place) / "upload.zip"), folder)
        return import_folder(folder, user=user, needs_truth=False, finds_address=finds_address)


def export_zip(competition: Competition) -> Iterator[bytes]:
    """The folder that `import_zip` reads, made while it is sent: one piece of one file is in memory at a time."""
    outlet = StreamingBuffer()
    with zipfile.ZipFile(outlet, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for part in folder_files(competition):
            with part.opened() as source:
                yield from outlet.copied(archive, zipfile.ZipInfo(part.name), source)
    yield outlet.drain()


def _saved_zip(chunks: Iterable[bytes], path: Path) -> Path:
    size = 0
    with path.open("wb") as file:
        for chunk in chunks:
            size += len(chunk)
            if size > settings.MAX_UPLOAD_BYTES:
                raise TooLarge(settings.MAX_UPLOAD_BYTES)
            file.write(chunk)
    return path


def _unpack(source: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(source) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            _check_members(members)
            left = settings.MAX_UPLOAD_BYTES * TIMES_LARGER
            for member in members:
                left -= _unpack_member(archive, member, folder / member.filename, left)
    except BROKEN_ARCHIVE_ERRORS as error:
        raise CannotHost(_("This is no zip file, or it is damaged or locked with a password.")) from error


def _check_members(members: list[zipfile.ZipInfo]) -> None:
    names = [member.filename for member in members]
    if len(names) > MOST_FILES:
        raise CannotHost(_("The folder has more than %(most)s files.") % {"most": MOST_FILES})
    if len({name.casefold() for name in names}) < len(names):
        raise CannotHost(_("Two files of the folder have the same name."))
    strange = [name for name in names if not _is_known(name, names)]
    if strange:
        known = _(
            "A folder has competition.toml, overview.md, rules.md, truth.csv, split_secret.txt, data/… and baselines/…."
        )
        words = _("These files belong to no competition: %(names)s.")
        raise CannotHost(words % {"names": ", ".join(ascii(name)[1:-1][:80] for name in strange[:5])}, [known])
    if "competition.toml" not in names:
        raise CannotHost(_("The folder has no competition.toml."))


def _is_known(name: str, names: list[str]) -> bool:
    """Whether a name is one of a competition's folder, and can be written on every machine."""
    parts = name.split("/")
    can_be = all(part not in (".", "..") and len(part.encode()) <= LONGEST_NAME for part in parts)
    return can_be and bool(_KNOWN.fullmatch(name)) and not any(other.startswith(name + "/") for other in names)


def _unpack_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, left: int) -> int:
    """Bytes that came out, whatever the archive claims; a bomb ends at `left`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    with archive.open(member) as part, target.open("wb") as out:
        while chunk := part.read(1 << 20):
            size += len(chunk)
            if size > left:
                most = size_text(settings.MAX_UPLOAD_BYTES * TIMES_LARGER)
                raise CannotHost(_("What is in the zip file is larger than %(most)s.") % {"most": most})
            out.write(chunk)
    return size
