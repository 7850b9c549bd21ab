"""Admission to a competition: by code alone, by roster, or by a list of addresses.

An address counts only once its owner has confirmed it; anybody can sign up with somebody else's.
"""

from __future__ import annotations

from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Admission, Competition

from .models import RosterEntry


def confirmed_addresses(user: User) -> set[str]:
    addresses = user.emailaddress_set.filter(verified=True)  # type: ignore[attr-defined]
    return {address.casefold() for address in addresses.values_list("email", flat=True)}


def roster_entry_of(competition: Competition, user: User) -> RosterEntry | None:
    """The entry of the roster that is this person, or is theirs to take by a confirmed address."""
    own = competition.roster.filter(user=user).first()
    addresses = confirmed_addresses(user)
    if own is not None or not addresses:
        return own
    return competition.roster.filter(user=None, left_at=None, email__in=addresses).first()


def obstacle_to_joining(competition: Competition, user: User) -> str:
    """Why this person may not join, in words for them; empty when they may. A one-time link asks nobody."""
    if competition.admission.kind == Admission.Kind.CODE:
        return ""
    if competition.admission.kind == Admission.Kind.ROSTER:
        entry = roster_entry_of(competition, user)
        return "" if entry is not None and entry.left_at is None else _not_on_the_roster(user)
    addresses = confirmed_addresses(user)
    allowed = set(competition.admission.allowed_addresses.split())
    if any(address in allowed or "@" + address.rpartition("@")[2] in allowed for address in addresses):
        return ""
    if not addresses:
        return _(
            "Only certain e-mail addresses may join, and you have not confirmed one. Confirm yours in your account."
        )
    words = _(
        "Your e-mail address ({addresses}) is not among those that may join. If your course knows you by another one, "
        "add it in your account and confirm it; otherwise ask your teacher."
    )
    return words.format(addresses=", ".join(sorted(addresses)))


def _not_on_the_roster(user: User) -> str:
    addresses = ", ".join(sorted(confirmed_addresses(user)))
    if not addresses:
        return _(
            "Only people on the roster may join, and you have not confirmed an e-mail address. "
            "Confirm one in your account, or use the join card or invitation from your teacher."
        )
    return _(
        "Your e-mail address is not on the roster: {addresses}. Add the address that your course knows in your "
        "account, or use the join card or invitation from your teacher."
    ).format(addresses=addresses)
