"""What the classroom adds to the apps below it."""

from __future__ import annotations

from django.apps import AppConfig


class ClassroomConfig(AppConfig):
    name = "leaderboard.classroom"

    def ready(self) -> None:
        from leaderboard.accounts import hooks as accounts
        from leaderboard.competitions import hooks as competitions
        from leaderboard.notifications import hooks as notifications

        from . import invitation_mails, joining, personal_data, roles
        from .models import roster

        accounts.lets_in.append(joining.is_valid_way_in)
        accounts.address_confirmed.append(roles.take_up_roles)
        accounts.export.append(personal_data.export)
        accounts.leave.append(personal_data.leave)
        accounts.forget.append(personal_data.forget)
        accounts.delete.append(personal_data.delete)
        competitions.roster = roster
        notifications.is_mail_due.append(invitation_mails.are_invitations_due)
        notifications.mails_due.append(invitation_mails.due_invitations)
        notifications.section_sizes.append(roster.section_sizes)
        notifications.people_of_section.append(roster.people_of_section)
