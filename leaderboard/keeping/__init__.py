"""What must not be lost and what people may take along: backups, receipts, the data of an account."""

from __future__ import annotations

from ._manifest import CannotKeep, Manifest
from .accounts import CannotDelete, delete_account, export, note_rights, obstacle_to_deleting, rights_of
from .backups import backup
from .orphans import sweep_files
from .receipts import receipt
from .restoring import restore

__all__ = [
    "CannotDelete",
    "CannotKeep",
    "Manifest",
    "backup",
    "delete_account",
    "export",
    "note_rights",
    "obstacle_to_deleting",
    "receipt",
    "restore",
    "rights_of",
    "sweep_files",
]
