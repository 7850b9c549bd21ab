"""Drafts of ground truths: answer files that are stored, checked and split, and not published yet."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

import metrics
from leaderboard.common.library_messages import stored_text
from leaderboard.common.storage import clean_name, path_of, remove_file, store_file
from leaderboard.competitions.models import Competition, GroundTruth, TruthDraft
from leaderboard.competitions.models.ground_truth import LONGEST_NAME, new_split_secret
from leaderboard.competitions.services import CannotHost
from leaderboard.scoring import table_jobs
from metrics.core.errors import Refused
from metrics.reading.formats import TABLES, container_of
from metrics.reading.headers import header_notes
from metrics.reading.sources import unpack
from metrics.reading.split_words import USAGE

from ..queries import last_truth
from ..specs import ASKED, GroundTruthSpec, proposed_parameters, role_columns
from . import checks
from .data_files import LeakSearch

DEFAULT_METRIC = "accuracy"
MAX_TRIED_METRICS = 3


def stored_draft(competition: Competition) -> TruthDraft | None:
    """The stored draft, read again: services change it."""
    return TruthDraft.objects.filter(competition=competition).first()


def save_draft(*, competition: Competition, spec: GroundTruthSpec, suggests_metrics: bool = False) -> TruthDraft:
    """Store an answer file with its settings as the draft and check it at once.

    All findings are in the draft's `report`, and with `suggests_metrics` the metrics that fit in `fits`. Raises
    `metrics.ParameterError`; `CannotHost` without a file, for secondary metrics, for answers that the file does not
    have and for column names that are too long; `storage.TooLarge`; `JobFailed` if the check itself broke. Nothing has
    changed then.
    """
    spec = spec.with_defaults()
    draft = stored_draft(competition) or _new_draft(competition)
    earlier_key = draft.file_key
    try:
        _take_file(draft, spec)
        _take_settings(draft, spec)
        _check_answers(draft, suggests_metrics=suggests_metrics or not spec.metric)
        _check_names(draft)
        draft.save()
    except BaseException:
        if draft.file_key != earlier_key:
            remove_file(draft.file_key)
        raise
    if earlier_key and earlier_key != draft.file_key:
        remove_file(earlier_key)
    return draft


def choose_answers(*, competition: Competition, names: Collection[str]) -> TruthDraft:
    """Choose the columns that students predict, and check the draft again without the others.

    Raises `CannotHost` if no answer would remain or the file cannot be read, and as `save_draft` does.
    """
    draft = stored_draft(competition)
    columns = checks.possible_answers(draft) if draft else []
    chosen = [name for name in columns if name in names]
    if draft is None or not chosen:
        raise CannotHost(_("Choose at least one column; submissions need answers to be scored."))
    if checks.is_unreadable(draft.report):
        raise CannotHost(_("The file must be readable first. Correct it and choose it again."))
    spec = replace(spec_of_same_split(draft), answers=chosen)
    return save_draft(competition=competition, spec=spec, suggests_metrics=True)


def correct_rows(
    *,
    competition: Competition,
    columns: Sequence[str],
    corrected: Mapping[str, Sequence[str]],
    ignored: Sequence[str] = (),
) -> TruthDraft:
    """Make a draft of the current ground truth with corrections: id → an answer for each of `columns`.

    Rows with the `ignored` ids no longer count. The host then reviews and publishes the draft like any other. Raises
    `CannotHost` if there is another draft or candidate, and `JobFailed`.
    """
    ground_truth = competition.ground_truth
    if ground_truth is None or not (corrected or ignored):
        raise CannotHost(_("Enter at least one right answer or choose a row to ignore."))
    if TruthDraft.objects.filter(competition=competition).exists():
        raise CannotHost(_("Another file is being checked under “Answers”. Publish or discard it first."))
    if competition.candidate_id is not None:
        raise CannotHost(_("A correction is pending. Apply or discard it first."))
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "corrected.csv"
        answer = table_jobs.run_page_job(
            "correct_rows",
            truth=str(path_of(ground_truth.file_key, ground_truth.sha256)),
            id_column=ground_truth.id_column,
            columns=list(columns),
            corrected={name: list(cells) for name, cells in corrected.items()},
            ignored=list(ignored),
            target=str(target),
        )
        if answer["problems"]:
            raise CannotHost(
                _("The answers can't be corrected."), [stored_text(problem) for problem in answer["problems"]]
            )
        data = target.read_bytes()
    spec = replace(
        GroundTruthSpec.from_truth(ground_truth), file_name=f"corrected-{ground_truth.number}.csv", chunks=[data]
    )
    return save_draft(competition=competition, spec=spec)


def answers_of(ground_truth: GroundTruth) -> list[str]:
    """The columns that students predict."""
    return [name for name in checks.target_columns(ground_truth) if name not in role_columns(ground_truth)]


def discard_draft(*, competition: Competition) -> None:
    """Delete the draft and its file."""
    for draft in TruthDraft.objects.filter(competition=competition):
        draft.delete()
        remove_file(draft.file_key)


def _plain_csv(chunks: Iterable[bytes]) -> tuple[bytes, list[dict[str, Any]]]:
    """(the CSV of an upload, which may be gzipped, zipped, Excel or Parquet; stored notes on how it was read). A file
    that cannot be read is returned unchanged, so that the check can report the problem. Raises `CannotHost` for a file
    that ends the process that reads it."""
    data, notes = b"".join(chunks), list[dict[str, Any]]()
    if container_of(data[:4096]) in TABLES:
        try:
            text, notes = table_jobs.csv_of(data)
        except table_jobs.JobDied as error:
            raise CannotHost(_("This Excel or Parquet file can't be read. Save it as CSV (UTF-8, comma).")) from error
        data = text or data
    else:
        with suppress(Refused):
            data = unpack(data, 1 << 30)
    return data, notes + [note.as_stored() for note in header_notes(data[: checks.HEAD_BYTES])]


def _new_draft(competition: Competition) -> TruthDraft:
    """A draft with the split secret of the last ground truth, so that the same seed yields the same split again."""
    last = competition.ground_truths.order_by("number").last()
    return TruthDraft(competition=competition, split_secret=(last.split_secret if last else "") or new_split_secret())


def spec_of_same_split(draft: TruthDraft) -> GroundTruthSpec:
    """The draft's settings for other answers of its file.

    Before the launch the metric is suggested anew, because it was not chosen for these answers; after it, it is kept.
    """
    spec = GroundTruthSpec.from_truth(draft)
    return spec if draft.competition.launched_at else replace(spec, metric="", params={}, secondary=())


def _take_file(draft: TruthDraft, spec: GroundTruthSpec) -> None:
    """Set the draft's file: the upload, else the file it has, else a copy of the last ground truth's; converted from a
    spreadsheet's format and without its split, if asked. Raises `CannotHost` if there is no file."""
    competition = draft.competition
    with tempfile.TemporaryDirectory() as folder:
        stored = path_of(draft.file_key) if draft.file_key else None
        if spec.chunks is not None:
            path = Path(folder) / "upload.csv"
            data, draft.reading_notes = _plain_csv(spec.chunks)
            path.write_bytes(data)
            draft.file_name, draft.answer_choice = clean_name(spec.file_name), {}
            if spec.split_column:
                draft.answer_choice = {"split_column": spec.split_column}
                path = checks.rewrite_answers("name_split", path, Path(folder) / "split.csv", column=spec.split_column)
        elif stored is not None:
            path = stored
        elif (last := last_truth(competition)) is not None:
            # A change of the metric only, with the same answers and split.
            path, draft.file_name = path_of(last.file_key), last.file_name
        else:
            raise CannotHost(_("Choose the answer file first."))
        converted = Path(folder) / "as_meant.csv"
        if spec.converts_spreadsheet and checks.convert_spreadsheet(path, converted):
            path = converted
        if spec.plain_lists:
            plain = Path(folder) / "plain.csv"
            path = checks.rewrite_answers("write_plain_lists", path, plain, columns=list(spec.plain_lists))
        if spec.redraws_split and competition.launched_at is None and USAGE in checks.header_of(path):
            path = checks.rewrite_answers("drop_columns", path, Path(folder) / "unsplit.csv", columns=[USAGE])
        if path != stored:
            draft.file_key = store_file([path.read_bytes()], f"truths/{competition.pk}").key


def _take_settings(draft: TruthDraft, spec: GroundTruthSpec) -> None:
    """Set the draft's fields. Raises `CannotHost` for answers that the file does not have."""
    draft.metric, draft.params = spec.metric, dict(spec.params)
    draft.secondary = [{"key": key, "params": params} for key, params in spec.secondary]
    draft.id_column, draft.group_column = spec.id_column, spec.group_column
    draft.public_share, draft.seed, draft.is_stratified = spec.public_share, spec.seed, spec.is_stratified
    draft.split_secret = spec.split_secret or draft.split_secret
    draft.uploaded_at = timezone.now()
    if spec.answers is None and spec.chunks is not None and draft.competition.launched_at:
        spec = replace(spec, answers=_same_answers(draft), why="current")
    if spec.answers is not None:
        unchanged = {name: draft.answer_choice[name] for name in ("split_column",) if name in draft.answer_choice}
        draft.answer_choice = unchanged | _choice_of_answers(draft, spec)


def _same_answers(draft: TruthDraft) -> list[str] | None:
    """The answer columns of the ground truth in use, if a corrected file has all of them and others; else None."""
    columns = checks.possible_answers(draft)
    current = draft.competition.ground_truth
    if current is None:
        return None
    answers = answers_of(current)
    return answers if set(answers) < set(columns) else None


def _choice_of_answers(draft: TruthDraft, spec: GroundTruthSpec) -> dict[str, Any]:
    """The chosen columns and the others; {} if all columns are answers."""
    columns, names, why = checks.possible_answers(draft), spec.answers or (), spec.why
    if why == ASKED:
        first = [name for name in columns if name in spec.possible]
        return {"possible": [*first, *(name for name in columns if name not in first)], "why": why, "is_asked": True}
    if not names:
        return {}
    missing = [name for name in names if name not in columns]
    if missing and why == "chosen":
        message = _("The file has no answer column “%(name)s”. It has: %(columns)s.")
        raise CannotHost(message % {"name": missing[0], "columns": ", ".join(columns) or "–"})
    return {
        "columns": [name for name in columns if name in names],
        "left_out": [name for name in columns if name not in names],
        "why": why,
    }


def _check_names(draft: TruthDraft) -> None:
    """Raise `CannotHost` for column names that are too long for PostgreSQL; SQLite would store any length."""
    longest = max((draft.id_column, draft.group_column, draft.report.get("id_column") or ""), key=len)
    if len(longest) > LONGEST_NAME:
        message = _(
            "The column name “%(start)s…” has %(number)s characters; the limit is %(most)s. Shorten it in the file."
        )
        raise CannotHost(message % {"start": longest[:40], "number": f"{len(longest):,}", "most": LONGEST_NAME})


def _check_answers(draft: TruthDraft, *, suggests_metrics: bool) -> None:
    """Set the report and the metrics that fit; without a metric, the most plausible one that the file passes."""
    is_asked = draft.answer_choice.get("is_asked")
    if is_asked or not suggests_metrics:
        draft.metric, draft.fits = draft.metric or DEFAULT_METRIC, []
        draft.report = checks.check_draft(draft)
        return
    with tempfile.TemporaryDirectory() as folder:
        split = checks.split_file(draft, Path(folder))
        split = replace(split, leaks=LeakSearch(draft, split.path))
        draft.fits = checks.suggest_metrics(draft, split)
        if draft.metric:
            draft.report = checks.check_draft(draft, split)
        else:
            _propose_metric(draft, split)


def _propose_metric(draft: TruthDraft, split: checks.SplitFile) -> None:
    """Set the most plausible metric that the file passes, with its report; of several that fail, the first. A custom
    metric may accept any columns, so only the host knows whether it is meant."""
    possible = [fit for fit in draft.fits if fit["fits"] or fit["nearly_fits"]]
    possible = [fit for fit in possible if not metrics.get(fit["key"]).is_custom]
    keys = [fit["key"] for fit in possible if fit["is_usual"]] or [fit["key"] for fit in possible]
    failed: tuple[str, dict[str, Any], dict[str, Any]] | None = None
    for key in keys[:MAX_TRIED_METRICS] or [DEFAULT_METRIC]:
        draft.metric, draft.params = key, proposed_parameters(key, draft.fits)
        # A weight or a group that the metric reads is not split as an answer.
        draft.report = checks.check_draft(draft, None if role_columns(draft) else split)
        if not checks.is_metrics_fault(draft.report):
            return
        failed = failed or (key, draft.params, draft.report)
    if failed:
        draft.metric, draft.params, draft.report = failed
