"""The app of boards."""

from __future__ import annotations

from django.apps import AppConfig


class BoardsConfig(AppConfig):
    name = "leaderboard.boards"
