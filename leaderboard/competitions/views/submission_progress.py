"""What became of a file, for its team: how far it is, what it scored, what it changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from django.db.models import F, Q, Subquery
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

import metrics
from leaderboard.common import numbers
from metrics.core.uncertainty import probability_better

from ..access import PageContext
from ..models import Score, Submission, Uncertainty
from ..models.competition import Split
from ..ranking import ladder as ladder_module
from ..ranking import rows as rows_module
from ..ranking import team_ranks
from ..services import submitting
from .shown_scores import NO_SCORES, SecondaryLine, ShownScores, shown_scores_of

PATIENCE = timedelta(seconds=60)
USUAL_WAIT = timedelta(seconds=10)
MISSING_SCORE_TEXTS = {
    "hidden": gettext_lazy("valid; scores are hidden until the end"),
    "late": gettext_lazy("late; its score is shown after the end"),
    "off_board": gettext_lazy("scored; on no board"),
    "unclear": gettext_lazy("no clear improvement"),
}
ENDS = {
    "pending": gettext_lazy("pending"),
    "scored": gettext_lazy("scored"),
    "invalid": gettext_lazy("invalid"),
    "failed": gettext_lazy("failed"),
}


@dataclass(frozen=True)
class ProgressStep:
    """One of the steps of a file; `state` is the class of its list item."""

    label: str
    state: str


@dataclass(frozen=True)
class EarlierBest:
    """The team's best among the files received before one: exact, or as its board shows it."""

    value: float
    received_at: datetime
    uncertainty: Uncertainty | None = None


@dataclass
class TodayCard:
    """The card next to the form: what the viewer's team has today. Read when first asked for."""

    page_context: PageContext

    @cached_property
    def allowance(self) -> submitting.AttemptAllowance | None:
        membership = self.page_context.membership
        return submitting.allowance_of(membership, self.page_context.at) if membership else None

    @property
    def is_over(self) -> bool:
        """Whether nothing can be handed in any more, today or later."""
        return (
            self.page_context.state in ("closed", "revealed") and not self.page_context.competition.limits.allows_late
        )

    @property
    def resets_in_time(self) -> bool:
        """Whether the next day's attempts come while the team may still hand in."""
        allowed = self.allowance
        return (
            allowed is None or self.page_context.competition.limits.allows_late or allowed.resets_at < allowed.closes_at
        )

    @cached_property
    def placing(self) -> rows_module.Placing | None:
        membership, ground_truth = self.page_context.membership, self.page_context.competition.ground_truth
        return (
            team_ranks.placing_of(membership.team_id, ground_truth, Split.PUBLIC)
            if membership and ground_truth
            else None
        )

    @property
    def best(self) -> float | None:
        return self.placing.value if self.placing else None


@dataclass
class SubmissionProgress:
    """One file as its team sees it now. Public scores alone: what is private goes through `private_score`."""

    page_context: PageContext
    submission: Submission
    today: TodayCard

    @property
    def is_over(self) -> bool:
        return self.submission.status != Submission.Status.PENDING

    @cached_property
    def is_being_scored(self) -> bool:
        lease = self.submission.lease_until
        return lease is not None and lease > self.page_context.at

    @cached_property
    def ahead(self) -> int:
        """Files that wait before this one, whoever's."""
        return Submission.objects.filter(
            status=Submission.Status.PENDING, received_at__lt=self.submission.received_at
        ).count()

    @cached_property
    def scorer_is_down(self) -> bool:
        """Waiting for long while no worker touched any file."""
        waits = not self.is_over and self.submission.received_at < self.page_context.at - PATIENCE
        return waits and not _somebody_scores(self.page_context.at)

    @property
    def takes_a_while(self) -> bool:
        """Longer than usual, so that its team wonders; where the scorer is down, other words say more."""
        waits = not self.is_over and self.submission.received_at < self.page_context.at - USUAL_WAIT
        return waits and not self.scorer_is_down

    @property
    def steps(self) -> list[ProgressStep]:
        labels = [_("Uploaded"), _("Checked"), _("Scoring"), _("On the board")]
        status = self.submission.status
        if status == Submission.Status.SCORED:
            done = 4
            off_board = _("On no board") if self.is_off_board else _("On the board")
            labels[2:] = [_("Scored"), _("Late, not ranked") if self.submission.is_late else off_board]
        elif status == Submission.Status.PENDING:
            done = 2 if self.is_being_scored else 1
        else:
            done = 1
        states = ["done"] * done + ["todo"] * (4 - done)
        if not self.is_over:
            states[done] = "current"
        return [ProgressStep(label, state) for label, state in zip(labels, states, strict=True)]

    @property
    def steps_done(self) -> float:
        """How far the bar goes, of 4."""
        return 2.5 if self.is_being_scored else 1.5

    @property
    def pause(self) -> str:
        """Between two polls: short while the score may come any moment, longer in a queue."""
        is_fresh = self.page_context.at - self.submission.received_at < timedelta(seconds=4)
        return "300ms" if is_fresh and self.ahead <= 5 else "1s"

    @property
    def seen(self) -> str:
        """Changes whenever the student would see a difference; a poll that brings it back gets no new text."""
        facts = (self.is_being_scored, self.ahead, self.scorer_is_down, self.takes_a_while, self.submission.is_slow)
        return "-".join([self.submission.status, *map(str, map(int, facts)), self.pause])

    @cached_property
    def own(self) -> ShownScores:
        return shown_scores_of([self.submission], self.page_context).get(str(self.submission.pk), NO_SCORES)

    @property
    def scores(self) -> Mapping[str, float]:
        return self.own.scores

    @property
    def secondary(self) -> tuple[SecondaryLine, ...]:
        """What the secondary metrics say, where the score itself is shown."""
        return self.own.secondary

    @cached_property
    def public_score(self) -> float | None:
        if self.ladder is not None:
            return self.scores.get("public")
        return next((row.value for row in self.rows if row.submission_id == self.submission.pk), None)

    @cached_property
    def ladder(self) -> ladder_module.Ladder | None:
        """How the board answers; None where the viewer sees exact scores."""
        return None if self.page_context.sees_exact else self.page_context.ladder

    @cached_property
    def answers(self) -> list[ladder_module.LadderAnswer]:
        """The board's answers to the team's files up to this one; none where exact scores are seen."""
        team_id = self.submission.team_id
        if self.ladder is None:
            return []
        answers = self.page_context.ladder_answers(team_id)
        here = [place for place, answer in enumerate(answers) if answer.submission_id == self.submission.pk]
        return answers[: here[0] + 1] if here else []

    @property
    def missing_score_reason(self) -> str:
        """Why a scored file has no public score to see: `hidden`, `late`, `off_board`, `unclear`; "" where it has or
        never had."""
        if self.ladder is None or self.submission.status != Submission.Status.SCORED:
            return ""
        if self.ladder.is_hidden:
            return "hidden"
        if self.submission.is_late:
            return "late"
        if self.is_off_board:
            return "off_board"
        return "unclear" if self.answers and not self.answers[-1].is_new else ""

    @property
    def is_off_board(self) -> bool:
        """Whether hosts took the file, or its whole team, from the boards."""
        return self.submission.hidden_at is not None or self.page_context.is_disqualified

    @property
    def shown(self) -> float | None:
        """The team's score on a steady board after this file."""
        return self.answers[-1].shown if self.answers else None

    @property
    def is_from_elsewhere(self) -> bool:
        """Whether no file of the team set that score: a member brought it along from another team."""
        return self.shown is not None and all(answer.shown != self.shown for answer in self.answers if answer.is_new)

    @property
    def bar(self) -> float | None:
        """What a file must beat to change that."""
        return self.ladder.bar_above(self.shown) if self.ladder and self.shown is not None else None

    @property
    def is_at_the_end(self) -> bool:
        """Whether not even a perfect file would be better by more than the step."""
        ladder, bar = self.ladder, self.bar
        if ladder is None or ladder.best is None or bar is None:
            return False
        return ladder.sign * ladder.best >= ladder.sign * bar

    @property
    def needs(self) -> str:
        """By how much, with the direction in which the metric is better."""
        return f"{'−' if self.ladder.sign > 0 else '+'}{self.ladder.step:.12g}" if self.ladder else ""

    @cached_property
    def rows(self) -> list[Score]:
        """The file's public score and the best one received before it, with their uncertainties, in one query. Where
        exact scores are not shown there are none."""
        ground_truth = self.page_context.competition.ground_truth
        if ground_truth is None or self.ladder is not None or self.submission.status != Submission.Status.SCORED:
            return []
        best_first = "value" if ladder_module.sign_of(ground_truth) > 0 else "-value"
        earlier = ladder_module.ranked_scores(ground_truth, Split.PUBLIC, teams=[self.submission.team_id or 0]).filter(
            submission__received_at__lt=self.submission.received_at
        )
        best = earlier.order_by(best_first, "submission__received_at").values("pk")[:1]
        rows = Score.objects.filter(Q(submission=self.submission.pk) | Q(pk=Subquery(best)))
        public = rows.filter(ground_truth=ground_truth, split=Split.PUBLIC)
        return list(public.select_related("submission", "uncertainty").defer("submission__problems"))

    @cached_property
    def earlier_best(self) -> EarlierBest | None:
        """The team's best public score among files received before this one."""
        if self.ladder is not None:
            found = [answer for answer in self.answers[:-1] if answer.is_new and answer.shown is not None]
            last = found[-1] if found else None
            return EarlierBest(last.shown or 0.0, last.received_at) if last else None
        best = next((row for row in self.rows if row.submission_id != self.submission.pk), None)
        return EarlierBest(best.value, best.submission.received_at, _uncertainty_of(best)) if best else None

    @cached_property
    def difference(self) -> float | None:
        """To the earlier best: positive is better, whatever the metric's direction."""
        ground_truth = self.page_context.competition.ground_truth
        if ground_truth is None or self.earlier_best is None or self.public_score is None:
            return None
        return -ladder_module.sign_of(ground_truth) * (self.public_score - self.earlier_best.value)

    @property
    def uncertainty(self) -> Uncertainty | None:
        """How sure the public score is. It follows from the exact score, so it is shown only with that."""
        mine = next((row for row in self.rows if row.submission_id == self.submission.pk), None)
        return _uncertainty_of(mine) if mine else None

    @cached_property
    def certainty(self) -> float | None:
        """How sure it is that the better of this file and the earlier best is the better one, from 0.5 to 1."""
        ground_truth, earlier = self.page_context.competition.ground_truth, self.earlier_best
        if (
            ground_truth is None
            or self.uncertainty is None
            or earlier is None
            or earlier.uncertainty is None
            or not self.difference
        ):
            return None
        direction = metrics.get(ground_truth.metric_key).direction
        chance = probability_better(direction, self.uncertainty.values, earlier.uncertainty.values)
        return chance if self.difference > 0 else 1 - chance

    @property
    def distance(self) -> float:
        return abs(self.difference or 0.0)

    @property
    def rank_before(self) -> int | None:
        """The rank without this file, among the boards as they are now; None after the reveal."""
        return self.placing.rank_before if self.placing else None

    @cached_property
    def placing(self) -> rows_module.Placing | None:
        """Where the file's team stands; a host looks at other teams than their own."""
        ground_truth, team_id = self.page_context.competition.ground_truth, self.submission.team_id
        if ground_truth is None or team_id is None:
            return None
        best = None if self.page_context.competition.revealed_at is not None else self.earlier_best
        earlier = (ladder_module.sign_of(ground_truth) * best.value, best.received_at) if best else None
        found = team_ranks.placing_of(team_id, ground_truth, Split.PUBLIC, earlier=earlier)
        if self.page_context.membership is not None and self.page_context.membership.team_id == team_id:
            self.today.placing = found
        return found

    @cached_property
    def same_as(self) -> Submission | None:
        """The team's first file with the same bytes, if it came before this one."""
        if not getattr(self.submission, "has_twin", True):
            return None
        found = Submission.objects.with_same_bytes(self.submission.team_id, self.submission.sha256)
        return found.filter(received_at__lt=self.submission.received_at).first()

    @property
    def words(self) -> str:
        """The end in one sentence, for screen readers."""
        name, status = self.submission.file_name, self.submission.status
        if status == Submission.Status.SCORED and self.public_score is not None:
            text = numbers.rounded_text if self.ladder else numbers.number_text
            what = {"file": name, "score": text(self.public_score)}
            if not self.placing:
                return _("%(file)s scored %(score)s.") % what
            place = {"rank": self.placing.rank, "total": self.placing.total}
            return _("%(file)s scored %(score)s, rank %(rank)s of %(total)s.") % {**what, **place}
        if self.missing_score_reason:
            return f"{name}: {MISSING_SCORE_TEXTS[self.missing_score_reason]}."
        return f"{name}: {ENDS[status]}."


def _uncertainty_of(score: Score) -> Uncertainty | None:
    return getattr(score, "uncertainty", None)


def _somebody_scores(at: datetime) -> bool:
    # Files refused at the door end in the moment of their receipt, without a worker.
    finished = Q(finished_at__gte=at - PATIENCE, finished_at__gt=F("received_at"))
    return Submission.objects.filter(finished | Q(lease_until__gte=at)).exists()
