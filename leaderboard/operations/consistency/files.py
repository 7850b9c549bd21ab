"""Check 1: files are there, whole, and each belongs to one row."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

from django.db.models import Count

from leaderboard.common.storage import StorageUnreachable, open_stored
from leaderboard.competitions.models import GroundTruth, Submission

from .verdict import CheckRun

CHUNK = 1_048_576
AT_ONCE = 500
READERS = 4

Receipt = tuple[str, str, str, int | None]
"""What it is, key of the file, SHA-256 as promised, size as promised."""


def check_uploads_are_whole(findings: CheckRun) -> Iterator[str]:
    """Every file is read and hashed: 1 GB takes about a second. Files of old invalid submissions are gone on purpose,
    and their rows say so."""
    yield from _shared_files()
    for pk in Submission.objects.exclude(file_removed_at=None).exclude(status="invalid").values_list("pk", flat=True):
        yield f"submission {pk}: its file was removed, and it is not invalid"
    receipts = _receipts()
    with ThreadPoolExecutor(READERS) as readers:
        while batch := list(islice(receipts, AT_ONCE)):
            findings.looked_at += len(batch)
            yield from filter(None, readers.map(_damage, batch))


def _receipts() -> Iterator[Receipt]:
    files = Submission.objects.with_stored_file().order_by("file_key").values_list("pk", "file_key", "sha256", "size")
    for pk, key, sha256, size in files.iterator(chunk_size=5000):
        yield f"submission {pk}", key, sha256, size
    for ground_truth, key, sha256 in GroundTruth.objects.values_list("pk", "file_key", "sha256"):
        yield f"ground truth {ground_truth}", key, sha256, None


def _shared_files() -> Iterator[str]:
    for field in ("file_key", "upload_key"):
        columns = (field,) if field == "file_key" else ("competition", field)
        rows = Submission.objects.order_by().values(*columns).annotate(number=Count("pk")).filter(number__gt=1)
        for row in rows:
            yield f"{row['number']} submissions have the {field.replace('_', ' ')} {row[field]}"


def _damage(receipt: Receipt) -> str:
    what, key, sha256, size = receipt
    try:
        found, number = _hash(key)
    except (OSError, StorageUnreachable) as error:
        return f"{what}: its file cannot be read ({getattr(error, 'strerror', None) or error})"
    if size is not None and number != size:
        return f"{what}: its file has {number} bytes, its receipt says {size}"
    return "" if found == sha256 else f"{what}: its file does not have the SHA-256 of its receipt"


def _hash(key: str) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with open_stored(key) as file:
        while part := file.read(CHUNK):
            digest.update(part)
            size += len(part)
    return digest.hexdigest(), size
