"""`manage.py makemessages`: Django's own, which also finds the sentences of the library, and what its metrics say of
themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.core.management.commands import makemessages

import metrics

from ...sentences import KEYWORDS, own_texts

FOLDER = Path(metrics.__file__).parent
MOST_NAMED = 10


class Command(makemessages.Command):
    xgettext_options = [*makemessages.Command.xgettext_options, *(f"--keyword={word}" for word in KEYWORDS)]

    def process_files(self, file_list: list[Any]) -> None:
        """Puts what metrics say of themselves where the sentences of their files come; Django makes one of both."""
        super().process_files(file_list)
        folders = {file.locale_dir for file in file_list if Path(file.dirpath).resolve() == FOLDER}
        for folder in folders if self.domain == "django" else ():
            makemessages.write_pot_file(f"{folder}/{self.domain}.pot", "\n\n".join(["", *entries()]))


def entries() -> Iterator[str]:
    """What the metrics of the library say of themselves as entries for translators: each text once, with what it is."""
    found: dict[str, dict[str, list[str]]] = {}
    for metric in metrics.catalogue():
        if not metric.is_outside:
            for what, text in own_texts(metric):
                found.setdefault(text, {}).setdefault(what, []).append(metric.key)
    for text, said in found.items():
        comments = [f"#. Metric: {what} of {_named(keys)}" for what, keys in said.items()]
        places = [f"#: metrics/{key}.py" for key in dict.fromkeys(key for keys in said.values() for key in keys)]
        yield "\n".join([*comments, *places, f"msgid {json.dumps(text, ensure_ascii=False)}", 'msgstr ""'])


def _named(keys: Sequence[str]) -> str:
    left = len(keys) - MOST_NAMED
    return ", ".join(keys[:MOST_NAMED]) + (f" and {left} more" if left > 0 else "")
