"""What grades add to the apps below them."""

from __future__ import annotations

from django.apps import AppConfig


class GradesConfig(AppConfig):
    name = "leaderboard.grades"

    def ready(self) -> None:
        from leaderboard.accounts import hooks as accounts

        from . import personal_data

        accounts.export.append(personal_data.export)
        accounts.forget.append(personal_data.forget)
