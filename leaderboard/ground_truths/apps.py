"""The app of ground truths."""

from __future__ import annotations

from django.apps import AppConfig


class GroundTruthsConfig(AppConfig):
    name = "leaderboard.ground_truths"
