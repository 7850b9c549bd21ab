"""The tables of this app."""

from __future__ import annotations

from .audit_log import AuditEntry

__all__ = [
    "AuditEntry",
]
