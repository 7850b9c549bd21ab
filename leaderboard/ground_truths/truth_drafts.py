"""Drafts of ground truths: answer files that are checked and split, and not published yet; and the check of a published
one, repeated because data files and the library's checks change later."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

import metrics
from leaderboard.common.storage import clean_name, path_of, remove_file, store_file
from leaderboard.competitions.models import Competition, GroundTruth, TruthCheck, TruthDraft
from leaderboard.competitions.models.ground_truth import LONGEST_NAME, new_split_secret
from leaderboard.competitions.services import CannotHost
from leaderboard.scoring import table_jobs
from leaderboard.submissions.converting import CONVERTIBLE
from metrics.core.messages import with_templates
from metrics.reading.containers import READERS, container_of, read_container
from metrics.reading.headers import USAGE, read_header

from .data_files import ANSWERS_IN_DATA, data_files_to_compare, leak_findings
from .secondary_metrics import MetricWithParams, asked_secondary, clean_secondary, non_answer_columns, role_columns

log = logging.getLogger(__name__)

HEAD_BYTES = 65_536
DEFAULT_METRIC = "accuracy"
# With a log loss that is hardly clipped, a single submission can read 14 labels from its score on the board.
PROPOSED_PARAMETERS = {"clip": 0.001}


def draft_truth(
    *,
    competition: Competition,
    metric: str,
    params: dict[str, Any],
    file_name: str = "",
    chunks: Iterable[bytes] | None = None,
    id_column: str = "",
    public_share: float = 0.3,
    seed: int = 0,
    is_stratified: bool = True,
    group_column: str = "",
    secondary: Iterable[MetricWithParams] = (),
    wants_fits: bool = False,
    redraws_split: bool = False,
    split_secret: str = "",
    predict: dict[str, Any] | None = None,
    answers: Collection[str] = (),
) -> TruthDraft:
    """Store an answer file as the draft and check it at once.

    Without `chunks` the draft keeps its file, or takes that of the last ground truth. Without a `metric` the most
    plausible one is taken, with its defaults. All findings are in the draft's `report`, and with `wants_fits` the
    metrics that fit. `secondary` metrics are shown next to the score.

    A file without a `Usage` column is split by the system: `public_share` of the rows (0–1) are public, and rows with
    the same value in `group_column` stay together. After the launch, rows keep the part that they have in the current
    ground truth. The split is drawn with a secret that passes from the draft to the ground truth, so students who know
    IDs and seed cannot draw it; `split_secret` sets it. Before the launch `redraws_split` drops the column `Usage`.

    `predict` are the columns that students predict, with those `left_out` of scoring; without it all columns are
    answers, or those chosen before for the same file. `answers` only names the columns.
    Raises `metrics.ParameterError`; `CannotHost` without a file, for secondary metrics, for answers that the file does
    not have and for column names that are too long; `storage.TooLarge`; `JobFailed` if the check itself broke. Nothing
    has changed then.
    """
    params = metrics.clean_params(metric, params) if metric else {}
    secondary_metrics = clean_secondary(secondary)
    draft = TruthDraft.objects.filter(competition=competition).first() or _new_draft(competition)
    draft.split_secret = split_secret or draft.split_secret
    earlier = draft.file_key
    _take_file(draft, chunks, file_name, redraws_split=redraws_split and competition.launched_at is None)
    draft.id_column, draft.group_column = id_column.strip(), group_column.strip()
    draft.public_share, draft.seed, draft.is_stratified = public_share, seed, is_stratified
    draft.secondary, draft.uploaded_at = secondary_metrics, timezone.now()
    chosen = predict if predict is not None else {} if chunks is not None else draft.report.get("predict", {})
    draft.report = {"predict": chosen}
    if metric:
        draft.metric, draft.params = metric, params
    try:
        if answers:
            draft.report["predict"] = chosen = {**chosen, **_choice_of_answers(draft, answers)}
        fits = _suggest_metrics(draft) if wants_fits or not metric else []
        if not metric:
            draft.metric, draft.params = _most_plausible(fits)
        draft.report = {**check_draft(draft), "fits": fits, "predict": chosen}
        _check_names(draft)
        draft.save()
    except BaseException:
        if draft.file_key != earlier:
            remove_file(draft.file_key)
        raise
    if earlier and earlier != draft.file_key:
        remove_file(earlier)
    return draft


def _new_draft(competition: Competition) -> TruthDraft:
    """A draft with the split secret of the last ground truth, so that the same seed yields the same split again."""
    last = _last_ground_truth(competition)
    return TruthDraft(competition=competition, split_secret=(last.split_secret if last else "") or new_split_secret())


def _check_names(draft: TruthDraft) -> None:
    """Raise `CannotHost` for column names that are too long for PostgreSQL; SQLite would store any length."""
    longest = max((draft.id_column, draft.group_column, draft.report.get("id_column") or ""), key=len)
    if len(longest) > LONGEST_NAME:
        words = _(
            "The column name “%(start)s…” has %(number)s characters; the limit is %(most)s. Shorten it in the file."
        )
        raise CannotHost(words % {"start": longest[:40], "number": f"{len(longest):,}", "most": LONGEST_NAME})


def _take_file(draft: TruthDraft, chunks: Iterable[bytes] | None, file_name: str, *, redraws_split: bool) -> None:
    """Set the draft's file: the upload, else the file it has, else a copy of the last ground truth's.

    With `redraws_split` the `Usage` column is removed. Raises `CannotHost` if there is no file.
    """
    competition, held = draft.competition, draft.file_key
    if chunks is not None:
        draft.file_key, draft.file_name = _store_truth(competition, plain_csv(chunks)), clean_name(file_name)
    elif not draft.file_key:
        # A change of the metric only, with the same answers and split.
        last = _last_ground_truth(competition)
        if last is None:
            raise CannotHost(_("Choose the answer file first."))
        draft.file_key = _store_truth(competition, [path_of(last.file_key).read_bytes()])
        draft.file_name = last.file_name
    split = draft.file_key
    if not redraws_split or USAGE not in _header(path_of(split)):
        return
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "unsplit.csv"
        table_jobs.run_page_job("drop_columns", truth=str(path_of(split)), columns=[USAGE], target=str(target))
        draft.file_key = _store_truth(competition, [target.read_bytes()])
    if split != held:
        remove_file(split)


def discard_draft(*, competition: Competition) -> None:
    """Delete the draft and its file."""
    for draft in TruthDraft.objects.filter(competition=competition):
        draft.delete()
        remove_file(draft.file_key)


def check_draft(draft: TruthDraft) -> dict[str, Any]:
    """The report on a draft: all findings, with the split that publishing would make. Raises `JobFailed`."""
    with tempfile.TemporaryDirectory() as folder:
        truth, problems = _with_split(draft, Path(folder))
        report = _report_of_check(draft, truth)
        if id_column := report["id_column"]:  # None if the file could not be read
            leaks = leak_findings(draft.competition, truth.read_bytes(), id_column, non_answer_columns(draft))
            report["findings"] = leaks + report["findings"]
        report["ok"] = not any(finding["blocking"] for finding in report["findings"])
    report["findings"] += _other_ids(report.get("differs"))
    known = {finding["code"] for finding in report["findings"]}
    new = [{**problem, "blocking": True, "why": ""} for problem in problems if problem["code"] not in known]
    report["findings"] = new + report["findings"]
    if problems:  # checked without a split, so scores on the two parts are unknown
        report |= {"ok": False, "baselines": [], "apart": {}}
    report["checked_with"] = _surroundings(draft)
    report["is_split_by_system"] = not problems and USAGE not in _header(path_of(draft.file_key))
    published = _published_split(draft.competition) if report["is_split_by_system"] else None
    report["split_kept_from"] = published.number if published else None
    report["as_meant"] = (
        spreadsheet_changes(draft) if CONVERTIBLE_PROBLEMS & {one["code"] for one in blocking_in(report)} else []
    )
    return report


def current_report(draft: TruthDraft) -> dict[str, Any]:
    """The draft's report; checked again if anything that it depends on has changed. Raises `JobFailed`."""
    return draft.report if draft.report.get("checked_with") == _surroundings(draft) else check_draft(draft)


def _surroundings(draft: TruthDraft) -> list[Any]:
    """Dependencies of a report besides the draft: the metric's version, the current ground truth, the data files."""
    competition = draft.competition
    files = sorted(competition.data_files.values_list("name", "sha256"))
    return [metrics.get(draft.metric).version, competition.ground_truth_id, [list(file) for file in files]]


def note_safe_file(draft: TruthDraft) -> None:
    """Mark the report as current after adding a data file that was checked and changes no finding."""
    draft.report["checked_with"] = _surroundings(draft)


def recheck_draft(*, competition: Competition) -> None:
    """Check the draft, if there is one, again with the current data files. Raises `JobFailed`."""
    draft = TruthDraft.objects.filter(competition=competition).first()
    if draft is not None:
        earlier = {name: draft.report.get(name, empty) for name, empty in (("fits", []), ("predict", {}))}
        draft.report = {**check_draft(draft), **earlier}
        draft.save(update_fields=["report"])


def split_of(draft: TruthDraft) -> dict[str, Any]:
    """A draft's settings for the split, as arguments for `draft_truth`."""
    names = ("public_share", "seed", "is_stratified", "group_column")
    return {name: getattr(draft, name) for name in names}


def header_of_draft(draft: TruthDraft) -> list[str]:
    return _header(path_of(draft.file_key))


def blocks_by_files_alone(report: dict[str, Any]) -> bool:
    """Whether the only blocking findings are data files that contain answers."""
    blocking = blocking_in(report)
    return bool(blocking) and all(finding["code"] == ANSWERS_IN_DATA for finding in blocking)


def blocking_in(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [finding for finding in report.get("findings", ()) if finding["blocking"]]


def file_to_publish(draft: TruthDraft, folder: Path) -> Path:
    """The file to publish: with the split, and without the group column unless a metric reads it."""
    path, _ = _with_split(draft, folder)
    if not draft.group_column or draft.group_column in role_columns(draft):
        return path
    target = folder / "published.csv"
    table_jobs.run_page_job("drop_columns", truth=str(path), columns=[draft.group_column], target=str(target))
    return target


def columns_at_hand(competition: Competition) -> list[str]:
    """Columns, without ID and `Usage`, of the file that `draft_truth` would use without an upload; [] without one."""
    held = TruthDraft.objects.filter(competition=competition).first() or _last_ground_truth(competition)
    return [] if held is None else _columns_but_ids(held)


def _columns_but_ids(held: TruthDraft | GroundTruth) -> list[str]:
    names = _header(path_of(held.file_key))
    id_column = held.id_column or (names[0] if names else "")
    return [name for name in names if name not in (id_column, USAGE)]


def _report_of_check(draft: TruthDraft, truth: Path) -> dict[str, Any]:
    sample, tests = data_files_to_compare(draft.competition)
    counts = _published_split(draft.competition)
    return table_jobs.run_page_job(
        "check_truth",
        metric=draft.metric,
        truth=str(truth),
        params=draft.params,
        id_column=draft.id_column or None,
        group=draft.group_column or None,
        sample=sample,
        tests=tests,
        secondary=asked_secondary(draft.secondary),
        earlier=str(path_of(counts.file_key)) if counts else None,
        earlier_id_column=counts.id_column if counts else None,
    )


def _other_ids(differs: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Finding about a correction whose IDs differ from the current answers, for example by lost leading zeros."""
    if not differs or not differs["added"] + differs["gone"]:
        return []
    message = metrics.Message(
        "The ids differ from the current answers: {added} new, {gone} removed.",
        added=differs["added"],
        gone=differs["gone"],
    )
    why = metrics.Message("All submissions so far would become invalid. Is this what you want?")
    return [with_templates(metrics.Finding("other_ids", message, blocking=False, why=why))]


def _suggest_metrics(draft: TruthDraft) -> list[dict[str, Any]]:
    """Metrics that fit the answers, best first; [] if the job fails, because they are only suggestions."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            answer = table_jobs.run_page_job(
                "suggest",
                truth=str(_answers_alone(draft, Path(folder))),
                id_column=draft.id_column or None,
                group=draft.group_column or None,
                sample=data_files_to_compare(draft.competition)[0],
            )
    except table_jobs.JobFailed:
        log.exception("no metrics could be suggested for %s", draft.file_key)
        return []
    fits: list[dict[str, Any]] = answer["fits"]
    return fits


def proposed_parameters(metric: str) -> dict[str, Any]:
    """Recommended parameters of a metric that differ from its defaults."""
    names = {parameter.name for parameter in metrics.get(metric).parameters}
    return {name: value for name, value in PROPOSED_PARAMETERS.items() if name in names}


def _most_plausible(fits: list[dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    if not fits:
        return DEFAULT_METRIC, {}
    return fits[0]["key"], {**fits[0]["params"], **proposed_parameters(fits[0]["key"])}


def _with_split(draft: TruthDraft, folder: Path) -> tuple[Path, list[dict[str, Any]]]:
    """(path of the draft's answers with a `Usage` column, drawn if the file has none; problems that prevent that)."""
    source = _answers_alone(draft, folder)
    if USAGE in _header(source):
        return source, []
    target = folder / "truth.csv"
    published = _published_split(draft.competition)
    answer = table_jobs.run_page_job(
        "add_split",
        truth=str(source),
        share=draft.public_share,
        seed=draft.seed,
        secret=draft.split_secret,
        stratify=draft.is_stratified,
        id_column=draft.id_column or None,
        target=str(target),
        group=draft.group_column or None,
        roles=role_columns(draft),
        earlier=str(path_of(published.file_key)) if published else None,
        earlier_id_column=published.id_column if published else None,
    )
    return (source if answer["problems"] else target), answer["problems"]


def _answers_alone(draft: TruthDraft, folder: Path) -> Path:
    """The draft's file, or a copy without the columns that students do not predict and no metric or split reads."""
    source, read_too = path_of(draft.file_key), (*role_columns(draft), draft.group_column)
    left_out = [name for name in draft.report.get("predict", {}).get("left_out", ()) if name not in read_too]
    if not left_out:
        return source
    target = folder / "answers.csv"
    table_jobs.run_page_job("drop_columns", truth=str(source), columns=left_out, target=str(target))
    return target


def _header(path: Path) -> list[str]:
    with path.open("rb") as file:
        return read_header(file.read(HEAD_BYTES))


def _published_split(competition: Competition) -> GroundTruth | None:
    """The ground truth whose split later ones keep: after the launch a row never changes between public and private."""
    return competition.ground_truth if competition.launched_at else None


def _store_truth(competition: Competition, chunks: Iterable[bytes]) -> str:
    return store_file(chunks, f"truths/{competition.pk}").key


def _last_ground_truth(competition: Competition) -> GroundTruth | None:
    return competition.ground_truths.order_by("number").last()


def recheck_ground_truth(*, competition: Competition) -> TruthCheck:
    """Check the current ground truth again with the current data files, and store the report.

    Raises `CannotHost` without a ground truth, and `JobFailed` if the check itself broke.
    """
    ground_truth = competition.ground_truth
    if ground_truth is None:
        raise CannotHost(_("There are no answers yet."))
    truth = path_of(ground_truth.file_key, ground_truth.sha256)
    sample, tests = data_files_to_compare(competition)
    report = table_jobs.run_page_job(
        "check_truth",
        metric=ground_truth.metric_key,
        truth=str(truth),
        params=ground_truth.params,
        id_column=ground_truth.id_column,
        sample=sample,
        tests=tests,
        secondary=ground_truth.secondary_asked,
    )
    leaks = leak_findings(competition, truth.read_bytes(), ground_truth.id_column, non_answer_columns(ground_truth))
    report["findings"] = leaks + report["findings"]
    report["ok"] = not any(finding["blocking"] for finding in report["findings"])
    values = {"report": report, "checked_at": timezone.now()}
    return TruthCheck.objects.update_or_create(ground_truth=ground_truth, defaults=values)[0]


CONVERTIBLE_PROBLEMS = CONVERTIBLE | {"usage_name"}


def converted_spreadsheet(chunks: Iterable[bytes]) -> list[bytes]:
    """The content of an upload after the conversion of spreadsheet formats; unchanged if no conversion helps."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "truth", Path(folder) / "as_meant.csv"
        source.write_bytes(b"".join(plain_csv(chunks)))
        table_jobs.run_page_job("as_meant", truth=str(source), target=str(target))
        return [target.read_bytes() or source.read_bytes()]


def spreadsheet_changes(draft: TruthDraft, target: Path | None = None) -> list[dict[str, Any]]:
    """Changes of a conversion of the draft's file from spreadsheet formats; the CSV is written to `target`.

    [] if no conversion helps or the job failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = target or Path(folder) / "as_meant.csv"
        try:
            answer = table_jobs.run_page_job("as_meant", truth=str(path_of(draft.file_key)), target=str(place))
        except table_jobs.JobFailed:
            log.exception("%s could not be read as a spreadsheet's", draft.file_key)
            return []
    changes: list[dict[str, Any]] = answer["changes"]
    return changes


def plain_csv(chunks: Iterable[bytes]) -> Iterable[bytes]:
    """The CSV of an upload, which may be gzipped, zipped, Excel or Parquet. A file that cannot be read is returned
    unchanged, so that the check can report the problem."""
    data = b"".join(chunks)
    if container_of(data[:4096]) in READERS:
        return [table_jobs.csv_of(data) or data]
    try:
        return [read_container(data, 1 << 30)]
    except metrics.MetricError:
        return [data]


TOO_MANY_COLUMNS = "target_columns"


def possible_answers(draft: TruthDraft) -> list[str]:
    """Columns of a draft's file that students could predict: all but the ID and those read by metrics or the split."""
    other_columns = {*role_columns(draft), draft.group_column}
    return [name for name in _columns_but_ids(draft) if name not in other_columns]


def _choice_of_answers(draft: TruthDraft, names: Collection[str]) -> dict[str, Any]:
    """The choice of these columns as JSON for the report. Raises `CannotHost` if the file does not have one of them."""
    possible = possible_answers(draft)
    if missing := [name for name in names if name not in possible]:
        words = _("The file has no answer column “%(name)s”. It has: %(columns)s.")
        raise CannotHost(words % {"name": missing[0], "columns": ", ".join(possible) or "–"})
    chosen = [name for name in possible if name in names]
    left_out = [name for name in possible if name not in names]
    return {"columns": chosen, "left_out": left_out, "is_asked": False, "why": "chosen"}


def choose_answers(
    *, competition: Competition, names: Collection[str], group: str = "", predict: dict[str, Any] | None = None
) -> TruthDraft:
    """Choose the columns that students predict, and check the draft again without the others.

    `group` is one of the other columns; the split then keeps its groups together. Raises `CannotHost` if no answer
    would remain or the file cannot be read, and as `draft_truth` does.
    """
    draft = TruthDraft.objects.filter(competition=competition).first()
    possible = possible_answers(draft) if draft else []
    chosen = [name for name in possible if name in names]
    if draft is None or not chosen:
        raise CannotHost(_("Choose at least one column; submissions need answers to be scored."))
    if CONVERTIBLE_PROBLEMS & {one["code"] for one in blocking_in(draft.report)}:
        raise CannotHost(_("The file must be readable first. Correct it and choose it again."))
    choice = _choice_of_answers(draft, chosen)
    draft.group_column = (group if group in choice["left_out"] else "") or draft.group_column
    return _draft_of_same_split(draft, None, {**choice, **(predict or {})})


def apply_spreadsheet_conversion(*, competition: Competition) -> TruthDraft:
    """Replace the draft's file by its conversion from spreadsheet formats, and check the result.

    Raises `CannotHost` if no conversion helps, and as `draft_truth` does.
    """
    draft = TruthDraft.objects.filter(competition=competition).first()
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "as_meant.csv"
        if draft is None or not spreadsheet_changes(draft, target):
            raise CannotHost(_("There is no file to convert. Choose one."))
        return _draft_of_same_split(draft, target.read_bytes())


def _draft_of_same_split(draft: TruthDraft, data: bytes | None, predict: dict[str, Any] | None = None) -> TruthDraft:
    """Draft the truth again with the same split settings, and new data or answers.

    Before the launch the metric is suggested anew, because it was not chosen for this file; after it, it is kept.
    """
    keeps_split = draft.competition.launched_at is not None
    return draft_truth(
        competition=draft.competition,
        metric=draft.metric if keeps_split else "",
        params=draft.params if keeps_split else {},
        file_name=draft.file_name,
        chunks=None if data is None else [data],
        predict=predict,
        id_column=draft.id_column,
        public_share=draft.public_share,
        seed=draft.seed,
        is_stratified=draft.is_stratified,
        group_column=draft.group_column,
        secondary=asked_secondary(draft.secondary) if keeps_split else (),
        wants_fits=True,
    )
