"""`manage.py setup_link`: a new one-time link for the first account, where no terminal shows the one of `up`."""

from __future__ import annotations

import os
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.accounts.models import SetupLink, User


class Command(BaseCommand):
    help = "Print a new link with which the first operator makes an account. Earlier links stop working."

    def handle(self, **options: Any) -> None:
        if User.objects.filter(is_superuser=True).exists():
            raise CommandError("This site has an operator, who can make others under /admin/, Users.")
        address = os.environ.get("SITE_URL", "http://localhost:8000").rstrip("/")
        self.stdout.write(f"{address}/setup/{SetupLink.issue()}/")
