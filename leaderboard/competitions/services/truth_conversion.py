"""An answer file is read in another way than it came: as its spreadsheet meant it, or with some of its columns."""

from __future__ import annotations

import tempfile
from collections.abc import Collection
from pathlib import Path

from django.utils.translation import gettext as _

from leaderboard.common.storage import path_of
from leaderboard.scorer import jobs_for_pages

from ..models import Competition, TruthDraft
from .answer_spreadsheets import CONVERTIBLE_PROBLEMS, spreadsheet_changes
from .competitions import CannotHost
from .secondary_metrics import asked_secondary, non_answer_columns
from .truth_drafts import blocking_in, columns_at_hand, draft_truth

TOO_MANY_COLUMNS = "target_columns"


def taken_for_answers(draft: TruthDraft) -> list[str]:
    """Columns of a draft's file that would have to be predicted, also where its metric reads fewer."""
    if draft.report.get("target_columns"):
        return list(draft.report["target_columns"])
    if TOO_MANY_COLUMNS not in {one["code"] for one in blocking_in(draft.report)}:
        return []
    other_columns = non_answer_columns(draft)
    return [name for name in columns_at_hand(draft.competition) if name not in other_columns]


def select_answer_columns(*, competition: Competition, names: Collection[str], group: str = "") -> TruthDraft:
    """Of the columns taken for answers keep `names` alone, and check again: a whole test set has its features too.

    What a metric or the split reads stays; `group` is one of the columns that are no answers, by which the split is
    made from now on. Raises `CannotHost` where no answer would remain or the file cannot be read, and what
    `draft_truth` raises.
    """
    draft = TruthDraft.objects.filter(competition=competition).first()
    taken = taken_for_answers(draft) if draft else []
    left_out = [name for name in taken if name not in names]
    group = group if group in left_out else ""
    if draft is None or len(left_out) == len(taken):
        raise CannotHost(_("Tick at least one column: without answers nothing can be scored."))
    if CONVERTIBLE_PROBLEMS & {one["code"] for one in blocking_in(draft.report)}:
        raise CannotHost(_("First the file must be one that can be read: correct it and choose it again."))
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "answers.csv"
        jobs_for_pages.run_page_job(
            "drop_columns",
            truth=str(path_of(draft.file_key)),
            columns=[name for name in left_out if name != group],
            target=str(target),
        )
        draft.group_column = group or draft.group_column
        return _draft_of_same_split(draft, target.read_bytes())


def apply_spreadsheet_conversion(*, competition: Competition) -> TruthDraft:
    """Read the draft's file as its spreadsheet meant it, as its report offers, and check what comes of it.

    Raises `CannotHost` where nothing is known that would help, and what `draft_truth` raises.
    """
    draft = TruthDraft.objects.filter(competition=competition).first()
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "as_meant.csv"
        if draft is None or not spreadsheet_changes(draft, target):
            raise CannotHost(_("There is no file that could be read in another way. Choose one."))
        return _draft_of_same_split(draft, target.read_bytes())


def _draft_of_same_split(draft: TruthDraft, data: bytes) -> TruthDraft:
    """What a file that could not be read was checked with is nobody's choice, unless a metric counts already."""
    keeps_split = draft.competition.launched_at is not None
    return draft_truth(
        competition=draft.competition,
        metric=draft.metric if keeps_split else "",
        params=draft.params if keeps_split else {},
        file_name=draft.file_name,
        chunks=[data],
        id_column=draft.id_column,
        public_share=draft.public_share,
        seed=draft.seed,
        is_stratified=draft.is_stratified,
        group_column=draft.group_column,
        secondary=asked_secondary(draft.secondary) if keeps_split else (),
        wants_fits=True,
    )
