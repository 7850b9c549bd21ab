"""The commands of the site: `classboard`, `python -m leaderboard`, and `manage.py` once everything is installed."""

from __future__ import annotations

import os
import sys


def main(arguments: list[str] | None = None) -> int:
    """Run one command; its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
    if arguments[:1] == ["up"]:  # without Django, which would take 30 MB for as long as the site runs
        from leaderboard.operations.supervisor.up import run_up

        return run_up(arguments[1:])
    from django.core.management import execute_from_command_line

    execute_from_command_line(["manage.py", *arguments])
    return 0


if __name__ == "__main__":
    sys.exit(main())
