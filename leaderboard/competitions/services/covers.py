"""The picture of a competition, as a host uploads it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from django.db import transaction
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import AuditEvent

from ..models import Competition, Cover, CoverPicture
from .competitions import CannotHost

MOST_BYTES = 1_000_000
KINDS = {".png": "image/png", ".jpg": "image/jpeg", ".webp": "image/webp"}


def set_picture(*, competition: Competition, chunks: Iterable[bytes], user: User | None = None) -> None:
    """Show a PNG, JPEG or WebP instead of the pattern. Raises `CannotHost` for anything else, and for large files."""
    content = b""
    for chunk in chunks:
        content += chunk
        if len(content) > MOST_BYTES:
            raise CannotHost(_("This picture is larger than 1 MB. Save it in a smaller size."))
    ending = _ending_of(content)
    if not ending:
        raise CannotHost(_("This isn't a PNG, JPEG or WebP picture."))
    _write(competition, hashlib.sha256(content).hexdigest()[:16] + ending, content, user)


def remove_picture(*, competition: Competition, user: User | None = None) -> None:
    """Go back to the pattern."""
    _write(competition, "", b"", user)


def copy_picture(source: Competition, copy: Competition) -> None:
    """Give a copy the picture of the competition that it was made from."""
    picture = CoverPicture.objects.filter(competition=source).first()
    if picture is not None:
        _write(copy, source.cover.picture_name, bytes(picture.content), None)


def _ending_of(content: bytes) -> str:
    """The file ending that the first bytes stand for; a file's own name says nothing."""
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return ".png"
    if content.startswith(b"\xff\xd8\xff"):
        return ".jpg"
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return ".webp"
    return ""


def _write(competition: Competition, name: str, content: bytes, user: User | None) -> None:
    with transaction.atomic():
        cover = Cover.objects.select_for_update().get(competition=competition)
        if cover.picture_name == name:
            return
        before, cover.picture_name = cover.picture_name, name
        cover.save()
        if name:
            CoverPicture.objects.update_or_create(competition=competition, defaults={"content": content})
        else:
            CoverPicture.objects.filter(competition=competition).delete()
        competition.touch_board()
        AuditEntry.append(
            AuditEvent.CHANGED,
            user=user,
            competition=competition,
            before={"picture": before},
            after={"picture": name},
        )
    competition.cover = cover
