"""What the public board says of a team's scores before the reveal: all digits, clear improvements, or nothing.

A steady board is the Ladder of Blum and Hardt (2015): each file is answered by the score that its team is shown after
it. Who asks often learns little, because all files that are no clear improvement get the same answer. A hidden board is
a ladder without rungs: the first file is answered by “valid”, and so is every other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Context, Decimal, Inexact, InvalidOperation
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.functional import cached_property

import metrics

from ..models import BoardSettings, Competition, GroundTruth, Score, Standing, Submission, Team
from ..models.competition import Split
from ..models.team_history import TeamChange

NO_STEP = math.inf
# The largest number and the smallest are 632 digits apart: nothing is ever rounded on the way.
EXACT = Context(prec=1400, Emin=-9999, Emax=9999, traps=[Inexact, InvalidOperation])
IN_ONE_QUERY = 5000


@dataclass(frozen=True)
class Ladder:
    """How a board answers. `sign` is +1 where lower is better; `best` is the end of the scale."""

    step: float
    sign: float
    best: float | None = None

    @property
    def is_hidden(self) -> bool:
        return self.step == NO_STEP

    def answers(self, scores: Iterable[float]) -> Iterator[tuple[float, bool]]:
        """For each exact score in order of receipt: the score shown after it, and whether it is a new one."""
        shown, bar = 0.0, math.inf
        for score in scores:
            is_new = self.sign * score < bar
            if is_new:
                shown = self.rounded(score)
                bar = self.sign * self.bar_above(shown)
            yield shown, is_new

    def rounded(self, score: float) -> float:
        """The best multiple of the step that the score has reached, so that nothing is shown that no file scored; 0 on
        a hidden board."""
        if self.is_hidden:
            return 0.0
        rungs, rest = EXACT.divmod(Decimal(repr(score)), self._step_number)
        if rest and (rest > 0) == (self.sign > 0):
            rungs = EXACT.add(rungs, int(self.sign))
        shown = float(EXACT.multiply(rungs, self._step_number)) + 0.0  # never -0.0
        return shown if math.isfinite(shown) else score  # the largest numbers there are

    def bar_above(self, shown: float) -> float:
        """What the next score must be better than. Exact to the last digit, so that 0.87 is 0.03 more than 0.84."""
        if self.is_hidden:
            return -self.sign * math.inf
        return float(EXACT.subtract(Decimal(repr(shown)), EXACT.multiply(self._step_number, int(self.sign))))

    @cached_property
    def _step_number(self) -> Decimal:
        # The decimal number as written, not the nearest binary one.
        return Decimal(repr(self.step))


@dataclass(frozen=True)
class LadderAnswer:
    """What the board answers to a team about one of its files. `shown` is the team's score after it, None on a hidden
    board."""

    submission_id: UUID
    received_at: datetime
    shown: float | None
    is_new: bool


class Improvement(NamedTuple):
    """The file of a team's last clear improvement, and the score shown since; 0 on a hidden board."""

    team_id: int
    submission_id: UUID
    received_at: datetime
    shown: float


def sign_of(ground_truth: GroundTruth) -> float:
    """+1 where a lower value is better, −1 where a higher one is."""
    try:
        return 1.0 if metrics.get(ground_truth.metric_key).direction == "minimize" else -1.0
    except metrics.UnknownMetric:
        # A metric's file from outside is gone, and every copy of it: the board stays as it was.
        known = Standing.objects.filter(ground_truth=ground_truth).exclude(value=0.0).first()
        return math.copysign(1.0, known.sort_key / known.value) if known else -1.0


def ladder_of(ground_truth: GroundTruth) -> Ladder | None:
    """How the public board answers now; None while it shows exact scores: on a plain board, and after the reveal."""
    competition = ground_truth.competition
    if competition.board_is_exact:
        return None
    return Ladder(step_of(competition, ground_truth), sign_of(ground_truth), _best_of(ground_truth))


def _best_of(ground_truth: GroundTruth) -> float | None:
    try:
        best = metrics.get(ground_truth.metric_key).best_with(ground_truth.params)
    except metrics.UnknownMetric:
        return None
    return best if math.isfinite(best) else None


def step_of(competition: Competition, ground_truth: GroundTruth) -> float:
    """What the host wrote, else what the ground truth proposes. A steady board that has neither shows nothing, so that
    it never shows too much."""
    if competition.board.mode == BoardSettings.Mode.HIDDEN:
        return NO_STEP
    return competition.board.step or ground_truth.step or NO_STEP


def last_improvements(ground_truth: GroundTruth, ladder: Ladder) -> Iterator[Improvement]:
    """Each team's last clear improvement, on a hidden board its first file. Follows from scores and receipts alone,
    whenever a file was scored.

    Only the columns needed to find the improvements are read of all files, the rest only of the improvements.
    """
    linked = teams_with_moves(ground_truth)
    rows = in_order_of_receipt(ground_truth).values_list("submission__team_id", "pk", "value")
    ends = {}
    for team_id, files in groupby(rows.iterator(chunk_size=5000), key=itemgetter(0)):
        if team_id in linked:
            continue
        mine = list(files)
        climbed = zip(mine, ladder.answers(value for *_, value in mine), strict=True)
        pk, shown = [(pk, shown) for (_, pk, _), (shown, is_new) in climbed if is_new][-1]
        ends[pk] = shown
    keys = list(ends)
    for first in range(0, len(keys), IN_ONE_QUERY):
        found = Score.objects.filter(pk__in=keys[first : first + IN_ONE_QUERY]).order_by()
        facts = found.values_list("pk", "submission__team_id", "submission_id", "submission__received_at")
        for pk, team_id, submission_id, received_at in facts:
            assert team_id is not None, "baselines climb no ladder"
            yield Improvement(team_id, submission_id, received_at, ends[pk])
    if linked:
        yield from linked_improvements(ground_truth, ladder, linked)


def linked_improvements(
    ground_truth: GroundTruth, ladder: Ladder, teams: Iterable[int], *, before: datetime | None = None
) -> Iterator[Improvement]:
    """The same for teams between which people have moved; teams that no file has brought onto the board are left out.
    With `before`, of files received until then."""
    best: dict[int, Improvement] = {}
    for file, shown, is_new in linked_answers(ground_truth, ladder, teams, before=before):
        held = best.get(file.team_id)
        if is_new and (held is None or ladder.sign * shown < ladder.sign * held.shown):
            best[file.team_id] = Improvement(file.team_id, file.submission_id, file.received_at, shown)
    yield from best.values()


def linked_answers(
    ground_truth: GroundTruth, ladder: Ladder, teams: Iterable[int], *, before: datetime | None = None
) -> list[tuple[ScoredFile, float, bool]]:
    """What the board says of the files of all teams that are linked with these, in order of receipt."""
    origins = origins_of(ground_truth)
    linked = linked_teams(origins, teams)
    rows = ranked_scores(ground_truth, Split.PUBLIC, teams=linked)
    if before is not None:
        rows = rows.filter(submission__received_at__lt=before)
    facts = ("submission__received_at", "submission_id", "submission__team_id", "submission__former_team", "value")
    files = [
        ScoredFile(received_at, submission_id, team_id, former or team_id, value)
        for received_at, submission_id, team_id, former, value in rows.order_by().values_list(*facts)
        if team_id is not None
    ]
    return list(replay_transfers(ladder, files, origins))


def teams_with_moves(ground_truth: GroundTruth) -> set[int]:
    """The teams that somebody came to or from; one query."""
    return {number for origin in origins_of(ground_truth) for number in (origin.team, origin.former)}


def origins_of(ground_truth: GroundTruth) -> list[Origin]:
    """Who came from where in the competition of a ground truth; one query."""
    rows = TeamChange.objects.filter(competition=ground_truth.competition_id).order_by("at", "pk")
    return [Origin(*row) for row in rows.values_list("team", "former", "at")]


def answers_to(team: Team | int, ground_truth: GroundTruth, ladder: Ladder) -> list[LadderAnswer]:
    """One team's answers in order of receipt."""
    key = team if isinstance(team, int) else team.pk
    if key in teams_with_moves(ground_truth):
        found = linked_answers(ground_truth, ladder, [key])
        return [
            LadderAnswer(file.submission_id, file.received_at, None if ladder.is_hidden else shown, is_new)
            for file, shown, is_new in found
            if file.team_id == key
        ]
    rows = in_order_of_receipt(ground_truth, teams=[key])
    mine = list(rows.values_list("submission_id", "submission__received_at", "value"))
    climbed = zip(mine, ladder.answers(value for *_, value in mine), strict=True)
    return [
        LadderAnswer(submission_id, received_at, None if ladder.is_hidden else shown, is_new)
        for (submission_id, received_at, _), (shown, is_new) in climbed
    ]


def in_order_of_receipt(ground_truth: GroundTruth, *, teams: Iterable[int] | None = None) -> QuerySet[Score]:
    """The public scores that can stand on a board, team by team as a ladder is climbed."""
    rows = ranked_scores(ground_truth, Split.PUBLIC, teams=teams)
    return rows.order_by("submission__team_id", "submission__received_at", "submission_id")


def shown_scores(team: Team | int | None, ground_truth: GroundTruth | None) -> dict[str, float] | None:
    """Submission → the public score that its team may be shown for it, where it set one; None where exact scores are
    shown. Whoever shows a public score to a student asks here first."""
    ladder = ladder_of(ground_truth) if ground_truth else None
    if ground_truth is None or ladder is None:
        return None
    answers = answers_to(team, ground_truth, ladder) if team is not None else []
    return {str(one.submission_id): one.shown for one in answers if one.is_new and one.shown is not None}


def ranked_files(of: str = "") -> Q:
    """Which files of a team a board counts, for a query of files or for one that knows them as `of`; as `ranked_scores`
    says of scores."""
    facts = {"status": Submission.Status.SCORED, "is_late": False, "hidden_at": None}
    return Q(**{f"{of}__{name}" if of else name: value for name, value in facts.items()})


def ranked_scores(
    ground_truth: GroundTruth, split: Split, *, teams: Iterable[int] | QuerySet[Any, Any] | None = None
) -> QuerySet[Score]:
    """The scores that can stand on a board: of teams that are not disqualified, received in time and not hidden. With
    `teams`, of these alone: keys, or a query for them.

    The files of a few teams are named in a subquery: a plain join is planned through every score of the ground truth.
    """
    scores = Score.objects.all()
    if teams is not None:
        named = teams if isinstance(teams, QuerySet) else list(teams)
        scores = scores.filter(submission__in=Submission.objects.filter(team__in=named).order_by().values("pk"))
    return scores.filter(
        ground_truth=ground_truth,
        split=split,
        submission__team__isnull=False,
        submission__status=Submission.Status.SCORED,
        submission__is_late=False,
        submission__hidden_at=None,
        submission__team__disqualified_at=None,
    )


class Origin(NamedTuple):
    """At a moment, a member of the team `former` came to `team`."""

    team: int
    former: int
    at: datetime


class ScoredFile(NamedTuple):
    """A file with its exact public score. `by` is the team that handed it in, which may be part of `team_id` by now."""

    received_at: datetime
    submission_id: UUID
    team_id: int
    by: int
    value: float


def replay_transfers(
    ladder: Ladder, files: Iterable[ScoredFile], origins: Iterable[Origin]
) -> Iterator[tuple[ScoredFile, float, bool]]:
    """For each file in order of receipt: the best score that its team has been shown after it, and whether it set it.

    A hidden board shows no score, so nothing follows anybody: the first file of each team is the new one.
    """
    shown: dict[int, float] = {}
    moves = [] if ladder.is_hidden else [(origin.at, 0, origin.team, origin.former, None) for origin in origins]
    steps = [*moves, *((file.received_at, 1, file.submission_id.int, 0, file) for file in files)]
    for _, _, team, former, file in sorted(steps, key=lambda step: step[:4]):
        if file is None:
            # The better of the two shown scores holds for the team from now on.
            known = [shown[one] for one in (team, former) if one in shown]
            if known:
                shown[team] = min(known, key=lambda score: ladder.sign * score)
            continue
        bar = ladder.bar_above(shown[file.by]) if file.by in shown else None
        is_new = bar is None or ladder.sign * file.value < ladder.sign * bar
        if is_new:
            shown[file.by] = ladder.rounded(file.value)
        yield file, shown[file.by], is_new


def linked_teams(origins: Sequence[Origin], teams: Iterable[int]) -> set[int]:
    """These teams and all that people have come from or gone to, over any number of teams between."""
    found, grown = set(teams), True
    while grown:
        before = len(found)
        for origin in origins:
            if origin.team in found or origin.former in found:
                found |= {origin.team, origin.former}
        grown = len(found) > before
    return found
