"""What must not be lost and what people may take along: backups, receipts, the data of an account."""

from __future__ import annotations

from ._manifest import CannotKeep, Manifest
from .accounts import CannotDelete, delete_account, export, note_rights, obstacle_to_deleting, rights_of
from .backups import backup
from .invalid_files import INVALID_FILES_STAY, remove_invalid_files
from .orphans import sweep_files
from .receipts import receipt
from .restoring import restore

__all__ = [
    "INVALID_FILES_STAY",
    "CannotDelete",
    "CannotKeep",
    "Manifest",
    "backup",
    "delete_account",
    "export",
    "note_rights",
    "obstacle_to_deleting",
    "receipt",
    "remove_invalid_files",
    "restore",
    "rights_of",
    "sweep_files",
]
