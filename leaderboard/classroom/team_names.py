"""Names of teams: how they are cleaned, and which are free."""

from __future__ import annotations

from leaderboard.accounts.models import User
from leaderboard.common.names import clean_text
from leaderboard.competitions.models import Competition
from leaderboard.competitions.models.team_names import name_with_number


def clean_team_name(name: str) -> str:
    """Visible characters only, compatibility forms unified, single spaces, at most 60 characters."""
    return clean_text(name)[:60].strip()


def free_name(competition: Competition, user: User) -> str:
    """What a new team of one is called: like its member, with a number where another team is. Under pseudonyms there
    is no number, because a number would reveal that another team has the name."""
    base = clean_team_name(user.get_username()) or "team"
    return base if competition.board.uses_pseudonyms else name_with_number(competition, base)
