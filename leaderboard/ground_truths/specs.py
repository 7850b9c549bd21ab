"""The settings of a ground truth: file, answers, split, metric and secondary metrics."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils.translation import gettext as _

import metrics
from leaderboard.common.library_messages import translated_message
from leaderboard.competitions.models import GroundTruth, TruthDraft
from leaderboard.competitions.models.ground_truth import MAX_SECONDARY
from leaderboard.competitions.services import CannotHost

MetricWithParams = tuple[str, dict[str, Any]]
# With a log loss that is hardly clipped, a single submission can read 14 labels from its score on the board.
PROPOSED_PARAMETERS = {"clip": 0.001}
ASKED = "asked"
"""The reason for answer columns that the host has yet to choose."""


@dataclass(frozen=True, kw_only=True)
class GroundTruthSpec:
    """Everything that can be asked of a ground truth; pages, admin, API, import and copies fill it in.

    Without a `metric` the most plausible one is taken, with its defaults; `secondary` metrics are shown next to the
    score. Without `chunks` the file of the draft is kept, else that of the last ground truth; `converts_spreadsheet`
    reads it as the spreadsheet that saved it meant it; in the columns `plain_lists` lists lose brackets and quotes.

    `answers` are the columns that students predict, and `why` these: () for all columns, None for all columns of a new
    file and the earlier choice for the same file. If `why` is `ASKED`, the host must choose, among `possible` first.
    `split_column` is a column that holds the split under another name than `Usage`.

    A file without a `Usage` column is split by the system: `public_share` of the rows (0–1) are public, and rows with
    the same value in `group_column` stay together. After the launch, rows keep the part that they have in the current
    ground truth. The split is drawn with a secret that passes from the draft to the ground truth, so students who know
    IDs and seed cannot draw it; `split_secret` sets it. Before the launch `redraws_split` drops the column `Usage`.
    """

    metric: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    secondary: tuple[MetricWithParams, ...] = ()
    file_name: str = ""
    chunks: Iterable[bytes] | None = None
    converts_spreadsheet: bool = False
    plain_lists: Collection[str] = ()
    id_column: str = ""
    answers: Collection[str] | None = None
    possible: Collection[str] = ()
    why: str = "chosen"
    split_column: str = ""
    public_share: float = 0.3
    seed: int = 0
    is_stratified: bool = True
    group_column: str = ""
    redraws_split: bool = False
    split_secret: str = ""

    @classmethod
    def from_truth(cls, truth: TruthDraft | GroundTruth | None) -> GroundTruthSpec:
        """The settings of a draft or ground truth, with its file; the defaults for None."""
        if truth is None:
            return cls()
        spec = cls(metric=truth.metric, params=truth.params, secondary=secondary_of(truth), id_column=truth.id_column)
        if isinstance(truth, GroundTruth):
            return spec
        return replace(
            spec,
            public_share=truth.public_share,
            seed=truth.seed,
            is_stratified=truth.is_stratified,
            group_column=truth.group_column,
        )

    def with_defaults(self) -> GroundTruthSpec:
        """The same with all parameters filled in, and metrics as they are now instead of versions. Raises
        `metrics.ParameterError`, and `CannotHost` for secondary metrics."""
        key = metrics.get(self.metric).key if self.metric else ""
        return replace(
            self,
            metric=key,
            params=metrics.clean_params(key, self.params) if key else {},
            secondary=_clean_secondary(self.secondary),
            id_column=self.id_column.strip(),
            group_column=self.group_column.strip(),
        )


def _clean_secondary(secondary: Iterable[MetricWithParams]) -> tuple[MetricWithParams, ...]:
    cleaned: list[MetricWithParams] = []
    faults: list[str] = []
    for key, params in secondary:
        try:
            cleaned.append((metrics.get(key).key, metrics.clean_params(key, params)))
        except metrics.UnknownMetric as error:
            faults.append(str(error))
        except metrics.ParameterError as error:
            faults += [f"{key}, {name}: {translated_message(sentence)}" for name, sentence in error.errors.items()]
    if not faults and len(cleaned) > MAX_SECONDARY:
        faults.append(_("At most %(number)s secondary metrics.") % {"number": MAX_SECONDARY})
    if faults:
        raise CannotHost(_("The secondary metrics can't be used."), faults)
    return tuple(cleaned)


def proposed_parameters(key: str, fits: Iterable[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Parameters of a metric for the answers, as far as they differ from the defaults: those that suit the file (by the
    draft's `fits`) and the ones that we recommend."""
    suiting: dict[str, Any] = next((fit["params"] for fit in fits if fit["key"] == key), {})
    names = {parameter.name for parameter in metrics.get(key).parameters}
    return {**suiting, **{name: value for name, value in PROPOSED_PARAMETERS.items() if name in names}}


def secondary_of(truth: TruthDraft | GroundTruth) -> tuple[MetricWithParams, ...]:
    """(key, parameters) of stored secondary metrics, without versions: for the metrics as they are now."""
    return tuple((metric["key"], metric["params"]) for metric in truth.secondary)


def role_columns(truth: TruthDraft | GroundTruth) -> list[str]:
    """Columns that the metrics read besides the answers, such as a weight."""
    used = [(truth.metric, truth.params), *secondary_of(truth)]
    return [str(params[name]) for key, params in used for name in _role_parameters(key) if name in params]


def non_answer_columns(truth: TruthDraft | GroundTruth) -> list[str]:
    """Columns that students may have: those read by metrics or for the split, and features that are not predicted; all
    while the host is asked which are answers."""
    if isinstance(truth, GroundTruth):
        return role_columns(truth)
    choice = truth.answer_choice
    return [*role_columns(truth), truth.group_column, *choice.get("left_out", ()), *choice.get("possible", ())]


def _role_parameters(key: str) -> Iterable[str]:
    try:
        return metrics.get(key).roles
    except metrics.UnknownMetric:  # the file of a custom metric is lost
        return ()
