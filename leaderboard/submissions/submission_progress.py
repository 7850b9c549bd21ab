"""Presentation of one file for its team: progress, scores, effect on the board."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import F, Q, Subquery
from django.template.defaultfilters import filesizeformat
from django.utils.functional import cached_property
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from leaderboard.boards import queries as boards
from leaderboard.boards import secondary, team_ranks
from leaderboard.boards.board_facts import Neighbour
from leaderboard.boards.board_table import gap_text
from leaderboard.boards.charts import score_histogram
from leaderboard.boards.rows import Placing
from leaderboard.boards.scores import ranked_scores, sign_of
from leaderboard.common import numbers
from leaderboard.competitions.access import PageContext
from leaderboard.competitions.models import Score, Standing, Submission
from leaderboard.competitions.models.competition import Split

from . import converting, submit_conditions

PATIENCE = timedelta(seconds=60)
USUAL_WAIT = timedelta(seconds=10)
ENDS = {
    "pending": gettext_lazy("pending"),
    "scored": gettext_lazy("scored"),
    "invalid": gettext_lazy("invalid"),
    "failed": gettext_lazy("failed"),
}


# --- the scores that a team may see -----------------------------------------------------------------------------


@dataclass(frozen=True)
class SecondaryLine:
    """One secondary metric of one file; `private` is None until the private board is open to the viewer."""

    secondary_metric: secondary.SecondaryMetric
    public: secondary.ShownSecondaryValue | None
    private: secondary.ShownSecondaryValue | None


@dataclass(frozen=True)
class ShownScores:
    """Scores of one file under the current ground truth (split → value), and its secondary metrics.

    `intervals`: split → text of the 95 % interval, "" if unknown.
    """

    scores: Mapping[str, float]
    intervals: Mapping[str, str]
    secondary: tuple[SecondaryLine, ...] = ()


NO_SCORES = ShownScores({}, {})


def shown_scores_of(submissions: Sequence[Submission], page_context: PageContext) -> dict[str, ShownScores]:
    """Submission → the scores that the viewer may see; files without any are left out. One query.

    Scores that the viewer may not see are not read.
    """
    ground_truth = page_context.competition.ground_truth
    if ground_truth is None or not page_context.sees_public:
        return {}
    secondary_metrics = secondary.secondary_metrics_of(ground_truth)
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    intervals: dict[str, dict[str, str]] = defaultdict(dict)
    values: dict[str, dict[str, tuple[secondary.ShownSecondaryValue, ...]]] = defaultdict(dict)
    splits = [Split.PUBLIC, Split.PRIVATE] if page_context.sees_private else [Split.PUBLIC]
    files = [submission.pk for submission in submissions]
    rows = Score.objects.filter(submission__in=files, ground_truth=ground_truth, split__in=splits)
    for row in rows.only("submission", "split", "value", "low", "high", "standard_error", "secondary"):
        key = str(row.submission_id)
        scores[key][row.split] = row.value
        intervals[key][row.split] = numbers.interval_text(row.low, row.high, row.standard_error)
        values[key][row.split] = secondary.shown_secondary_values(secondary_metrics, row.secondary)
    return {
        key: ShownScores(scores[key], intervals[key], _secondary_lines(secondary_metrics, values[key]))
        for key in scores
    }


def _secondary_lines(
    secondary_metrics: Sequence[secondary.SecondaryMetric],
    values: Mapping[str, tuple[secondary.ShownSecondaryValue, ...]],
) -> tuple[SecondaryLine, ...]:
    """One line for each secondary metric; () for a file without values for all of them."""
    public, private = values.get(Split.PUBLIC, ()), values.get(Split.PRIVATE, ())
    if len(public) != len(secondary_metrics):
        return ()
    has_private = len(private) == len(secondary_metrics)
    return tuple(
        SecondaryLine(secondary_metric, public[place], private[place] if has_private else None)
        for place, secondary_metric in enumerate(secondary_metrics)
    )


# --- one file and its team --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EarlierBest:
    """The team's best public score among the files received before this one."""

    value: float
    received_at: datetime


@dataclass
class TodayCard:
    """Facts for the card next to the form: attempts and rank of the viewer's team; read when first used."""

    page_context: PageContext

    @cached_property
    def allowance(self) -> submit_conditions.AttemptAllowance | None:
        membership = self.page_context.membership
        return submit_conditions.allowance_of(membership, self.page_context.at) if membership else None

    @property
    def is_over(self) -> bool:
        """Whether no file can be submitted any more."""
        is_closed = self.page_context.state in ("closed", "revealed")
        return is_closed and not self.page_context.competition.limits.allows_late

    @property
    def resets_in_time(self) -> bool:
        """Whether new attempts come before the team's deadline."""
        if self.allowance is None or self.page_context.competition.limits.allows_late:
            return True
        return self.allowance.resets_at < self.allowance.closes_at

    @cached_property
    def placing(self) -> Placing | None:
        membership, ground_truth = self.page_context.membership, self.page_context.competition.ground_truth
        if membership is None or ground_truth is None:
            return None
        return team_ranks.placing_of(membership.team_id, ground_truth, Split.PUBLIC)


class Step(NamedTuple):
    """One step of a file; `state` is `done`, `current`, `failed` or `todo`."""

    label: str
    state: str
    detail: str


@dataclass
class SubmissionProgress:
    """One file as its team sees it now. Uses public scores only; private ones come from `shown_scores_of`."""

    page_context: PageContext
    submission: Submission
    today: TodayCard

    @property
    def is_over(self) -> bool:
        return self.submission.status != Submission.Status.PENDING

    @cached_property
    def conversion(self) -> converting.ConversionOffer | None:
        """The conversion offered for the file; None for other teams' files, or if none would help."""
        membership = self.page_context.membership
        if membership is None or membership.team_id != self.submission.team_id:
            return None
        return converting.offer_conversion(self.submission)

    @cached_property
    def is_being_scored(self) -> bool:
        lease = self.submission.lease_until
        return lease is not None and lease > self.page_context.at

    @cached_property
    def ahead(self) -> int:
        """Number of pending files of all teams that were received before this one."""
        waiting = Submission.objects.filter(status=Submission.Status.PENDING)
        return waiting.filter(received_at__lt=self.submission.received_at).count()

    @cached_property
    def scorer_is_down(self) -> bool:
        """Whether the file has waited longer than `PATIENCE` while no worker has scored any file."""
        since = self.page_context.at - PATIENCE
        if self.is_over or self.submission.received_at >= since:
            return False
        # Files that are invalid at the upload have `finished_at` equal to `received_at`; no worker has seen them.
        finished = Q(finished_at__gte=since, finished_at__gt=F("received_at"))
        return not Submission.objects.filter(finished | Q(lease_until__gte=self.page_context.at)).exists()

    @property
    def takes_a_while(self) -> bool:
        """Whether the file has waited longer than `USUAL_WAIT`; False if the scorer is down, which the page says."""
        waits = not self.is_over and self.submission.received_at < self.page_context.at - USUAL_WAIT
        return waits and not self.scorer_is_down

    @property
    def steps(self) -> list[Step]:
        """The four steps of a file, with states and details."""
        file, status = self.submission, Submission.Status
        took = f"{(file.finished_at - file.received_at).total_seconds():.1f} s" if file.finished_at else ""
        rows = self.page_context.competition.ground_truth
        read = ngettext("%(n)s row", "%(n)s rows", rows.rows) % {"n": f"{rows.rows:,}"} if rows else ""
        labels = [_("Uploaded"), _("Checked"), _("Scoring"), _("On the leaderboard")]
        details = [filesizeformat(file.size), read, "", ""]
        states = ["done", "todo", "todo", "todo"]
        if file.status == status.SCORED:
            states = ["done"] * 4
            labels[2], details[2] = _("Scored"), took
            if file.is_late or self.is_off_board:
                labels[3] = _("Late, not ranked") if file.is_late else _("Not on the leaderboard")
            elif self.placing:
                details[3] = _("rank %(rank)s") % {"rank": self.placing.rank}
        elif file.status == status.INVALID:
            states[1], labels[2] = "failed", _("Scored")
            details[1] = ngettext("%(n)s problem", "%(n)s problems", len(file.problems)) % {"n": len(file.problems)}
        elif file.status == status.FAILED:
            states[1:3], labels[2] = ["done", "failed"], _("Not scored")
        elif self.is_being_scored:
            states[1:3] = ["done", "current"]
        else:
            states[1] = "current"
            details[1] = _("%(n)s ahead of you") % {"n": self.ahead} if self.ahead else ""
        return [Step(*step) for step in zip(labels, states, details, strict=True)]

    @property
    def pause(self) -> str:
        """Time between two polls: short for a new file with few before it, else longer."""
        is_fresh = self.page_context.at - self.submission.received_at < timedelta(seconds=4)
        return "300ms" if is_fresh and self.ahead <= 5 else "1s"

    @property
    def seen(self) -> str:
        """A text that changes whenever the page would look different; a poll that sends it back gets 204."""
        facts = (self.is_being_scored, self.ahead, self.scorer_is_down, self.takes_a_while, self.submission.is_slow)
        return "-".join([self.submission.status, *map(str, map(int, facts)), self.pause])

    @cached_property
    def own(self) -> ShownScores:
        return shown_scores_of([self.submission], self.page_context).get(str(self.submission.pk), NO_SCORES)

    @cached_property
    def public_score(self) -> float | None:
        return self._own_row.value if self._own_row else None

    @property
    def is_score_hidden(self) -> bool:
        """Whether the file has a score that its team may not see before the reveal."""
        return self.submission.status == Submission.Status.SCORED and not self.page_context.sees_public

    @property
    def is_off_board(self) -> bool:
        """Whether the file is hidden or its team disqualified."""
        return self.submission.hidden_at is not None or self.page_context.is_disqualified

    @cached_property
    def _rows(self) -> list[Score]:
        """The public scores of the file and of the best one received before it; one query. [] on a hidden board."""
        ground_truth = self.page_context.competition.ground_truth
        is_scored = self.submission.status == Submission.Status.SCORED
        if ground_truth is None or not is_scored or not self.page_context.sees_public:
            return []
        best_first = "value" if sign_of(ground_truth) > 0 else "-value"
        earlier = ranked_scores(ground_truth, Split.PUBLIC, teams=[self.submission.team_id or 0]).filter(
            submission__received_at__lt=self.submission.received_at
        )
        best = earlier.order_by(best_first, "submission__received_at").values("pk")[:1]
        rows = Score.objects.filter(Q(submission=self.submission.pk) | Q(pk=Subquery(best)))
        public = rows.filter(ground_truth=ground_truth, split=Split.PUBLIC)
        return list(public.select_related("submission").defer("submission__problems"))

    @property
    def _own_row(self) -> Score | None:
        return next((row for row in self._rows if row.submission_id == self.submission.pk), None)

    @cached_property
    def earlier_best(self) -> EarlierBest | None:
        """The team's best public score among files received before this one."""
        best = next((row for row in self._rows if row.submission_id != self.submission.pk), None)
        return EarlierBest(best.value, best.submission.received_at) if best else None

    @cached_property
    def difference(self) -> float | None:
        """Difference to the earlier best; positive is better, whatever the metric's direction."""
        ground_truth = self.page_context.competition.ground_truth
        if ground_truth is None or self.earlier_best is None or self.public_score is None:
            return None
        return -sign_of(ground_truth) * (self.public_score - self.earlier_best.value)

    @cached_property
    def placing(self) -> Placing | None:
        """Rank of the file's team, which for hosts is not their own.

        `rank_before` is the rank without this file on the board as it is now; None after the reveal.
        """
        ground_truth, team_id = self.page_context.competition.ground_truth, self.submission.team_id
        if ground_truth is None or team_id is None:
            return None
        is_over = self.page_context.competition.revealed_at is not None
        best = None if is_over else self.earlier_best
        earlier = (sign_of(ground_truth) * best.value, best.received_at) if best else None
        mine = next((row for row in self._board if row.team_id == team_id), None)
        found = None
        if mine is not None:
            before = [row for row in self._board if row.team_id != team_id and earlier and _key(row) < earlier]
            found = Placing(
                rank=self._ranks[self._board.index(mine)],
                total=len(self._board),
                value=mine.value,
                submission_id=str(mine.submission_id),
                rank_before=1 + len(before) if earlier else None,
            )
        elif not self._board:
            found = team_ranks.placing_of(team_id, ground_truth, Split.PUBLIC, earlier=earlier)
        if self.page_context.membership is not None and self.page_context.membership.team_id == team_id:
            self.today.placing = found
        return found

    @property
    def is_personal_best(self) -> bool:
        """Whether the file is better than the team's earlier best and is ranked."""
        return bool(self.difference and self.difference > 0 and not self.submission.is_late and not self.is_off_board)

    @property
    def gain(self) -> str:
        """Signed difference to the earlier best score as text, with three digits."""
        if self.earlier_best is None or self.public_score is None:
            return ""
        return gap_text(self.public_score, self.earlier_best.value) or "0"

    @property
    def ranks_won(self) -> int:
        """Ranks gained by this file, negative when lost."""
        found = self.placing
        return found.rank_before - found.rank if found and found.rank_before else 0

    @cached_property
    def _board(self) -> list[Standing]:
        """The standings of the public board; [] if the file is not ranked or the board is hidden."""
        ground_truth = self.page_context.competition.ground_truth
        if ground_truth is None or self.public_score is None or self.submission.is_late or self.is_off_board:
            return []
        in_order = boards.standings_in_order(ground_truth, Split.PUBLIC).select_related("team")
        return [] if boards.is_hidden(ground_truth, Split.PUBLIC) else list(in_order)

    @cached_property
    def _ranks(self) -> list[int]:
        return boards.shared_ranks([*map(boards.rank_order, self._board)])

    @cached_property
    def next_better(self) -> Neighbour | None:
        """The team before this one on the public board."""
        ground_truth, own = self.page_context.competition.ground_truth, self.placing
        if ground_truth is None or own is None:
            return None
        before = [(rank, row) for rank, row in zip(self._ranks, self._board, strict=True) if rank < own.rank]
        if not before:
            return None
        rank, row = before[-1]
        row.team.competition = self.page_context.competition
        return Neighbour(rank, row.team.shown_name, row.value, abs(row.value - own.value))

    @cached_property
    def histogram(self) -> SafeString:
        """Histogram of the public board's scores with a mark for this file."""
        ground_truth = self.page_context.competition.ground_truth
        if ground_truth is None or not self._board:
            return SafeString()
        return score_histogram(ground_truth, Split.PUBLIC, [row.value for row in self._board], self.public_score)

    @cached_property
    def same_as(self) -> Submission | None:
        """The team's first file with the same bytes, if it came before this one."""
        if not getattr(self.submission, "has_twin", True):
            return None
        found = Submission.objects.with_same_bytes(self.submission.team_id, self.submission.sha256)
        return found.filter(received_at__lt=self.submission.received_at).first()

    @property
    def words(self) -> str:
        """The result in one sentence, for screen readers."""
        name, status = self.submission.file_name, self.submission.status
        if status == Submission.Status.SCORED and self.public_score is not None:
            what = {"file": name, "score": numbers.number_text(self.public_score)}
            if not self.placing:
                return _("%(file)s scored %(score)s.") % what
            place = {"rank": self.placing.rank, "total": self.placing.total}
            return _("%(file)s scored %(score)s, rank %(rank)s of %(total)s.") % {**what, **place}
        if self.is_score_hidden:
            return _("%(file)s: valid; scores are hidden until the end.") % {"file": name}
        return f"{name}: {ENDS[status]}."


def _key(row: Standing) -> tuple[float, datetime]:
    return row.sort_key, row.received_at
