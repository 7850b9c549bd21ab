"""The tables of this app."""

from __future__ import annotations

from .role import RoleInvitation
from .roster import RosterDraft, RosterEntry, RosterList

__all__ = [
    "RoleInvitation",
    "RosterDraft",
    "RosterEntry",
    "RosterList",
]
