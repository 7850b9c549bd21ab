"""Files in an S3-compatible bucket, with local copies of those used last.

`STORAGE_URL` names the bucket:

    s3://KEY:SECRET@HOST[:PORT]/BUCKET[/FOLDER][?region=…&tls=off&ca=FILE&style=virtual]

Key and secret are quoted as in every URL (`/` is `%2F`); without them boto3 looks where it always does: its environment
variables, its files, the role of the machine.

One request stores an object: the server checks its SHA-256 and shows it whole or not at all. A fetched object is
checked too, and fetched again if incomplete. Copies need no index: the name of a copy is its key, and the object of a
key never changes. boto3 is imported at the first use.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import IO, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.conf import settings
from django.core.files.storage import storages

from .folder import CHUNK, partial_of

FORM = "s3://KEY:SECRET@HOST:PORT/BUCKET/FOLDER?region=REGION"
OPTIONS = ("region", "tls", "ca", "style")
CONNECT_SECONDS, ANSWER_SECONDS, TRIES = 3, 6, 2


class BadStorageAddress(ValueError):
    """A mistake in `STORAGE_URL`, described for the operator without the address, which holds a secret."""


def storage_at(url: str) -> dict[str, Any]:
    """The entry of Django's `STORAGES` for an address. Imports boto3. Raises `BadStorageAddress`."""
    parts = urlsplit(url)
    bucket, _, folder = parts.path.strip("/").partition("/")
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    if parts.scheme != "s3" or not parts.hostname or not bucket:
        raise BadStorageAddress(f"STORAGE_URL has the form {FORM}.")
    if unknown := sorted(given.keys() - set(OPTIONS)):
        raise BadStorageAddress(f"STORAGE_URL knows {', '.join(OPTIONS)}, and not {', '.join(unknown)}.")
    if given.get("tls", "on") not in ("on", "off") or given.get("style", "path") not in ("path", "virtual"):
        raise BadStorageAddress("In STORAGE_URL, tls is on or off, and style is path or virtual.")
    scheme = "http" if given.get("tls") == "off" else "https"
    place = f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname
    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": bucket,
            "location": unquote(folder),
            "endpoint_url": f"{scheme}://{place}",
            "region_name": given.get("region", "us-east-1"),
            "access_key": unquote(parts.username) if parts.username else None,
            "secret_key": unquote(parts.password) if parts.password else None,
            "default_acl": None,  # the bucket's own, which is private
            "verify": given.get("ca") or None,
            "client_config": _client_config(given.get("style", "path")),
        },
    }


def _client_config(style: str) -> Any:
    """boto3's settings with short time-outs: a worker's lease is 30 seconds, and a student waits for the response to an
    upload. Raises `BadStorageAddress` without boto3."""
    try:
        from botocore.config import Config
    except ImportError:
        raise BadStorageAddress("Files in a bucket need boto3: install classboard[s3].") from None

    return Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=ANSWER_SECONDS,
        retries={"total_max_attempts": TRIES, "mode": "standard"},
        signature_version="s3v4",
        s3={"addressing_style": style},
        max_pool_connections=32,
    )


log = logging.getLogger("leaderboard.common.storage")

MAX_FETCHES = 3
FIRST_PAUSE = 0.2
# No new try after this time: a person may wait for a page.
FETCH_AGAIN_WITHIN_SECONDS = 5.0
# The time to open a path that `path_of` returned, before the copy may be removed to make room.
IN_USE_FOR = 300.0
FORGOTTEN_AFTER = 86_400.0  # unfinished copies of a process that died


class StorageUnreachable(Exception):
    """The bucket did not answer as it should, so nothing is known about the file."""


class StoredFileChanged(OSError):
    """The bucket has a complete file under this key, but not the one that was stored."""


# --- one object -------------------------------------------------------------------------------------------------


def path_of(key: str, sha256: str = "") -> Path:
    """The local copy of a file, checked against the hash before each use; fetched if missing or different."""
    path = _cache_path(key)
    with suppress(FileNotFoundError):
        if not sha256 or _hash_of(path) == sha256:
            os.utime(path)
            return path
    with _fetched_object(key, sha256) as partial:
        Path(partial.name).replace(path)
    _make_room(path.stat().st_size)
    return path


class _BodyUntil:
    """A file that can be read only until a time of the monotonic clock, however often boto3 sends it again."""

    def __init__(self, file: IO[bytes], ends_at: float) -> None:
        self._file, self._ends_at = file, ends_at
        self.seek, self.tell = file.seek, file.tell

    def read(self, size: int = -1) -> bytes:
        if time.monotonic() > self._ends_at:
            raise StorageUnreachable("the storage takes the file too slowly")
        return self._file.read(size)


@contextmanager
def write_file(key: str, *, max_seconds: float = float("inf")) -> Iterator[IO[bytes]]:
    """A file that becomes an object when the block ends without an error; its local copy stays for the work that
    follows. Raises `StorageUnreachable` if storing it takes longer than `max_seconds`."""
    path = _cache_path(key)
    with partial_of(path) as file:
        yield file
        file.flush()
        partial = Path(file.name)
        # After the last byte the bucket has time to answer.
        ends_at = time.monotonic() + max_seconds - ANSWER_SECONDS - 1
        with partial.open("rb") as body, _bucket_errors(key):
            _bucket_client().put_object(
                **_object_name(key),
                Body=_BodyUntil(body, ends_at),
                ChecksumSHA256=b64encode(bytes.fromhex(_hash_of(partial))).decode(),
                ContentType="application/octet-stream",
            )
        partial.replace(path)
    _make_room(path.stat().st_size)


@contextmanager
def open_file(key: str, sha256: str = "") -> Iterator[FileIO]:
    with _fetched_object(key, sha256) as file:
        file.seek(0)
        with open(file.name, "rb", buffering=0) as copy:
            yield copy


def remove_file(key: str) -> None:
    """Delete a file. A failure is only logged: the file has no row any more and is swept later."""
    _cache_path(key).unlink(missing_ok=True)
    try:
        with _bucket_errors(key):
            _bucket_client().delete_object(**_object_name(key))
    except StorageUnreachable as error:
        log.warning("a file stays until it is swept (%s)", error)


def list_files() -> Iterator[tuple[str, float]]:
    prefix = _key_prefix()
    with _bucket_errors("the list of files"):
        pages = (
            _bucket_client()
            .get_paginator("list_objects_v2")
            .paginate(Bucket=_django_storage().bucket_name, Prefix=prefix)
        )
        for page in pages:
            for found in page.get("Contents", ()):
                yield found["Key"].removeprefix(prefix), found["LastModified"].timestamp()


@contextmanager
def _fetched_object(key: str, sha256: str) -> Iterator[IO[bytes]]:
    """An object's bytes in a temporary file; an incomplete or wrong object is fetched again."""
    with partial_of(_cache_path(key)) as file:
        pause, ends_at = FIRST_PAUSE, time.monotonic() + FETCH_AGAIN_WITHIN_SECONDS
        for tries_left in reversed(range(MAX_FETCHES)):
            try:
                _fetch_object(key, sha256, file)
                break
            except (StorageUnreachable, StoredFileChanged) as error:
                if not tries_left or time.monotonic() > ends_at:
                    raise
                log.warning("a file could not be fetched (%s); trying again in %g s", error, pause)
                time.sleep(pause)
                pause *= 2
        yield file


def _fetch_object(key: str, sha256: str, file: IO[bytes]) -> None:
    file.seek(0)
    file.truncate()
    with _bucket_errors(key):
        answer = _bucket_client().get_object(**_object_name(key))
        with closing(answer["Body"]) as body:
            shutil.copyfileobj(body, file, CHUNK)
    file.flush()
    if file.tell() != answer["ContentLength"]:
        raise StorageUnreachable(f"{key} did not arrive whole")
    if sha256 and _hash_of(Path(file.name)) != sha256:
        raise StoredFileChanged(f"{key} is another file than the one that was stored")


def _hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- the server -------------------------------------------------------------------------------------------------

_clients: dict[tuple[int, int], Any] = {}


def _django_storage() -> Any:
    """Django's storage object, which knows the bucket, its server and the credentials."""
    return storages["default"]


def _bucket_client() -> Any:
    """One boto3 client for all threads of a process; making one takes as long as fetching several files."""
    storage = _django_storage()
    mine = (os.getpid(), id(storage))
    if mine not in _clients:
        _clients.clear()
        _clients[mine] = storage.connection.meta.client
    return _clients[mine]


def _key_prefix() -> str:
    location = _django_storage().location.strip("/")
    return f"{location}/" if location else ""


def _object_name(key: str) -> dict[str, str]:
    return {"Bucket": _django_storage().bucket_name, "Key": _key_prefix() + key}


@contextmanager
def _bucket_errors(key: str) -> Iterator[None]:
    """Raise `FileNotFoundError` for boto3's error that an object is missing, and `StorageUnreachable` for all
    others."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code"))
        if code in ("NoSuchKey", "404"):
            raise FileNotFoundError(2, "No such file or directory", key) from error
        raise StorageUnreachable(f"{key}: the storage answered {code}") from error
    except BotoCoreError as error:
        raise StorageUnreachable(f"{key}: {type(error).__name__}") from error


# --- copies on this machine -------------------------------------------------------------------------------------

# Bytes added since the folder was listed. Listing takes time, so it waits for a tenth of the limit.
_added = {"bytes": float("inf")}


def _cache_path(key: str) -> Path:
    return Path(settings.CACHE_DIR) / key


def _make_room(size: int) -> None:
    """Remove the least recently used copies until all together fit in `settings.CACHE_BYTES`."""
    _added["bytes"] += size
    if _added["bytes"] < settings.CACHE_BYTES / 10:
        return
    _added["bytes"] = 0
    now, total, copies = time.time(), 0, []
    for folder, _, names in os.walk(settings.CACHE_DIR):
        for name in names:
            path = Path(folder, name)
            with suppress(FileNotFoundError):
                found = path.stat()
                age = now - found.st_mtime
                total += found.st_size
                copies.append((age, found.st_size, path))
    for age, size, path in sorted(copies, key=lambda copy: -copy[0]):
        is_unfinished = path.suffix == ".partial"
        if age < (FORGOTTEN_AFTER if is_unfinished else IN_USE_FOR):
            continue
        if is_unfinished or total > settings.CACHE_BYTES:
            path.unlink(missing_ok=True)
            total -= size
