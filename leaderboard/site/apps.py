"""The app of the home page, help pages, API and admin."""

from __future__ import annotations

from django.apps import AppConfig


class SiteConfig(AppConfig):
    name = "leaderboard.site"
