"""Hooks for export and deletion of a person's data: roster entries, class lists in preview."""

from __future__ import annotations

from datetime import datetime

from leaderboard.accounts import hooks as accounts_hooks
from leaderboard.accounts.hooks import Leaving, PersonalData
from leaderboard.accounts.models import User
from leaderboard.common.hooks import on

from .models import RosterDraft

EXPORTED = (
    *("name", "email", "lms_user", "student_id", "sis_user_id", "login", "section"),
    *("invited_at", "joined_at", "left_at"),
)


@on(accounts_hooks.export)
def export_roster_entries(*, account: User, at: datetime) -> PersonalData:
    return PersonalData({"rosters": list(account.roster_entries.values("course__title", *EXPORTED))})


@on(accounts_hooks.leave)
def note_competitions(*, leaving: Leaving) -> None:
    """Note the competitions of the courses that have the person on their roster."""
    leaving.competitions |= set(
        leaving.account.roster_entries.filter(course__competitions__isnull=False).values_list(
            "course__competitions", flat=True
        )
    )


@on(accounts_hooks.forget)
def delete_drafts(*, leaving: Leaving) -> None:
    """Delete class lists in preview that contain the person; the host has to upload them again."""
    entries = leaving.account.roster_entries.values_list("name", "email", "login", "student_id")
    identifiers = [
        identifier.casefold() for names in (*entries, leaving.addresses) for identifier in names if identifier
    ]
    for draft in RosterDraft.objects.filter(course__competitions__in=leaving.competitions).distinct():
        text = draft.text.casefold()
        if any(identifier in text for identifier in identifiers):
            draft.delete()
