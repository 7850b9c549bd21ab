"""App configuration: registers the hooks of boards with the apps below."""

from __future__ import annotations

from django.apps import AppConfig


class BoardsConfig(AppConfig):
    name = "leaderboard.boards"

    def ready(self) -> None:
        from leaderboard.competitions import hooks

        from . import standings

        hooks.ranking_changed.append(standings.rebuild_boards)
