"""What apps above add to notifications. An app appends its functions in `AppConfig.ready()`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.db.models import QuerySet

from leaderboard.common.hooks import Hook
from leaderboard.competitions.models import Competition

# --- e-mails beside those about notices -------------------------------------------------------------------------


@Hook
def is_mail_due() -> bool:
    """Whether an e-mail of the app is due."""
    raise NotImplementedError


@Hook
def mails_due() -> list[Callable[[Any], bool]]:
    """Calls that each send one e-mail that is due, in order. They take the connection to the mail server and give False
    when it answers nobody."""
    raise NotImplementedError


# --- announcements to a section ---------------------------------------------------------------------------------


@Hook
def section_sizes(*, competition: Competition) -> Mapping[str, int]:
    """Section → how many people who compete are in it."""
    raise NotImplementedError


@Hook
def people_of_section(*, competition: Competition, section: str) -> QuerySet[Any, Any]:
    """The keys of the accounts in a section."""
    raise NotImplementedError
