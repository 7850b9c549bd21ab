"""Import and export of a competition as a folder or a zip of it.

Files: `competition.toml`, `overview.md`, `rules.md`, `truth.csv` with `split_secret.txt`, `data/`, `baselines/`.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import stat
import tempfile
import tomllib
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

import metrics
from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.common.file_formats import BROKEN_ARCHIVE_ERRORS, add_to_zip
from leaderboard.common.library_messages import translated_message
from leaderboard.common.storage import TooLarge, file_chunks, open_stored, size_text
from leaderboard.common.viewer import known_zones
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, GroundTruth
from leaderboard.competitions.models.competition_settings import EDITABLE, read_setting
from leaderboard.competitions.services import CannotHost
from leaderboard.scoring.client import JobFailed
from metrics.reading.archives import is_left_by_system
from metrics.reading.formats import format_of

from ..queries import free_slug
from ..specs import GroundTruthSpec
from . import data_files, drafts, publishing

TIMES = ("opens_at", "closes_at")
OF_THEIR_OWN = {"overview", "rules", "join_code"}
"""Fields that are not in `competition.toml`: texts are separate files, and an import draws a new join code, because a
code must not belong to two competitions."""
PLAIN_FIELDS = tuple(name for name in EDITABLE if name not in {*TIMES, *OF_THEIR_OWN})
SPLIT_SECRET = "split_secret.txt"
"""File with the secret of the split. A separate file, because `competition.toml` may be shown to students."""


def import_folder(
    folder: Path,
    *,
    user: User,
    launch: bool = False,
    needs_truth: bool = True,
    finds_address: bool = False,
    changes: Mapping[str, Any] | None = None,
) -> Competition:
    """Make a competition from a folder, with `changes` of its fields. Raises `CannotHost` with the file and the key
    that is wrong.

    A folder that cannot be imported completely leaves nothing behind. With `finds_address` a number is added to a slug
    that is taken; without, the folder is refused.
    """
    _refuse_links(folder)
    spec = _read_spec(folder)
    fields = {name: spec[name] for name in PLAIN_FIELDS if name in spec}
    fields |= {name: _read_time(spec, name) for name in TIMES}
    if finds_address and Competition.objects.filter(slug=str(spec.get("slug", ""))).exists():
        fields["slug"] = free_slug(str(spec["slug"]))
    fields["overview"] = _read_text(folder / "overview.md")
    fields["rules"] = _read_text(folder / "rules.md")
    try:
        competition = competitions.create_competition(user=user, **{**fields, **(changes or {})})
    except ValidationError as error:
        lines = [f"{name}: {' '.join(messages)}" for name, messages in error.message_dict.items()]
        raise CannotHost(_("competition.toml can't be used."), lines) from error
    try:
        # Data files first: the check of the truth compares it with the sample submission and looks for leaks in them.
        _import_data(folder, spec, competition, user)
        if needs_truth or (folder / "truth.csv").exists():
            _import_truth(folder, spec, competition, user)
        _import_baselines(folder, spec, competition, user)
        if launch:
            publishing.launch_competition(competition=competition, user=user)
    except BaseException:
        competitions.delete_competition(competition=competition, user=user)
        raise
    return competition


@dataclass(frozen=True)
class FolderFile:
    """One file of a competition's folder: a text, or a stored file (`key`)."""

    name: str
    text: str = ""
    key: str = ""
    sha256: str = ""

    @contextmanager
    def open_content(self) -> Iterator[IO[bytes]]:
        if self.key:
            with open_stored(self.key, self.sha256) as file:
                yield file
        else:
            yield io.BytesIO(self.text.encode())


def export_folder(competition: Competition, folder: Path) -> None:
    """Write a competition as a folder for `import_folder`. Raises `CannotHost` if the folder is not empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CannotHost(_("%(folder)s isn't an empty folder.") % {"folder": folder})
    folder.mkdir(parents=True, exist_ok=True)
    for part in folder_files(competition):
        path = folder / part.name
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open_content() as source, path.open("wb") as target:
            shutil.copyfileobj(source, target)


def folder_files(competition: Competition) -> Iterator[FolderFile]:
    """The files of a competition's folder, with its current ground truth; without people, teams and submissions."""
    plain = {name: read_setting(competition, name) for name in PLAIN_FIELDS}
    spec: dict[str, Any] = {name: value for name, value in plain.items() if value is not None}
    spec |= {name: read_setting(competition, name).astimezone(UTC).isoformat() for name in TIMES}
    lines = _toml_lines(spec)
    if (ground_truth := competition.ground_truth) is not None:
        yield FolderFile("truth.csv", key=ground_truth.file_key, sha256=ground_truth.sha256)
        if ground_truth.split_secret:
            yield FolderFile(SPLIT_SECRET, f"{ground_truth.split_secret}\n")
        lines += _metric_lines(ground_truth)
    for data_file in competition.data_files.all():
        yield FolderFile(f"data/{data_file.name}", key=data_file.file_key, sha256=data_file.sha256)
        lines += _toml_lines({"name": data_file.name, "description": data_file.description}, "[[data]]")
    for number, baseline in enumerate(competition.baselines.select_related("submission"), start=1):
        name = f"baselines/{number}/{baseline.submission.file_name}"
        yield FolderFile(name, key=baseline.submission.file_key, sha256=baseline.submission.sha256)
        lines += _toml_lines({"name": baseline.name, "file": name}, "[[baselines]]")
    yield FolderFile("competition.toml", "\n".join(lines) + "\n")
    yield FolderFile("overview.md", competition.overview)
    yield FolderFile("rules.md", competition.rules)


def _import_truth(folder: Path, spec: dict[str, Any], competition: Competition, user: User) -> None:
    truth, metric, split = folder / "truth.csv", _read_table(spec, "metric"), _read_table(spec, "split")
    if not truth.exists() or "key" not in metric:
        raise CannotHost(_("The folder needs truth.csv, and competition.toml a [metric] table with its key."))
    with _file_errors_explained("truth.csv"):
        truth_spec = GroundTruthSpec(
            metric=str(metric["key"]),
            params=_read_table(metric, "params"),
            file_name="truth.csv",
            chunks=file_chunks(truth),
            id_column=str(metric.get("id_column", "")),
            public_share=_read_number(split, "public_share", 0.3, above=0, below=1),
            seed=int(_read_number(split, "seed", 0, above=-1, below=2**31)),
            is_stratified=bool(split.get("stratified", True)),
            group_column=str(split.get("group", "")),
            split_secret=_split_secret(folder),
            secondary=tuple(
                (str(entry.get("key", "")), _read_table(entry, "params")) for entry in _read_tables(spec, "secondary")
            ),
        )
        drafts.save_draft(competition=competition, spec=truth_spec)
        publishing.publish_draft(competition=competition, user=user, is_confirmed=True, keeps_draft=True)


def _split_secret(folder: Path) -> str:
    secret = _read_text(folder / SPLIT_SECRET).strip().lower()
    if secret and not re.fullmatch("[0-9a-f]{32}", secret):
        raise CannotHost(
            _("%(name)s must hold 32 hexadecimal digits. Remove it, and the site makes a new secret.")
            % {"name": SPLIT_SECRET}
        )
    return secret


def _import_data(folder: Path, spec: dict[str, Any], competition: Competition, user: User) -> None:
    entries = {unicodedata.normalize("NFC", str(entry.get("name"))): entry for entry in _read_tables(spec, "data")}
    files = [path for path in (folder / "data").glob("*") if path.is_file() and not is_left_by_system(path.name)]
    paths = {unicodedata.normalize("NFC", path.name): path for path in files}
    if missing := sorted(entries.keys() - paths.keys()):
        raise CannotHost(
            _("competition.toml names data files that are not in data/: %(list)s.") % {"list": ", ".join(missing)}
        )
    for name in sorted(paths):
        with _file_errors_explained(f"data/{name}"):
            data_files.add_data_file(
                competition=competition,
                file_name=name,
                chunks=file_chunks(paths[name]),
                description=str(entries.get(name, {}).get("description", ""))[:300],
                user=user,
            )


def _import_baselines(folder: Path, spec: dict[str, Any], competition: Competition, user: User) -> None:
    for entry in _read_tables(spec, "baselines"):
        if not isinstance(entry.get("name"), str) or not isinstance(entry.get("file"), str):
            raise CannotHost(_("competition.toml: each [[baselines]] needs a name and a file."))
        path = _safe_path(folder, entry["file"])
        with _file_errors_explained(entry["file"]):
            boards.add_baseline(
                competition=competition,
                user=user,
                name=entry["name"],
                file_name=path.name,
                chunks=file_chunks(path),
            )


@contextmanager
def _file_errors_explained(name: str) -> Iterator[None]:
    """Turn errors about a file of the folder into `CannotHost` with its name."""
    try:
        yield
    except CannotHost as error:
        raise CannotHost(f"{name}: {error.message}", error.details) from error
    except metrics.UnknownMetric as error:
        raise CannotHost(f"competition.toml: {error}") from error
    except metrics.ParameterError as error:
        lines = [f"{parameter}: {translated_message(sentence)}" for parameter, sentence in error.errors.items()]
        raise CannotHost(_("competition.toml: [metric.params] can't be used."), lines) from error
    except (TooLarge, JobFailed, OSError) as error:
        raise CannotHost(f"{name}: {error}") from error


def _metric_lines(ground_truth: GroundTruth) -> list[str]:
    """Lines of the TOML tables for the metric and the secondary metrics."""
    lines = _toml_lines({"key": ground_truth.metric, "id_column": ground_truth.id_column}, "[metric]")
    lines += _toml_lines(_toml_params(ground_truth.metric_key, ground_truth.params), "[metric.params]")
    for key, params in ground_truth.secondary_with_versions:
        lines += _toml_lines({"key": key.partition("@")[0]}, "[[secondary]]")
        lines += _toml_lines(_toml_params(key, params), "[secondary.params]")
    return lines


def _toml_params(key: str, params: dict[str, Any]) -> dict[str, Any]:
    """Parameters for TOML, which has no null: None is written as "", and left out if it is the default."""
    defaults = {parameter.name: parameter.default for parameter in metrics.get(key).parameters}
    return {
        name: "" if value is None else value
        for name, value in params.items()
        if value is not None or defaults.get(name) is not None
    }


def _read_spec(folder: Path) -> dict[str, Any]:
    path = folder / "competition.toml"
    try:
        text = path.read_text(encoding="utf-8-sig")  # editors of Windows write a mark
        spec = tomllib.loads(text.replace(r"\u0000", ""))  # PostgreSQL stores no NUL
    except OSError as error:
        raise CannotHost(_("%(name)s can't be read: %(why)s.") % {"name": path.name, "why": error.strerror}) from error
    except RecursionError:
        message = _("%(name)s can't be read: its brackets are nested too deeply.")
        raise CannotHost(message % {"name": path.name}) from None
    except ValueError as error:  # not only TOMLDecodeError: a number with thousands of digits raises ValueError itself
        raise CannotHost(_("%(name)s isn't TOML: %(error)s") % {"name": path.name, "error": error}) from error
    names = {*PLAIN_FIELDS, *TIMES, "metric", "secondary", "split", "data", "baselines"}
    if unknown := sorted(spec.keys() - names):
        raise CannotHost(
            _("competition.toml: unknown names: %(list)s.") % {"list": ", ".join(unknown)},
            [_("Known: %(list)s") % {"list": sorted(names)}],
        )
    if str(spec.get("zone", "UTC")) not in known_zones():
        raise CannotHost(_("competition.toml: zone isn't a time zone. Write for example Europe/Vienna."))
    return spec


def _read_time(spec: dict[str, Any], name: str) -> datetime:
    """A date and time of the file, without an offset in the competition's time zone. Raises `CannotHost`."""
    value = spec.get(name)
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
        if not isinstance(moment, datetime):
            raise ValueError(value)
    except ValueError as error:
        raise CannotHost(
            _("competition.toml: %(name)s must be a date with time, such as 2026-12-01T23:59:00.") % {"name": name}
        ) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(spec.get("zone", "UTC")))


def _read_table(spec: dict[str, Any], name: str) -> dict[str, Any]:
    table = spec.get(name, {})
    if not isinstance(table, dict):
        raise CannotHost(_("competition.toml: %(name)s must be a table, [%(name)s].") % {"name": name})
    return table


def _read_tables(spec: dict[str, Any], name: str) -> list[dict[str, Any]]:
    tables = spec.get(name, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise CannotHost(_("competition.toml: %(name)s must be tables, [[%(name)s]].") % {"name": name})
    return tables


def _read_number(spec: dict[str, Any], name: str, default: float, *, above: float, below: float) -> float:
    value = spec.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not above < value < below:
        raise CannotHost(
            _("competition.toml: %(name)s must be a number between %(least)s and %(most)s.")
            % {"name": name, "least": above, "most": below}
        )
    return value


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig").replace("\0", "") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise CannotHost(_("%(name)s isn't UTF-8 text.") % {"name": path.name}) from error


def _safe_path(folder: Path, name: str) -> Path:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()) or not path.is_file():
        raise CannotHost(_("competition.toml names %(name)s, which isn't in the folder.") % {"name": name})
    return path


def _refuse_links(folder: Path) -> None:
    """Raise `CannotHost` for a link out of the folder, by which a folder of somebody else would give students any file
    of this machine."""
    inside = folder.resolve()
    for path in folder.rglob("*"):
        if not path.resolve().is_relative_to(inside):
            message = _("%(name)s is a link to a file outside of the folder. Put a copy of the file there.")
            raise CannotHost(message % {"name": path.relative_to(folder)})


def _toml_lines(values: dict[str, Any], table: str = "") -> list[str]:
    """TOML lines for keys and values, with the header of their `table` if they are in one.

    Values are written as JSON, which is valid TOML except for the control character DEL.
    """
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]
    return [*(["", table] if table else []), *(line.replace("\x7f", "\\u007f") for line in lines)]


# --- zipped folders ---------------------------------------------------------------------------------------------

UTF_8_NAME = 0x800
"""The bit of an archive's member that says that its name is UTF-8."""
NAME_ENCODINGS = ("utf-8", "cp437", "cp1252", "gb18030")
"""Encodings of names without that bit, in the order in which they are tried."""
MAX_FILES = 1000
MAX_NAME_BYTES = 200
MAX_EXPANSION = 5
"""Limit for the unpacked size, as a multiple of the upload limit."""
# The only names that a folder may have; none of them leads out of it.
_PART = r"[^/\\:\x00-\x1f]+"
_KNOWN = re.compile(
    rf"(competition\.toml|(overview|rules)\.md|truth\.csv|split_secret\.txt|data/{_PART}|baselines/({_PART}/)?{_PART})"
)


def import_zip(*, chunks: Iterable[bytes], user: User, finds_address: bool = False) -> Competition:
    """Make a draft from a zipped folder, with or without a truth file. Raises `CannotHost` and `storage.TooLarge`."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "folder"
        folder.mkdir()
        upload = Path(place) / "upload.zip"
        _write_limited(chunks, upload, settings.MAX_UPLOAD_BYTES)
        _unpack_zip(upload, folder)
        return import_folder(folder, user=user, needs_truth=False, finds_address=finds_address)


def write_folder(archive: zipfile.ZipFile, competition: Competition) -> None:
    """Write the folder for `import_zip`; only a piece of one file is in memory at a time."""
    for part in folder_files(competition):
        with part.open_content() as source:
            add_to_zip(archive, zipfile.ZipInfo(part.name), source)


def _write_limited(chunks: Iterable[bytes], path: Path, limit: int) -> int:
    """Write a file; returns its size. Raises `TooLarge` after `limit` bytes."""
    size = 0
    with path.open("wb") as file:
        for chunk in chunks:
            size += len(chunk)
            if size > limit:
                raise TooLarge(limit)
            file.write(chunk)
    return size


def _unpack_zip(source: Path, folder: Path) -> None:
    """Unpack a zip. Raises `CannotHost` for files that are too large, whatever size the archive claims."""
    limit = left = settings.MAX_UPLOAD_BYTES * MAX_EXPANSION
    try:
        with zipfile.ZipFile(source) as archive:
            members = _named_members(archive)
            _check_names([name for name, _member in members])
            for name, member in members:
                if stat.S_ISLNK(member.external_attr >> 16):
                    raise CannotHost(_("%(name)s is a link. Pack the file itself.") % {"name": name[:80]})
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(member) as part:
                    left -= _write_limited(iter(partial(part.read, 1 << 20), b""), target, left)
    except TooLarge as error:
        most = size_text(limit)
        raise CannotHost(_("The ZIP file's content is larger than %(most)s.") % {"most": most}) from error
    except BROKEN_ARCHIVE_ERRORS as error:
        with source.open("rb") as file:
            head = file.read(4096)
        if not head.startswith(b"PK") and (kind := format_of(head)):
            message = _("This is %(kind)s. Pack the folder as a ZIP file.")
            raise CannotHost(message % {"kind": translated_message(kind)}) from error
        raise CannotHost(_("This isn't a ZIP file, or it's damaged or has a password.")) from error


def _named_members(archive: zipfile.ZipFile) -> list[tuple[str, zipfile.ZipInfo]]:
    """The files of an archive with their paths in the competition's folder: without folders around it, and without
    files that a system adds."""
    named = [(_path_of(member), member) for member in archive.infolist()]
    named = [(name, member) for name, member in named if not name.endswith("/") and not is_left_by_system(name)]
    folders = [
        name.removesuffix("competition.toml") for name, _ in named if name.rpartition("/")[2] == "competition.toml"
    ]
    top = min(folders, key=len, default="")
    return [(name.removeprefix(top), member) for name, member in named]


def _path_of(member: zipfile.ZipInfo) -> str:
    """The path of a file in an archive, with slashes.

    Macs write UTF-8 and do not say so, other programs the encoding of their Windows.
    """
    name = member.filename.replace("\\", "/")
    if not member.flag_bits & UTF_8_NAME:
        for encoding in NAME_ENCODINGS:
            with suppress(UnicodeError):
                candidate = name.encode("cp437").decode(encoding)
                if encoding == "utf-8" or _is_readable(candidate):
                    name = candidate
                    break
    return unicodedata.normalize("NFC", name)


def _is_readable(name: str) -> bool:
    """Whether a name has no signs but letters, Latin or Chinese ones, and no accented capital within a word."""
    letters = (c.isascii() or unicodedata.name(c, "").startswith(("LATIN ", "CJK UNIFIED")) for c in name)
    return all(letters) and not re.search(r"[a-z][À-Þ]", name)


def _check_names(names: list[str]) -> None:
    if len(names) > MAX_FILES:
        raise CannotHost(_("The folder has more than %(most)s files.") % {"most": MAX_FILES})
    if len({name.casefold() for name in names}) < len(names):
        raise CannotHost(_("Two files of the folder have the same name."))
    if strange := [name for name in names if not _is_known(name, names)]:
        listed = ", ".join(ascii(name)[1:-1][:80] for name in strange[:5])
        known = _(
            "A folder has competition.toml, overview.md, rules.md, truth.csv, split_secret.txt, data/… and baselines/…."
        )
        raise CannotHost(_("These files don't belong to a competition: %(names)s.") % {"names": listed}, [known])
    if "competition.toml" not in names:
        raise CannotHost(_("The folder has no competition.toml."))


def _is_known(name: str, names: list[str]) -> bool:
    """Whether a name may be in a competition's folder, and can be written on any machine."""
    parts = name.split("/")
    can_be = all(part not in (".", "..") and len(part.encode()) <= MAX_NAME_BYTES for part in parts)
    return can_be and bool(_KNOWN.fullmatch(name)) and not any(other.startswith(name + "/") for other in names)
