"""`STORAGE_URL`: the bucket for files that are not kept in a folder of this machine.

    s3://KEY:SECRET@HOST[:PORT]/BUCKET[/FOLDER][?region=…&tls=off&ca=FILE&style=virtual]

Key and secret are quoted as in every URL (`/` is `%2F`); without them boto3 looks where it always does: its environment
variables, its files, the role of the machine.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

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
