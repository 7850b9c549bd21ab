"""Names of teams: how they are cleaned, and which are free."""

from __future__ import annotations

from django.db.models import QuerySet

from ..models import Competition, Team, User
from ..models.names import skeleton, tidy


def clean_team_name(name: str) -> str:
    """Visible characters only, compatibility forms unified, single spaces, at most 60 characters."""
    return tidy(name)[:60].strip()


def free_name(competition: Competition, user: User) -> str:
    base = clean_team_name(user.get_username()) or "team"
    name, number = base, 2
    while alike(competition, name).exists():
        name, number = f"{base[:54]} {number}", number + 1
    return name


def alike(competition: Competition, name: str) -> QuerySet[Team]:
    """The competition's teams whose names look like this one. Reads all of their names."""
    kept = skeleton(name)
    found = [pk for pk, other in competition.teams.values_list("pk", "name") if skeleton(other) == kept]
    return competition.teams.filter(pk__in=found)
