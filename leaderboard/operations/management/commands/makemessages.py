"""`manage.py makemessages`: Django's command, which here also finds the messages of the metrics library and the texts
with which its metrics describe themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.commands import makemessages

import metrics

FOLDER = Path(metrics.__file__).parent
KEYWORDS = ("Message:1", "counted:2,3", "Plural:1,2")
"""The library's functions and which of their arguments are message templates, for xgettext."""


class Command(makemessages.Command):
    xgettext_options = [*makemessages.Command.xgettext_options, *(f"--keyword={word}" for word in KEYWORDS)]

    def process_files(self, file_list: list[Any]) -> None:
        """Add the metrics' own texts to the template file of their folder; Django merges them with the other
        messages."""
        super().process_files(file_list)
        folders = {file.locale_dir for file in file_list if Path(file.dirpath).resolve() == FOLDER}
        for folder in folders if self.domain == "django" else ():
            makemessages.write_pot_file(f"{folder}/{self.domain}.pot", "\n\n".join(["", *entries()]))


def entries() -> Iterator[str]:
    """Entries for translators of the texts in metric files, each text once with the files that have it."""
    found: dict[str, list[str]] = {}
    for metric in metrics.catalogue():
        if not metric.is_custom:
            for text in filter(None, dict.fromkeys(own_texts(metric))):
                found.setdefault(text, []).append(str(metric.source_path.relative_to(FOLDER.parent)))
    for text, places in found.items():
        yield "\n".join([f"#: {' '.join(places)}", f"msgid {json.dumps(text, ensure_ascii=False)}", 'msgstr ""'])


def own_texts(metric: metrics.Metric) -> Iterator[str]:
    """The texts of a metric's file that xgettext cannot find, because they are not marked there."""
    yield from (metric.title, metric.group, metric.summary, metric.description)
    for parameter in metric.parameters:
        yield from (parameter.help, parameter.when_empty)
