"""Grading rules: which score is worth how many points. Validated here; saved by the host, or proposed by the site."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.boards.queries import baseline_scores
from leaderboard.boards.scores import sign_of
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.common.numbers import MIN_DECIMALS, number_text
from leaderboard.competitions.models import Competition
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.services import CannotHost

from .models import GradeRules

MAX_STEPS = 12
MAX_POINTS = 10_000.0
MAX_DECIMALS = 3


class GradingMethod(StrEnum):
    """The way in which a score becomes points."""

    LINEAR = "linear"
    THRESHOLDS = "thresholds"
    PERCENTILE = "percentile"
    PARTICIPATION = "participation"


class BadRules(Exception):
    """Invalid rules; `faults` are sentences for the host."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__(" ".join(faults))
        self.faults = list(faults)


@dataclass(frozen=True)
class GradeStep:
    """Points for reaching a baseline (by name), a score, or the best `top` percent of the teams."""

    points: float
    baseline: str = ""
    score: float | None = None
    top: float | None = None


@dataclass(frozen=True)
class GradingRules:
    """The grading rules of a competition.

    `late_percent` is taken off for each day begun after the deadline; None means that late files do not count.
    """

    method: str = GradingMethod.LINEAR
    steps: tuple[GradeStep, ...] = ()
    max_points: float = 100.0
    minimum: float = 0.0
    decimals: int = 1
    participation_points: float = 0.0
    participation_files: int = 1
    late_percent: float | None = None
    none_is_zero: bool = False
    title: str = ""

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> GradingRules:
        """Rules from the JSON of `as_json`, or from a form. Raises `BadRules` with all faults."""
        steps = tuple(GradeStep(**step) for step in values.get("steps", ()))
        rules = cls(**{**values, "steps": steps})
        if faults := rules.find_faults():
            raise BadRules(faults)
        return rules

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "steps": [asdict(step) for step in self.steps]}

    def find_faults(self) -> list[str]:
        """Sentences about everything invalid in the rules, without looking at baselines; empty if they are valid."""
        faults = self._number_faults()
        if self.method not in list(GradingMethod):
            faults.append(_("Choose how scores become points."))
        elif self.method != GradingMethod.PARTICIPATION and not self.steps:
            faults.append(_("Add at least one row with a score and its points."))
        if len(self.steps) > MAX_STEPS:
            faults.append(_("Use at most %(number)s rows.") % {"number": MAX_STEPS})
        for step in self.steps:
            facts = {"points": plain_number_text(step.points)}
            faults += [_("Row with %(points)s points: ") % facts + text for text in self._step_faults(step)]
        return faults

    def _number_faults(self) -> list[str]:
        late = 0.0 if self.late_percent is None else self.late_percent
        numbers = (self.max_points, self.minimum, self.participation_points, late)
        if not all(math.isfinite(number) for number in numbers):
            return [_("Enter ordinary numbers.")]
        limit = {"most": plain_number_text(MAX_POINTS)}
        checks = (
            (0 < self.max_points <= MAX_POINTS, _("The maximum must be above 0 and no more than %(most)s.") % limit),
            (0 <= self.minimum <= self.max_points, _("The minimum must be between 0 and the maximum.")),
            (
                0 <= self.participation_points <= self.max_points,
                _("Participation points must be between 0 and the maximum."),
            ),
            (1 <= self.participation_files <= 1000, _("Participation must need between 1 and 1000 valid submissions.")),
            (0 <= late <= 100, _("A late day must cost between 0 and 100 percent.")),
            (0 <= self.decimals <= MAX_DECIMALS, _("Decimal places must be between 0 and 3.")),
        )
        return [text for holds, text in checks if not holds]

    def _step_faults(self, step: GradeStep) -> list[str]:
        faults = []
        if not (math.isfinite(step.points) and 0 <= step.points <= self.max_points):
            faults.append(_("points must be between 0 and the maximum."))
        if self.method == GradingMethod.PERCENTILE:
            if step.top is None or not 0 < step.top <= 100:
                faults.append(_("enter a share of teams above 0 and up to 100 percent."))
        elif bool(step.baseline) == (step.score is not None):
            faults.append(_("choose a baseline or enter a score."))
        elif step.score is not None and not math.isfinite(step.score):
            faults.append(_("the score must be an ordinary number."))
        return faults


def plain_number_text(value: float) -> str:
    """A score or points with up to six significant digits: 0.875, 100."""
    return f"{value:.6g}"


@dataclass(frozen=True)
class Anchor:
    """A step with its score, and its label: a baseline with its score, or only the score."""

    label: str
    score: float
    points: float


def anchors_of(
    rules: GradingRules, baselines: Mapping[str, float | None], *, higher_is_better: bool, decimals: int = MIN_DECIMALS
) -> tuple[Anchor, ...]:
    """The steps of linear and threshold rules with their scores, worst score first; () for other methods.

    Raises `BadRules` for a baseline that was deleted or has no score, and if a better score would be worth less.
    """
    if rules.method not in (GradingMethod.LINEAR, GradingMethod.THRESHOLDS):
        return ()
    faults = [
        _("The baseline “%(name)s” no longer exists or has no score yet.") % {"name": step.baseline}
        for step in rules.steps
        if step.baseline and baselines.get(step.baseline) is None
    ]
    if faults:
        raise BadRules(faults)
    anchors = []
    for step in rules.steps:
        score = baselines[step.baseline] if step.baseline else step.score
        assert score is not None, "checked before"
        label = f"{step.baseline} {number_text(score, decimals)}" if step.baseline else plain_number_text(score)
        anchors.append(Anchor(label, score, step.points))
    anchors.sort(key=lambda anchor: (anchor.score if higher_is_better else -anchor.score, anchor.points))
    for worse, better in pairwise(anchors):
        if better.points < worse.points or (better.score == worse.score and better.points != worse.points):
            faults.append(
                _("%(better)s is better than %(worse)s but gives fewer points.")
                % {"better": anchor_reason(better), "worse": anchor_reason(worse)}
                if better.points < worse.points
                else _("%(one)s and %(other)s have the same score.")
                % {"one": anchor_reason(worse), "other": anchor_reason(better)}
            )
    if faults:
        raise BadRules(faults)
    return tuple(anchors)


def anchor_reason(anchor: Anchor) -> str:
    return f"{anchor.label} ({plain_number_text(anchor.points)})"


def grade_rules(competition: Competition) -> tuple[GradingRules, bool]:
    """(the rules that a host saved, True), or (proposed rules, False)."""
    stored = GradeRules.objects.filter(competition=competition).first()
    if stored is not None:
        return GradingRules.from_values(stored.values), True
    # Linear between the worst baseline and the best where there are two, else by shares of the teams.
    ground_truth = competition.ground_truth
    scores = baseline_scores(ground_truth, Split.PUBLIC)
    if ground_truth is not None and len(set(scores.values())) >= 2:
        names = sorted(scores, key=lambda name: sign_of(ground_truth) * scores[name])
        ends = (GradeStep(60.0, baseline=names[-1]), GradeStep(100.0, baseline=names[0]))
        return GradingRules(steps=ends, title=competition.title), False
    shares = ((10.0, 100.0), (25.0, 90.0), (50.0, 80.0), (100.0, 70.0))
    steps = tuple(GradeStep(points, top=top) for top, points in shares)
    return GradingRules(method=GradingMethod.PERCENTILE, steps=steps, title=competition.title), False


def set_grade_rules(*, competition: Competition, values: Mapping[str, Any], user: User | None) -> GradingRules:
    """Replace the rules; released grades do not change. Raises `CannotHost` with all faults."""
    try:
        rules = GradingRules.from_values(values)
        if ground_truth := competition.ground_truth:
            # Only steps with a fixed score are checked: the scores of baselines may still change.
            fixed = replace(rules, steps=tuple(step for step in rules.steps if not step.baseline))
            anchors_of(fixed, {}, higher_is_better=sign_of(ground_truth) < 0)
    except BadRules as error:
        raise CannotHost(_("These grade rules don't work."), error.faults) from error
    with transaction.atomic():
        Competition.objects.select_for_update().get(pk=competition.pk)
        stored = GradeRules.objects.filter(competition=competition).first()
        before = stored.values if stored else {}
        if before == rules.as_json():
            return rules
        GradeRules.objects.update_or_create(
            competition=competition, defaults={"values": rules.as_json(), "changed_at": database_now()}
        )
        differing = [name for name, value in rules.as_json().items() if before.get(name) != value]
        AuditEntry.append(
            AuditEvent.GRADE_RULES_CHANGED,
            user=user,
            competition=competition,
            before={name: before[name] for name in differing if name in before},
            after={name: rules.as_json()[name] for name in differing},
        )
    return rules
