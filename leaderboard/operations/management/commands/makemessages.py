"""`manage.py makemessages`: Django's own, which also finds the messages of the library, and what its metrics say of
themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.commands import makemessages

import metrics

FOLDER = Path(metrics.__file__).parent
KEYWORDS = ("Message:1", "counted:2,3", "Plural:1,2")
"""Which arguments of which functions of the library are templates, for xgettext."""


class Command(makemessages.Command):
    xgettext_options = [*makemessages.Command.xgettext_options, *(f"--keyword={word}" for word in KEYWORDS)]

    def process_files(self, file_list: list[Any]) -> None:
        """Puts what metrics say of themselves where the messages of their files come; Django makes one of both."""
        super().process_files(file_list)
        folders = {file.locale_dir for file in file_list if Path(file.dirpath).resolve() == FOLDER}
        for folder in folders if self.domain == "django" else ():
            makemessages.write_pot_file(f"{folder}/{self.domain}.pot", "\n\n".join(["", *entries()]))


def entries() -> Iterator[str]:
    """What the metrics of the library say of themselves as entries for translators: each text once, with its files."""
    found: dict[str, list[str]] = {}
    for metric in metrics.catalogue():
        if not metric.is_custom:
            for text in filter(None, dict.fromkeys(own_texts(metric))):
                found.setdefault(text, []).append(f"metrics/{metric.key}.py")
    for text, places in found.items():
        yield "\n".join([f"#: {' '.join(places)}", f"msgid {json.dumps(text, ensure_ascii=False)}", 'msgstr ""'])


def own_texts(metric: metrics.Metric) -> Iterator[str]:
    """The texts of a metric's file that no tool finds, because nothing marks them there."""
    yield from (metric.title, metric.group, metric.summary, metric.description)
    for parameter in metric.parameters:
        yield from (parameter.help, parameter.when_empty)
