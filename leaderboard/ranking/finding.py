"""Parts of a board: the teams of a name, those of a section."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import BooleanField, Expression, ExpressionWrapper, OuterRef, Q, Subquery, Value

from ..models import Competition, GroundTruth, Membership, RosterEntry, Split, teams_of_section
from .boards import in_order, ranked_rows, shared_ranks
from .doubts import doubts
from .page_facts import with_facts
from .rows import Row


def find(
    competition: Competition,
    split: Split,
    text: str,
    *,
    section: str = "",
    limit: int,
    at: datetime,
    sees_names: bool = False,
    people: Mapping[int, list[str]] | None = None,
) -> tuple[Row, ...]:
    """Ranked rows of the teams whose shown name contains a text, with their true ranks; of those with somebody of one
    section alone, also with their ranks among these. Callers ask as for `board`, and whether their reader may know of
    sections; `people` are the members of all teams where they know them."""
    ruler = competition.ground_truth
    if ruler is None:
        return ()
    ruler.competition = competition
    named = Q(team__pseudonym__icontains=text) if competition.uses_pseudonyms else Q(team__name__icontains=text)
    if sees_names:
        named |= Q(team__name__icontains=text)
    wanted = in_order(ruler, split).filter(named)
    is_there: Expression = Value(value=False, output_field=BooleanField())
    if section:
        of_section = Q(team__in=teams_of_section(competition, section))
        wanted, is_there = wanted.filter(of_section), ExpressionWrapper(of_section, BooleanField())
    standings = list(with_facts(wanted, ruler, split)[:limit])
    everybody = list(in_order(ruler, split).values_list("team_id", "sort_key", "received_at", is_there))
    rank, within = _ranks(everybody), _ranks(row for row in everybody if row[3])
    ranks = [rank[standing.team_id] for standing in standings]
    rows = ranked_rows(ruler, split, standings, ranks, at, doubts(ruler, split, standings), sees_names, people)
    return tuple(row if row.rank is None else replace(row, within=within.get(row.team_id)) for row in rows)


def _ranks(ordered: Iterable[tuple[Any, ...]]) -> dict[int, int]:
    """Team → rank among these, of which the first three of each are its team, sort key and receipt."""
    rows = list(ordered)
    return dict(zip((row[0] for row in rows), shared_ranks([row[1:3] for row in rows]), strict=True))


@dataclass(frozen=True)
class Sections:
    """Sections of the roster as a board knows them."""

    names: tuple[str, ...]
    """Those with a team on the board, sorted."""
    own: Mapping[int, str]
    """User → their section, whether or not their team is on the board."""
    members: Mapping[int, list[str]]
    """Team → the names of its accounts, which a board need not ask for again."""


def sections_on(ground_truth: GroundTruth, split: Split) -> Sections:
    """Callers ask as for `find`; one query."""
    here = ground_truth.competition_id
    entry = RosterEntry.objects.filter(competition=here, user=OuterRef("user")).order_by()
    ranked = Q(team__in=in_order(ground_truth, split).order_by().values("team"))
    people = Membership.objects.filter(competition=here).annotate(
        section=Subquery(entry.values("section")[:1]), is_ranked=ExpressionWrapper(ranked, BooleanField())
    )
    names, own, members = set(), {}, defaultdict(list)
    for team, user, name, section, is_ranked in people.values_list(
        "team_id", "user_id", "user__username", "section", "is_ranked"
    ):
        members[team].append(name)
        if section:
            own[user] = section
            names.update([section] if is_ranked else [])
    return Sections(tuple(sorted(names)), own, members)
