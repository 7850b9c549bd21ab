"""The tables of this app."""

from __future__ import annotations

from .audit_log import AuditEntry
from .outbox import OutgoingEmail

__all__ = [
    "AuditEntry",
    "OutgoingEmail",
]
