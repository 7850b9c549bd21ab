"""Which other sites may show a page of ours within theirs."""

from __future__ import annotations

import re

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

# Nothing that could end a header's directive and begin another.
_SITE = re.compile(r"https?://(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?", re.IGNORECASE | re.ASCII)


def check_sites(text: str) -> None:
    """Addresses of sites between spaces, such as `https://moodle.example.edu`; `*` alone means every site."""
    for part in text.split():
        if text.split() != ["*"] and not _SITE.fullmatch(part):
            raise ValidationError(
                _("“%(part)s” is no address of a site; write for example https://moodle.example.edu, without a path.")
                % {"part": part[:80]}
            )
