"""What people wrote themselves, and what metrics call their own: nobody translates it."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import CharField, EmailField, TextField

import metrics
from leaderboard.models import (
    Announcement,
    ApiToken,
    AuditEntry,
    Baseline,
    Competition,
    DataFile,
    Gradebook,
    Grant,
    Notice,
    RosterEntry,
    Submission,
    Team,
    User,
)
from leaderboard.models.instrument import software
from leaderboard.watching import versions
from leaderboard.web.board_lines import initials

WRITTEN = (
    Announcement,
    ApiToken,
    Baseline,
    Competition,
    DataFile,
    Gradebook,
    Grant,
    Notice,
    RosterEntry,
    Submission,
    Team,
    User,
)


def own_words() -> set[str]:
    """As pages show them: with the blanks of HTML."""
    programs = [*software(), *(name for name, _version in versions())]
    texts = [*_written(), *_of_the_trail(), *_of_metrics(), *programs]
    return {" ".join(text.split()).strip(" :") for text in texts}


def _written() -> Iterator[str]:
    for model in WRITTEN:
        names = [
            field.name
            for field in model._meta.get_fields()
            if isinstance(field, (CharField, EmailField, TextField)) and not field.choices
        ]
        for row in model._default_manager.values_list(*names):
            yield from map(str, row)
    yield from (user.get_full_name() for user in User.objects.all())
    yield from map(initials, Team.objects.values_list("name", flat=True))
    yield from (name[:2].upper() for name in User.objects.values_list("username", flat=True))
    yield from (f"{hint}…" for hint in ApiToken.objects.values_list("hint", flat=True))


def _of_the_trail() -> Iterator[str]:
    for entry in AuditEntry.objects.all():
        yield entry.about
        yield from (str(value) for _name, *values in entry.changes for value in values)


def _of_metrics() -> Iterator[str]:
    for metric in metrics.catalogue():
        yield from (metric.key, metric.source_path.name, *metric.parts)
        yield from (parameter.name for parameter in metric.parameters)
