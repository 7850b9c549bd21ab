"""App configuration: registers the queries of the roster for lower rooms, and the kind of e-mail for invitations."""

from __future__ import annotations

from django.apps import AppConfig


class ClassroomConfig(AppConfig):
    name = "leaderboard.classroom"

    def ready(self) -> None:
        from leaderboard.common import outbox
        from leaderboard.competitions import hooks as competitions

        from . import invitations, queries

        competitions.roster = queries
        outbox.KINDS[invitations.KIND] = outbox.EmailKind(invitations.build_invitation, invitations.note_outcome)
