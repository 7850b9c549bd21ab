"""App configuration: registers the hooks of the classroom with the apps below."""

from __future__ import annotations

from django.apps import AppConfig


class ClassroomConfig(AppConfig):
    name = "leaderboard.classroom"

    def ready(self) -> None:
        from leaderboard.accounts import hooks as accounts
        from leaderboard.common import outbox
        from leaderboard.competitions import hooks as competitions
        from leaderboard.notifications import hooks as notifications

        from . import invitations, joining, models, personal_data, roles

        accounts.lets_in.append(joining.is_valid_way_in)
        accounts.address_confirmed.append(roles.take_up_roles)
        accounts.student_number_confirmed.append(joining.link_by_student_number)
        accounts.export.append(personal_data.export)
        accounts.leave.append(personal_data.leave)
        accounts.forget.append(personal_data.forget)
        accounts.delete.append(personal_data.delete)
        competitions.roster = models
        outbox.KINDS[invitations.KIND] = outbox.EmailKind(invitations.build_invitation, invitations.note_outcome)
        notifications.section_sizes.append(models.section_sizes)
        notifications.people_of_section.append(models.people_of_section)
