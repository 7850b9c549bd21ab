"""Secondary metrics of a ground truth: shown, never ranked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _

import metrics
from leaderboard.common.library_messages import translated_message

from ..models import GroundTruth, TruthDraft
from ..models.ground_truth import MOST_SECONDARY
from .competitions import CannotHost

MetricWithParams = tuple[str, Mapping[str, Any]]


def clean_secondary(asked: Iterable[MetricWithParams]) -> list[dict[str, Any]]:
    """What a draft keeps of metrics and their parameters, defaults filled in. Raises `CannotHost` with every fault."""
    found: list[dict[str, Any]] = []
    faults: list[str] = []
    for key, params in asked:
        try:
            found.append({"key": key, "params": metrics.clean_params(key, params)})
        except metrics.UnknownMetric as error:
            faults.append(str(error))
        except metrics.ParameterError as error:
            faults += [f"{key}, {name}: {translated_message(sentence)}" for name, sentence in error.errors.items()]
    if not faults and len(found) > MOST_SECONDARY:
        faults.append(_("At most %(number)s secondary metrics.") % {"number": MOST_SECONDARY})
    if faults:
        raise CannotHost(_("The secondary metrics can't be used."), faults)
    return found


def published_secondary(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a ground truth stores of the secondary metrics that its check has tested."""
    return [
        {"key": one["key"], "version": metrics.get(one["key"]).version, "params": one["params"]}
        for one in report.get("secondary", ())
    ]


def asked_secondary(held: Iterable[Mapping[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """What to ask the library for: metrics as their files are now."""
    return [(one["key"], one["params"]) for one in held]


def role_columns(held: TruthDraft | GroundTruth) -> list[str]:
    """Columns other than the answers that the metrics read, such as a weight."""
    asked = [(held.metric, held.params), *asked_secondary(held.secondary)]
    return [str(params[name]) for key, params in asked for name in _role_parameters(key) if name in params]


def non_answer_columns(held: TruthDraft | GroundTruth) -> list[str]:
    """Columns that are no answer: those by which rows are split or measured, and those that students do not predict.
    Students may have them."""
    if not isinstance(held, TruthDraft):
        return role_columns(held)
    return [*role_columns(held), held.group_column, *held.report.get("predict", {}).get("left_out", ())]


def _role_parameters(key: str) -> Iterable[str]:
    try:
        return metrics.get(key).roles
    except metrics.UnknownMetric:  # its file is gone
        return ()
