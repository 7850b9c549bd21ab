"""`manage.py setup_link`: a new one-time link for the first account, for sites where no terminal shows the one of
`up`."""

from __future__ import annotations

import os
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.accounts.models import SetupLink, User

from ...supervisor.prepare import is_migrated

PATIENCE = 60.0


class Command(BaseCommand):
    help = "Print a new link with which the first operator makes an account."

    def handle(self, **options: Any) -> None:
        ends_at = time.monotonic() + PATIENCE
        while not is_migrated():  # a site that was started a moment ago is still making its tables
            if time.monotonic() > ends_at:
                raise CommandError("The database isn't up to date. Start the site, or run: migrate")
            time.sleep(0.5)
        if User.objects.filter(is_superuser=True).exists():
            raise CommandError("This site has an operator, who can make others under /admin/, Users.")
        address = os.environ.get("SITE_URL", "http://localhost:8000").rstrip("/")
        self.stdout.write(f"{address}/setup/{SetupLink.issue()}/")
