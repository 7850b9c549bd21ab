"""App configuration: registers the hooks of grades with the apps below."""

from __future__ import annotations

from django.apps import AppConfig


class GradesConfig(AppConfig):
    name = "leaderboard.grades"

    def ready(self) -> None:
        from leaderboard.accounts import hooks as accounts
        from leaderboard.classroom import hooks as classroom
        from leaderboard.competitions import hooks as competitions

        from . import personal_data, releases

        accounts.export.append(personal_data.export)
        accounts.forget.append(personal_data.forget)
        classroom.student_facts.append(releases.released_grade)
        competitions.membership_facts.append(releases.membership_facts)
