"""Hosts' list of teams: counts of files by outcome, best public score even of a hidden board, extensions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet

from leaderboard.boards import queries as boards
from leaderboard.boards import standings
from leaderboard.boards.scores import sign_of
from leaderboard.competitions.models import Competition, Extension, Membership, Submission, Team
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.models.extension import EffectiveLimits

from .models import name_on_roster

Status = Submission.Status


@dataclass(frozen=True)
class TeamLine:
    """One team with counts of its files by outcome, its best public score (`best`) and its limits."""

    team: Team
    memberships: tuple[Membership, ...]
    files: int
    scored: int
    invalid: int
    failed: int
    last_at: datetime | None
    best: float | None
    effective_limits: EffectiveLimits
    has_extension: bool

    @property
    def members(self) -> list[str]:
        """Names of the members: “name on the roster (user name)”, or the user name only."""
        names = [(one.user.get_username(), getattr(one, "listed_as", None)) for one in self.memberships]
        return [f"{listed_as} ({username})" if listed_as else username for username, listed_as in names]


@dataclass(frozen=True)
class TeamsBelowBaseline:
    """A baseline, its public score, and the teams whose best public score is worse."""

    name: str
    pk: int
    value: float
    teams: frozenset[int]

    @property
    def key(self) -> str:
        """The value of `?show=` that lists these teams."""
        return f"below-{self.pk}"


def team_lines(teams: Sequence[Team], competition: Competition, day: date) -> list[TeamLine]:
    """Lines for these teams, in their order. Four queries."""
    keys = [team.pk for team in teams]
    members: dict[int | None, list[Membership]] = defaultdict(list)
    held = Membership.objects.filter(team__in=keys).select_related("user").annotate(listed_as=name_on_roster())
    for membership in held:
        members[membership.team_id].append(membership)
    counted = Submission.objects.filter(team__in=keys).order_by().values("team_id")
    counted = counted.annotate(
        files=Count("pk"),
        scored=Count("pk", filter=Q(status=Status.SCORED)),
        invalid=Count("pk", filter=Q(status=Status.INVALID)),
        failed=Count("pk", filter=Q(status=Status.FAILED)),
        last_at=Max("received_at"),
    )
    facts: dict[int | None, dict[str, Any]] = {}
    for row in counted:
        facts[row["team_id"]] = {name: value for name, value in row.items() if name != "team_id"}
    best = best_public_scores(competition, keys)
    extensions: dict[int, list[Extension]] = defaultdict(list)
    for extension in Extension.objects.active().filter(team__in=keys):
        extensions[extension.team_id].append(extension)
    nothing: dict[str, Any] = {"files": 0, "scored": 0, "invalid": 0, "failed": 0, "last_at": None}
    return [
        TeamLine(
            team=team,
            memberships=tuple(members[team.pk]),
            best=best.get(team.pk),
            effective_limits=EffectiveLimits.from_extensions(competition, extensions[team.pk]),
            has_extension=bool(extensions[team.pk]),
            **facts.get(team.pk, nothing),
        )
        for team in teams
    ]


def best_public_scores(competition: Competition, teams: Sequence[int] | None = None) -> dict[int, float]:
    """Team → best public score among its files that can be ranked."""
    ground_truth = competition.ground_truth
    if ground_truth is None:
        return {}
    ground_truth.competition = competition
    return standings.best_values(ground_truth, teams=teams)


def teams_below_baselines(
    competition: Competition, best: Mapping[int, float] | None = None
) -> list[TeamsBelowBaseline]:
    """For each scored baseline, best first, the teams that are worse; teams without a score are left out.

    `best` is the result of `best_public_scores`, if the caller has it already.
    """
    ground_truth = competition.ground_truth
    if ground_truth is None:
        return []
    sign = sign_of(ground_truth)
    scored = boards.reference_scores(competition.pk, Split.PUBLIC).filter(ground_truth=ground_truth)
    found = scored.values_list("submission__baseline__name", "submission__baseline", "value")
    baselines = sorted(found, key=lambda row: sign * row[2])
    if best is None:
        best = best_public_scores(competition) if baselines else {}
    return [
        TeamsBelowBaseline(name, pk, value, frozenset(team for team, its in best.items() if sign * its > sign * value))
        for name, pk, value in baselines
        if name is not None and pk is not None
    ]


def teams_without_valid_file(competition: Competition) -> QuerySet[Team]:
    """Teams without a scored file so far, disqualified ones left out; waiting files may still be scored."""
    scored = Submission.objects.filter(team=OuterRef("pk"), status=Status.SCORED)
    return competition.teams.filter(~Exists(scored), disqualified_at=None)
