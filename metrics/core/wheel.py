"""This library as one file that pip installs: a wheel of the very sources that score, the same bytes for the same
sources."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent.parent
_NAME = "leaderboard_metrics"
_RELEASE = "0.1.0"
NEEDS = ("numpy>=2", "pyarrow>=21", "rapidfuzz>=3.13")
"""What the library imports to score; pandas only where somebody hands in frames."""

_LONG_AGO = (1980, 1, 1, 0, 0, 0)


def wheel() -> tuple[str, bytes]:
    """File name and content of the wheel. Its version ends with a hash of the sources, so pip sees each change."""
    return _built(_state())


def _state() -> tuple[tuple[str, int, int], ...]:
    return tuple((name, (stat := path.stat()).st_mtime_ns, stat.st_size) for name, path in _sources().items())


def _sources() -> dict[str, Path]:
    found = (path for path in _FOLDER.rglob("*") if path.suffix in (".py", ".json", ".typed"))
    return {path.relative_to(_FOLDER.parent).as_posix(): path for path in sorted(found)}


@cache
def _built(state: tuple[tuple[str, int, int], ...]) -> tuple[str, bytes]:
    files = {name: path.read_bytes() for name, path in _sources().items()}
    digest = hashlib.sha256(b"".join(name.encode() + b"\0" + data for name, data in files.items())).hexdigest()[:10]
    version = f"{_RELEASE}+{digest}"
    information = f"{_NAME}-{version}.dist-info"
    files[f"{information}/METADATA"] = _metadata(version)
    files[f"{information}/WHEEL"] = b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = "".join(f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{information}/RECORD"] = f"{record}{information}/RECORD,,\n".encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, data)
    return f"{_NAME}-{version}-py3-none-any.whl", out.getvalue()


def _metadata(version: str) -> bytes:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {_NAME.replace('_', '-')}",
        f"Version: {version}",
        "Summary: The scorer of a Leaderboard site, to run at home: python -m metrics",
        "Requires-Python: >=3.11",
        *(f"Requires-Dist: {need}" for need in NEEDS),
    ]
    return "\n".join([*lines, ""]).encode()


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
