"""`manage.py makemessages`: Django's own, which also finds the sentences of the library of metrics."""

from __future__ import annotations

from django.core.management.commands import makemessages

from leaderboard.sentences import KEYWORDS


class Command(makemessages.Command):
    xgettext_options = [*makemessages.Command.xgettext_options, *(f"--keyword={word}" for word in KEYWORDS)]
