"""A student enters a competition, forms a team, accepts the rules."""

from __future__ import annotations

from ._refusals import CannotJoin
from .entering import (
    accept_rules,
    by_code,
    by_invitation,
    by_slip,
    competition_of,
    early_competition_of,
    enter,
    lets_in,
    obstacle_to,
    openly,
    who_invites,
)
from .leading import hand_over, remove_member
from .teams import leave, rename, renew_invitation

__all__ = [
    "CannotJoin",
    "accept_rules",
    "by_code",
    "by_invitation",
    "by_slip",
    "competition_of",
    "early_competition_of",
    "enter",
    "hand_over",
    "leave",
    "lets_in",
    "obstacle_to",
    "openly",
    "remove_member",
    "rename",
    "renew_invitation",
    "who_invites",
]
