"""Grade rules: those that a host saved, and those that we propose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import AuditEvent
from leaderboard.competitions.models import Competition
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.ranking import ladder
from leaderboard.competitions.services.boards import baseline_scores
from leaderboard.competitions.services.competitions import CannotHost

from . import rules as rules_module
from .models import GradeRelease, GradeRules


def grade_rules(competition: Competition) -> tuple[rules_module.GradingRules, bool]:
    """The rules of a competition, and whether somebody saved them; otherwise what we propose."""
    held = GradeRules.objects.filter(competition=competition).first()
    if held is not None:
        return rules_module.GradingRules.from_values(held.values), True
    scores = baseline_scores(competition.ground_truth, Split.PUBLIC)
    return proposed_rules(competition, scores), False


def saved_rules(competition: Competition) -> tuple[rules_module.GradingRules, bool] | None:
    """What somebody saved, and whether students can see their grades."""
    held = GradeRules.objects.filter(competition=competition)
    found = held.annotate(is_released=GradeRelease.is_current("competition")).first()
    return None if found is None else (rules_module.GradingRules.from_values(found.values), found.is_released)


def proposed_rules(competition: Competition, scores: Mapping[str, float]) -> rules_module.GradingRules:
    """Linear between the worst baseline and the best where there are two, else by shares of the teams."""
    ground_truth = competition.ground_truth
    if ground_truth is not None and len(set(scores.values())) >= 2:
        names = sorted(scores, key=lambda name: ladder.sign_of(ground_truth) * scores[name])
        ends = (rules_module.GradeStep(60.0, baseline=names[-1]), rules_module.GradeStep(100.0, baseline=names[0]))
        return rules_module.GradingRules(steps=ends, title=competition.title)
    shares = ((10.0, 100.0), (25.0, 90.0), (50.0, 80.0), (100.0, 70.0))
    steps = tuple(rules_module.GradeStep(points, top=top) for top, points in shares)
    return rules_module.GradingRules(method=rules_module.GradingMethod.PERCENTILE, steps=steps, title=competition.title)


def set_grade_rules(
    *, competition: Competition, values: Mapping[str, Any], user: User | None
) -> rules_module.GradingRules:
    """Replace the rules; released grades do not change. Raises `CannotHost` with every fault."""
    try:
        rules = rules_module.GradingRules.from_values(values)
    except rules_module.BadRules as error:
        raise CannotHost(_("These rules cannot grade."), error.faults) from error
    with transaction.atomic():
        Competition.objects.select_for_update().get(pk=competition.pk)
        held = GradeRules.objects.filter(competition=competition).first()
        before = held.values if held else {}
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
