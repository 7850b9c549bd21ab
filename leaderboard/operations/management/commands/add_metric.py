"""`manage.py add_metric [FILE]`: check a custom metric file and put it into METRICS_DIR, or list those there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from leaderboard.scoring.custom_metrics import inspect_sealed
from metrics.core.custom import (
    CustomFile,
    add_custom_file,
    list_custom_files,
    read_custom_file,
    read_custom_settings,
    set_inspector,
)


class Command(BaseCommand):
    help = (
        "Check a metric file, Kaggle's or in the form of metrics/, run its doctests, and put it into METRICS_DIR. "
        "Without a file: list the folder, and exit with 1 if some file is no metric."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, nargs="?", help="The metric's key is the file's name.")
        parser.add_argument("--check", action="store_true", help="Put nothing into the folder.")
        parser.add_argument("--direction", choices=("maximize", "minimize"), help="Needed where the file says nothing.")
        parser.add_argument("--best", type=float, help="The value of a perfect submission, if it is always the same.")
        parser.add_argument("--title", help="The name in the chooser.")
        parser.add_argument("--group", help="The group in the chooser, such as Numbers or Labels.")
        parser.add_argument("--columns", metavar="A,B", help="A submission's columns, if not the truth's.")

    def handle(self, **options: Any) -> None:
        before = set_inspector(inspect_sealed)
        try:
            self._check(options)
        finally:
            set_inspector(before)

    def _check(self, options: dict[str, Any]) -> None:
        path: Path | None = options["file"]
        if not os.environ.get("METRICS_DIR") and not options["check"]:
            raise CommandError("METRICS_DIR names no folder. Set it for the web server and the workers alike.")
        if path is None:
            self._list()
            return
        if not path.is_file():
            raise CommandError(f"There is no file {path}.")
        file = read_custom_file(path, {**read_custom_settings(path.stem), **_metric_options(options)}, again=True)
        self._print_check(file)
        if file.error:
            raise CommandError("It was not added.")
        if options["check"]:
            return
        if file.direction[1] == "guess":
            raise CommandError("Not added. Is higher or lower better? Give --direction.")
        try:
            add_custom_file(file)
        except OSError as error:
            raise CommandError(f"Not added: {error}") from error
        self.stdout.write(f"Added. Hosts can choose {file.key} now.")

    def _list(self) -> None:
        # Broken files are inspected once more, because a missing library may have been installed since.
        files = [read_custom_file(f.path, again=True) if f.error else f for f in list_custom_files()]
        for file in files:
            self._print_check(file)
            self.stdout.write("")
        broken = sum(bool(file.error) for file in files)
        if broken:
            raise CommandError(f"{broken} of {len(files)} files can't be used.")
        self.stdout.write(f"Files that can be used: {len(files)}.")

    def _print_check(self, file: CustomFile) -> None:
        self.stdout.write(f"{file.key} (version {file.version})")
        if file.error:
            self.stdout.write(f"  can't be used: {file.error}")
            return
        direction, source = file.direction
        better = "higher" if direction == "maximize" else "lower"
        self.stdout.write(f"  {better} is better ({SOURCES[source]})")
        for parameter in file.parameters:
            default = "must be given" if parameter["required"] else f"default {parameter['default']}"
            self.stdout.write(f"  parameter {parameter['name']}: {parameter['kind']}, {default}")
        for note in file.notes:
            self.stdout.write(f"  note: {note}")
        self._print_doctests(file)

    def _print_doctests(self, file: CustomFile) -> None:
        tried, failed = file.doctest["tried"], file.doctest["failed"]
        if not tried:
            self.stdout.write("  doctests: none")
            return
        self.stdout.write(f"  doctests: {failed} of {tried} failed" if failed else f"  doctests: all {tried} passed")
        for line in file.doctest["text"].splitlines():
            self.stdout.write(f"    {line}".rstrip())


SOURCES = {"settings": "as you say", "file": "as the file says", "guess": "a guess from its words"}


def _metric_options(options: dict[str, Any]) -> dict[str, Any]:
    """The metric's settings that the command's options give."""
    given = {name: options[name] for name in ("direction", "best", "title", "group") if options[name] is not None}
    if options["columns"]:
        given["submission_columns"] = [name.strip() for name in options["columns"].split(",")]
    return given
