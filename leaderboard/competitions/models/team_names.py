"""Which names of a competition's teams are taken.

Without pseudonyms no two teams have names that look the same. Under pseudonyms they may: a team that is refused a name
would learn that another one has it, which the pseudonyms hide. Hosts then distinguish such teams by pseudonym.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Max, QuerySet, Value
from django.db.models.functions import Lower

from leaderboard.common.names import lookalike_key

if TYPE_CHECKING:
    from .competition import Competition
    from .team import Team

LONGEST = 60


def teams_called(competition: Competition, name: str) -> QuerySet[Team]:
    """The teams of a competition whose names look like this one. Reads all of their names."""
    wanted = lookalike_key(name)
    found = [pk for pk, other in competition.teams.values_list("pk", "name") if lookalike_key(other) == wanted]
    return competition.teams.filter(pk__in=found)


def name_with_number(competition: Competition, base: str) -> str:
    """The name itself, with a number where a team is called so."""
    name, number = base, 2
    while teams_called(competition, name).exists():
        name, number = f"{base[: LONGEST - 6]} {number}", number + 1
    return name


def next_copy_number(competition: Competition, name: str, *, exclude: int | None = None) -> int:
    """The number that distinguishes a further team of this name in the database; 0 for the first. The team
    `exclude` is about to get the name."""
    called = competition.teams.annotate(lower=Lower("name")).filter(lower=Lower(Value(name)))
    highest = called.exclude(pk=exclude or 0).aggregate(highest=Max("name_copy"))["highest"]
    return 0 if highest is None else highest + 1


def number_shared_names(competition: Competition) -> None:
    """Give numbers to teams that took a name under pseudonyms which an older team has; real names are shown again."""
    seen = set[str]()
    for team in competition.teams.order_by("created_at", "pk"):
        if lookalike_key(team.name) in seen:
            competition.teams.filter(pk=team.pk).update(name=name_with_number(competition, team.name), name_copy=0)
            team.refresh_from_db(fields=["name"])
        seen.add(lookalike_key(team.name))
