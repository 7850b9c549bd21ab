"""Secondary metrics of a ground truth: shown, never ranked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _

import metrics
from leaderboard.common.library_messages import translated_message
from leaderboard.competitions.models import GroundTruth, TruthDraft
from leaderboard.competitions.models.ground_truth import MOST_SECONDARY
from leaderboard.competitions.services import CannotHost

MetricWithParams = tuple[str, Mapping[str, Any]]


def clean_secondary(asked: Iterable[MetricWithParams]) -> list[dict[str, Any]]:
    """JSON of the secondary metrics for a draft, with default parameters filled in. Raises `CannotHost`."""
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
    """JSON of the secondary metrics for a ground truth, with versions, from the report of its check."""
    return [
        {"key": one["key"], "version": metrics.get(one["key"]).version, "params": one["params"]}
        for one in report.get("secondary", ())
    ]


def asked_secondary(held: Iterable[Mapping[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """(key, parameters) of stored secondary metrics, without versions: for the metrics as they are now."""
    return [(one["key"], one["params"]) for one in held]


def role_columns(held: TruthDraft | GroundTruth) -> list[str]:
    """Columns that the metrics read besides the answers, such as a weight."""
    asked = [(held.metric, held.params), *asked_secondary(held.secondary)]
    return [str(params[name]) for key, params in asked for name in _role_parameters(key) if name in params]


def non_answer_columns(held: TruthDraft | GroundTruth) -> list[str]:
    """Columns that students may have: those read by metrics or for the split, and features that are not predicted."""
    if not isinstance(held, TruthDraft):
        return role_columns(held)
    return [*role_columns(held), held.group_column, *held.report.get("predict", {}).get("left_out", ())]


def _role_parameters(key: str) -> Iterable[str]:
    try:
        return metrics.get(key).roles
    except metrics.UnknownMetric:  # the file of a custom metric is lost
        return ()
