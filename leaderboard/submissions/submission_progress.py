"""Facts about one file for its team: steps, scores, effect on the board; and about the team's day."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from typing import NamedTuple

from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from leaderboard.boards import queries as boards
from leaderboard.boards import team_ranks
from leaderboard.boards.board_facts import Neighbour, neighbour_of
from leaderboard.boards.board_table import gap_text
from leaderboard.boards.charts import score_histogram
from leaderboard.boards.rows import Placing
from leaderboard.common import numbers
from leaderboard.common.queries import only_row
from leaderboard.competitions.access import PageContext
from leaderboard.competitions.models import GroundTruth, Score, Standing, Submission
from leaderboard.competitions.models.competition import Split

from . import allowances, converting
from .queries import QueueState, ShownScores, earlier_best_score, queue_state_of, shown_scores_of

ENDS = {
    "pending": gettext_lazy("pending"),
    "scored": gettext_lazy("scored"),
    "invalid": gettext_lazy("invalid"),
    "failed": gettext_lazy("failed"),
}


class Step(NamedTuple):
    """One step of a file; `state` is `done`, `current`, `failed` or `todo`."""

    label: str
    state: str
    detail: str = ""


@dataclass(frozen=True)
class BoardComparison:
    """A public score compared with the team's best earlier one and with the public board."""

    difference: float | None = None
    """Difference to the earlier best; positive is better, whatever the metric's direction. None for a first score."""
    gain: str = ""
    """Signed difference of the scores with the board's decimals; "0" for equal ones, "" for a first score."""
    is_personal_best: bool = False
    placing: Placing | None = None
    """Rank of the file's team, which for hosts is not their own."""
    rank_before: int | None = None
    """Rank without this file on the board as it is now; None after the reveal."""
    ranks_won: int = 0
    """Ranks gained by this file, negative when lost."""
    next_better: Neighbour | None = None
    """The team before this one on the board."""
    histogram: str = ""
    """Histogram of the board's scores with a mark for this file."""


@dataclass(frozen=True)
class SubmissionProgress:
    """One file as its team sees it now."""

    submission: Submission
    scores: ShownScores
    comparison: BoardComparison
    queue: QueueState | None
    """None once the file is final."""
    conversion: converting.ConversionOffer | None
    same_as: Submission | None
    """The team's first file with the same bytes, if it came before this one."""
    is_off_board: bool
    """Whether the file is hidden or its team disqualified."""
    is_score_hidden: bool
    """Whether the file has a score that its team may not see before the reveal."""
    steps: tuple[Step, ...]
    summary: str
    """The result in one sentence, for screen readers."""

    @property
    def is_over(self) -> bool:
        return self.queue is None

    @property
    def is_ranked_by_another(self) -> bool:
        return _is_ranked_by_another(self.submission, self.comparison.placing)

    @property
    def seen(self) -> str:
        """A text that changes whenever the page would look different; a poll that sends it back gets 204."""
        facts = astuple(self.queue) if self.queue else ()
        return "-".join(map(str, (self.submission.status, self.submission.is_slow, *facts)))


def progress_of(page_context: PageContext, submission: Submission) -> SubmissionProgress:
    is_pending = submission.status == Submission.Status.PENDING
    team = submission.team
    is_off_board = submission.hidden_at is not None or (team is not None and team.disqualified_at is not None)
    scores = ShownScores() if is_pending else shown_scores_of(page_context, [submission])[submission.pk]
    comparison = BoardComparison()
    if (ground_truth := page_context.competition.ground_truth) and scores.public:
        comparison = _compare_scores(page_context, submission, ground_truth, scores.public, is_off_board=is_off_board)
    queue = queue_state_of(submission, page_context.at) if is_pending else None
    is_score_hidden = submission.status == Submission.Status.SCORED and not page_context.sees_public
    return SubmissionProgress(
        submission=submission,
        scores=scores,
        comparison=comparison,
        queue=queue,
        conversion=conversion_offered(page_context, submission),
        same_as=_first_twin(submission),
        is_off_board=is_off_board,
        is_score_hidden=is_score_hidden,
        steps=_steps_of(submission, ground_truth, queue, comparison.placing, is_off_board=is_off_board),
        summary=_summary_text(submission, scores.public, comparison.placing, is_score_hidden=is_score_hidden),
    )


def conversion_offered(page_context: PageContext, submission: Submission) -> converting.ConversionOffer | None:
    """The conversion offered for the file; None for other teams' files, or if none would help."""
    membership = page_context.membership
    if membership is None or membership.team_id != submission.team_id:
        return None
    return converting.offer_conversion(submission)


def _first_twin(submission: Submission) -> Submission | None:
    if not getattr(submission, "has_twin", True):
        return None
    twins = Submission.objects.with_same_bytes(submission.team_id, submission.sha256)
    return twins.filter(received_at__lt=submission.received_at).first()


def _compare_scores(
    page_context: PageContext, submission: Submission, ground_truth: GroundTruth, own: Score, *, is_off_board: bool
) -> BoardComparison:
    """Four queries at most. A file that is not ranked is not compared with the board."""
    team_id, sign = submission.team_id, ground_truth.sort_sign
    best = earlier_best_score(submission, ground_truth)
    difference = sign * (best.value - own.value) if best else None
    is_ranked = not submission.is_late and not is_off_board
    comparison = BoardComparison(
        difference=difference,
        gain=gap_text(own.value, best.value, page_context.competition.score_decimals) if best else "",
        is_personal_best=is_ranked and (difference or 0) > 0,
    )
    board = _public_board(ground_truth) if is_ranked else []
    if not board:
        placing = team_ranks.placing_of(team_id, ground_truth, Split.PUBLIC) if team_id else None
        return replace(comparison, placing=placing)
    values = [row.value for row in board]
    comparison = replace(comparison, histogram=score_histogram(ground_truth, Split.PUBLIC, values, own.value))
    standing = next((row for row in board if row.team_id == team_id), None)
    if standing is None:
        return comparison
    ranks = boards.shared_ranks([row.order for row in board])
    rank, rank_before = ranks[board.index(standing)], None
    if best and page_context.competition.revealed_at is None:
        order = (sign * best.value, best.submission.received_at)
        rank_before = 1 + sum(row.order < order for row in board if row.team_id != team_id)
    better = [
        (number, row.team_id) for number, row in zip(ranks, board, strict=True) if row.sort_key < standing.sort_key
    ]
    return replace(
        comparison,
        placing=Placing(rank, len(board), standing.value, str(standing.submission_id)),
        rank_before=rank_before,
        ranks_won=rank_before - rank if rank_before else 0,
        next_better=_neighbour(standing.value, *better[-1], ground_truth) if better else None,
    )


def _public_board(ground_truth: GroundTruth) -> list[Standing]:
    """The standings of the public board without their teams, which a large class would wait for; [] if it is hidden."""
    if boards.is_hidden(ground_truth, Split.PUBLIC):
        return []
    standings = boards.standings_in_order(ground_truth, Split.PUBLIC)
    return list(standings.only("team", "submission", "value", "sort_key", "received_at"))


def _neighbour(own_value: float, rank: int, team_id: int, ground_truth: GroundTruth) -> Neighbour | None:
    standings = boards.standings_in_order(ground_truth, Split.PUBLIC).select_related("team")
    standing = only_row(standings.filter(team=team_id))
    return None if standing is None else neighbour_of(own_value, rank, standing, ground_truth.competition)


def _steps_of(
    submission: Submission,
    ground_truth: GroundTruth | None,
    queue: QueueState | None,
    placing: Placing | None,
    *,
    is_off_board: bool,
) -> tuple[Step, ...]:
    status = Submission.Status
    uploaded = Step(_("Uploaded"), "done", filesizeformat(submission.size))
    number = ground_truth.rows if ground_truth else 0
    rows = ngettext("%(n)s row", "%(n)s rows", number) % {"n": f"{number:,}"} if number else ""
    ranked = Step(_("On the leaderboard"), "todo")
    if queue is not None:
        if queue.is_being_scored:
            return uploaded, Step(_("Checked"), "done", rows), Step(_("Scoring"), "current"), ranked
        ahead = _("%(n)s ahead of you") % {"n": queue.ahead} if queue.ahead else ""
        return uploaded, Step(_("Checked"), "current", ahead), Step(_("Scoring"), "todo"), ranked
    if submission.status == status.INVALID:
        number = len(submission.problems)
        problems = ngettext("%(n)s problem", "%(n)s problems", number) % {"n": number}
        return uploaded, Step(_("Checked"), "failed", problems), Step(_("Scored"), "todo"), ranked
    checked = Step(_("Checked"), "done", rows)
    if submission.status == status.FAILED:
        return uploaded, checked, Step(_("Not scored"), "failed"), ranked
    assert submission.finished_at is not None, "a scored file has a time"
    seconds = (submission.finished_at - submission.received_at).total_seconds()
    if submission.is_late or is_off_board:
        ranked = Step(_("Late, not ranked") if submission.is_late else _("Not on the leaderboard"), "done")
    else:
        by_other = _is_ranked_by_another(submission, placing)
        text = _("rank %(rank)s by your best file") if by_other else _("rank %(rank)s")
        ranked = Step(ranked.label, "done", text % {"rank": placing.rank} if placing else "")
    return uploaded, checked, Step(_("Scored"), "done", f"{seconds:.1f} s"), ranked


def _is_ranked_by_another(submission: Submission, placing: Placing | None) -> bool:
    """Whether the team has its rank by another file than this one."""
    return placing is not None and placing.submission_id != str(submission.pk)


def _summary_text(
    submission: Submission, public: Score | None, placing: Placing | None, *, is_score_hidden: bool
) -> str:
    if public is not None:
        facts = {
            "file": submission.file_name,
            "score": numbers.number_text(public.value, submission.competition.score_decimals),
        }
        if placing is None:
            return _("%(file)s scored %(score)s.") % facts
        place = {"rank": placing.rank, "total": placing.total}
        if _is_ranked_by_another(submission, placing):
            text = _("%(file)s scored %(score)s. Your best file has rank %(rank)s of %(total)s.")
            return text % {**facts, **place}
        return _("%(file)s scored %(score)s, rank %(rank)s of %(total)s.") % {**facts, **place}
    if is_score_hidden:
        return _("%(file)s: valid; scores are hidden until the end.") % {"file": submission.file_name}
    return f"{submission.file_name}: {ENDS[submission.status]}."


# --- the team's day ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TodayCard:
    """Facts for the card next to the form: attempts and rank of the viewer's team."""

    allowance: allowances.AttemptAllowance | None
    placing: Placing | None
    is_over: bool
    """Whether no file can be submitted any more."""


def today_card(page_context: PageContext, progress: SubmissionProgress | None = None) -> TodayCard:
    """The card of the viewer; `progress` saves the query for the rank if it is of a file of their team."""
    competition, membership, allowance = page_context.competition, page_context.membership, None
    placing = None
    if membership is not None:
        allowance = allowances.allowance_of(membership, page_context.at)
        if progress and progress.submission.team_id == membership.team_id and progress.comparison.placing:
            placing = progress.comparison.placing
        elif competition.ground_truth is not None and not page_context.is_disqualified:
            placing = team_ranks.placing_of(membership.team_id, competition.ground_truth, Split.PUBLIC)
    return TodayCard(
        allowance=allowance,
        placing=placing,
        is_over=page_context.state in ("closed", "revealed") and not competition.limits.allows_late,
    )
