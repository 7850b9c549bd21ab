"""`manage.py lti_link`: a new one-time address by which a learning platform registers itself."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.lti.registering import new_link


class Command(BaseCommand):
    help = "Print an address for the dynamic registration of a learning platform. It works once, for 24 hours."

    def handle(self, **options: Any) -> None:
        link = new_link()
        if not link:
            raise CommandError("Set SITE_URL to the https address of this site first: the platform stores it.")
        self.stdout.write(link)
