"""`manage.py service_files FOLDER`: what systemd and Caddy need to run this site on a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from leaderboard.management import services


class Command(BaseCommand):
    help = (
        "Write a systemd unit, its environment file and a Caddyfile for this site into a folder, from SITE_URL, "
        "VAR_DIR and the other variables as they are set now. docs/operating.md says where they go."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="Where they are written; files of the same names are replaced.")
        parser.add_argument("--user", default="", help="Who runs the site (default: who runs this command).")
        parser.add_argument(
            "--host", default="127.0.0.1", help="0.0.0.0 lets a proxy elsewhere in (default: 127.0.0.1)."
        )
        parser.add_argument("--port", type=int, default=8000, help="Where Caddy finds the site (default: 8000).")
        parser.add_argument("--workers", type=int, default=1, help="Submissions scored at once (default: 1).")

    def handle(self, **options: Any) -> None:
        try:
            names = ("user", "host", "port", "workers")
            written = services.write(options["folder"], **{name: options[name] for name in names})
        except (services.CannotWrite, OSError) as error:
            raise CommandError(str(error)) from error
        for path in written:
            self.stdout.write(str(path))
