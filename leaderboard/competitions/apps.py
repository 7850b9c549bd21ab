"""App configuration: registers the hooks of the core with the apps below."""

from __future__ import annotations

from django.apps import AppConfig


class CompetitionsConfig(AppConfig):
    name = "leaderboard.competitions"

    def ready(self) -> None:
        from leaderboard.accounts import hooks as accounts
        from leaderboard.accounts import tasks as accounts_tasks
        from metrics.core import custom

        from . import hooks, personal_data, tasks

        custom.set_inspector(None)
        accounts.export.append(personal_data.export)
        accounts.obstacle_to_deleting.append(personal_data.obstacle_to_deleting)
        accounts.leave.append(personal_data.leave)
        accounts.forget.append(personal_data.forget)
        hooks.due_tasks += [accounts_tasks.find_due, tasks.find_due]
