"""`manage.py lti_link`: a new one-time address by which a learning platform registers itself."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.urls import reverse

from leaderboard.lti.models import Registration


class Command(BaseCommand):
    help = "Print an address for the dynamic registration of a learning platform. It works once, for 24 hours."

    def handle(self, **options: Any) -> None:
        site = settings.SITE_URL or "http://localhost:8000"
        self.stdout.write(site + reverse("lti_register", args=[Registration.issue()]))
