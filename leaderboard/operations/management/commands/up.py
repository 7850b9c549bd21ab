"""`up` as a Django command; `manage.py` itself calls the supervisor without loading Django."""

from __future__ import annotations

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from ...supervisor import up


class Command(BaseCommand):
    help = "Start the whole site: database, broker, workers and web server. Ctrl-C stops it."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        up.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        raise SystemExit(up.run_site(argparse.Namespace(**options)))
