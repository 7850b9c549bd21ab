"""A competition as a folder: `competition.toml`, texts, `truth.csv`, `data/`, `baselines/`."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError

from ..models import Competition, User
from ..storage import path_of
from . import boards, rulers, setting_up
from .setting_up import CannotHost

PLAIN_FIELDS = (
    "title",
    "slug",
    "subtitle",
    "course",
    "contact",
    "is_listed",
    "needs_code",
    "zone",
    "reveals_itself",
    "daily_attempts",
    "final_count",
    "team_size",
    "max_bytes",
    "allows_late",
)
TIMES = ("opens_at", "closes_at")


def import_folder(folder: Path, *, user: User, launch: bool = False) -> Competition:
    """Make a competition from a folder; raises `CannotHost` naming the file and the key that is wrong.

    Nothing is kept of a folder that cannot be imported whole.
    """
    spec = _read_spec(folder)
    fields = {name: spec[name] for name in PLAIN_FIELDS if name in spec}
    fields |= {name: _time(spec, name) for name in TIMES}
    fields["overview"] = _text(folder / "overview.md")
    fields["rules"] = _text(folder / "rules.md")
    try:
        competition = setting_up.create(user=user, **fields)
    except ValidationError as error:
        lines = [f"{name}: {' '.join(found)}" for name, found in error.message_dict.items()]
        raise CannotHost("competition.toml cannot be used.", lines) from error
    try:
        _import_files(folder, spec, competition, user)
        if launch:
            setting_up.launch(competition=competition)
    except BaseException:
        setting_up.remove(competition=competition)
        raise
    return competition


def export_folder(competition: Competition, folder: Path) -> None:
    """Write a competition as a folder that `import_folder` reads; raises `CannotHost` if the folder is in use."""
    if folder.exists() and any(folder.iterdir()):
        raise CannotHost(f"The folder {folder} is not empty.")
    folder.mkdir(parents=True, exist_ok=True)
    ruler = competition.ground_truth
    spec: dict[str, Any] = {name: getattr(competition, name) for name in PLAIN_FIELDS}
    spec |= {name: getattr(competition, name).astimezone(UTC).isoformat() for name in TIMES}
    lines = [f"{name} = {_toml(value)}" for name, value in spec.items()]
    if ruler is not None:
        (folder / "truth.csv").write_bytes(path_of(ruler.file_key).read_bytes())
        lines += ["", "[metric]", f"key = {_toml(ruler.metric)}", f"id_column = {_toml(ruler.id_column)}"]
        params = {name: value for name, value in ruler.params.items() if value is not None}
        lines += ["", "[metric.params]", *(f"{name} = {_toml(value)}" for name, value in params.items())]
    for baseline in competition.baselines.select_related("submission"):
        name = f"baselines/{baseline.pk}.csv"
        _write(folder / name, path_of(baseline.submission.file_key).read_bytes())
        lines += ["", "[[baselines]]", f"name = {_toml(baseline.name)}", f"file = {_toml(name)}"]
    for data_file in competition.data_files.all():
        _write(folder / "data" / data_file.name, path_of(data_file.file_key).read_bytes())
    (folder / "competition.toml").write_text("\n".join(lines) + "\n")
    (folder / "overview.md").write_text(competition.overview)
    (folder / "rules.md").write_text(competition.rules)


def _import_files(folder: Path, spec: dict[str, Any], competition: Competition, user: User) -> None:
    truth, metric, split = folder / "truth.csv", spec.get("metric"), spec.get("split", {})
    if not truth.exists() or not isinstance(metric, dict) or "key" not in metric:
        raise CannotHost("The folder needs truth.csv, and competition.toml a [metric] table with its key.")
    rulers.draft_truth(
        competition=competition,
        metric=metric["key"],
        params=metric.get("params", {}),
        file_name="truth.csv",
        chunks=_chunks(truth),
        id_column=metric.get("id_column", ""),
        public_share=split.get("public_share", 0.3),
        seed=split.get("seed", 0),
        is_stratified=split.get("stratified", True),
    )
    rulers.publish(competition=competition, user=user, is_confirmed=True)
    for path in sorted((folder / "data").glob("*")):
        setting_up.add_data_file(competition=competition, file_name=path.name, chunks=_chunks(path))
    for baseline in spec.get("baselines", []):
        path = _inside(folder, baseline["file"])
        boards.add_baseline(
            competition=competition,
            user=user,
            name=baseline["name"],
            file_name=path.name,
            chunks=_chunks(path),
        )


def _read_spec(folder: Path) -> dict[str, Any]:
    path = folder / "competition.toml"
    try:
        return tomllib.loads(path.read_text())
    except FileNotFoundError as error:
        raise CannotHost(f"{path} does not exist.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CannotHost(f"{path} is not TOML: {error}") from error


def _time(spec: dict[str, Any], name: str) -> datetime:
    """A date-time of the file; one without an offset is meant in the competition's zone."""
    value = spec.get(name)
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
        if not isinstance(moment, datetime):
            raise ValueError(value)
    except ValueError as error:
        raise CannotHost(f"competition.toml: {name} must be a date with time, such as 2026-12-01T23:59:00.") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(spec.get("zone", "UTC")))


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def _inside(folder: Path, name: str) -> Path:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()) or not path.is_file():
        raise CannotHost(f"competition.toml names {name}, which is not a file of the folder.")
    return path


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            yield chunk


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _toml(value: object) -> str:
    """A TOML value; JSON's strings, numbers and booleans are TOML's too."""
    return json.dumps(value, ensure_ascii=False)
