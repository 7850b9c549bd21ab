"""Refusals of joining and of changing teams."""

from __future__ import annotations

from django.utils.translation import gettext as _

from leaderboard.common.clock import database_now
from leaderboard.competitions.models import Competition


class CannotJoin(Exception):
    """Why a person did not get in, or a team did not change; the text is for them."""


def refuse_after_deadline(competition: Competition) -> None:
    if database_now() >= competition.closes_at:
        raise CannotJoin(_("The deadline has passed; teams stay as they are."))


def refuse_when_teams_closed(competition: Competition) -> None:
    if reason := competition.why_teams_are_closed(database_now()):
        raise CannotJoin(reason)
