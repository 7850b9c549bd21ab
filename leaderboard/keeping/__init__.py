"""What must not be lost and what people may take along: backups, receipts, the data of an account."""

from __future__ import annotations

from ._manifest import CannotKeep, Manifest
from .backups import backup
from .restoring import restore

__all__ = ["CannotKeep", "Manifest", "backup", "restore"]
