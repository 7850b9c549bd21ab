"""`manage.py grade_case FILE.json`: the marks that a grading policy gives a class, as JSON."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections
from django.test.utils import override_settings

from leaderboard.competitions.services import CannotHost
from leaderboard.grades.cases import BadCase, marks_of_case
from leaderboard.grades.reading import BadRules


class Command(BaseCommand):
    help = "Try a grading policy on a class, in a temporary database, and print each student's mark as JSON."
    requires_system_checks: Any = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="A JSON file with `scheme` and `class`, see docs/grading.md.")

    def handle(self, **options: Any) -> None:
        try:
            case = json.loads(Path(options["file"]).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise CommandError(f"{options['file']} can't be read: {error}", returncode=2) from error
        use_temporary_database()
        try:
            marks = marks_of_case(case)
        except BadRules as error:
            raise CommandError("\n".join(map(str, error.faults)), returncode=2) from error
        except CannotHost as error:
            raise CommandError("\n".join([error.message, *error.details]), returncode=2) from error
        except BadCase as error:
            raise CommandError(f"This isn't a case: {error}", returncode=2) from error
        self.stdout.write(json.dumps(marks))


def use_temporary_database() -> None:
    """Connect this process to an empty database in memory with all tables, whatever the installation uses."""
    connections["default"].close()
    connections.settings["default"] = connections.configure_settings(
        {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
    )["default"]
    del connections["default"]
    logging.disable(logging.CRITICAL)
    # From the models, which takes a fifth of the time of the migrations.
    with override_settings(MIGRATION_MODULES={app.label: None for app in apps.get_app_configs()}):
        call_command("migrate", run_syncdb=True, verbosity=0, interactive=False)
