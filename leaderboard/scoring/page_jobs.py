"""What the site asks of tables, each job in a sealed process: the functions in `JOBS`. Files are named by path."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import metrics
from metrics.checks.several_files import find_hardest_rows, find_similar_predictions
from metrics.checks.splits import compare_truths, correct_answers, remove_columns
from metrics.core import custom
from metrics.core.errors import Refused
from metrics.core.messages import with_templates
from metrics.reading.containers import read_container
from metrics.reading.spreadsheet import convert_spreadsheet
from metrics.reading.tables import read_bytes, read_table
from metrics.reading.text import LONGEST_MASK_LINE

from .probes import try_seal
from .process_limits import confine, limit_processor_time

PREVIEW_BYTES, PREVIEW_LINES, LONGEST_PREVIEW = 4096, 4, 120

MetricsWithParams = Sequence[tuple[str, dict[str, Any]]]
"""Secondary metrics: keys with parameters, in lists where they came as JSON."""


def check_truth(
    metric: str,
    truth: str,
    params: dict[str, Any],
    id_column: str | None,
    group: str | None = None,
    sample: str | None = None,
    tests: dict[str, str] | None = None,
    secondary: MetricsWithParams = (),
    earlier: str | None = None,
    earlier_id_column: str | None = None,
) -> dict[str, Any]:
    """The truth report as a dictionary; for a truth that can be used also how it differs from an `earlier` one."""
    report = metrics.check_truth(
        metric,
        Path(truth),
        params,
        id_column or None,
        group=group or None,
        sample=Path(sample) if sample else None,
        tests={name: Path(path) for name, path in (tests or {}).items()},
        secondary=[(key, values) for key, values in secondary],
    )
    as_json = {
        name: list(map(with_templates, getattr(report, name))) for name in ("findings", "baselines", "secondary")
    }
    found = {**asdict(report), **as_json, "ok": report.ok}
    if earlier and report.ok:
        found["differs"] = asdict(compare_truths(Path(truth), Path(earlier), report.id_column, earlier_id_column))
    return found


def describe_table(truth: str) -> dict[str, Any]:
    """The names of a table's columns, its rows, and whether each row could be read; no columns for what is none.

    Of a spreadsheet's file, such as one with semicolons, the columns that it would have as plain CSV: it is not sound.
    """
    try:
        data = read_bytes(Path(truth))
    except Refused:
        return {"columns": [], "rows": 0, "is_sound": False}
    found = _described(data)
    if found["is_sound"] and len(found["columns"]) > 1:
        return found
    plain = convert_spreadsheet(data)
    return {**_described(plain.text), "is_sound": False} if plain else found


def _described(data: bytes) -> dict[str, Any]:
    try:
        table = read_table(data, lambda names, line: [], longest_line=LONGEST_MASK_LINE)
    except Refused:
        return {"columns": [], "rows": 0, "is_sound": False}
    return {"columns": list(table.names), "rows": table.rows, "is_sound": not table.problems}


def suggest(truth: str, id_column: str | None, group: str | None = None, sample: str | None = None) -> dict[str, Any]:
    """Which metrics fit, most plausible first; none for a file that is no table."""
    try:
        fits = metrics.suggest(Path(truth), Path(sample) if sample else None, id_column or None, group=group or None)
    except metrics.GroundTruthError:
        return {"fits": []}
    return {"fits": list(map(with_templates, fits))}


def drop_columns(truth: str, columns: Sequence[str], target: str) -> dict[str, Any]:
    """Write the truth without some columns to `target`."""
    Path(target).write_bytes(remove_columns(Path(truth), columns))
    return {}


def to_csv(truth: str, target: str) -> dict[str, Any]:
    """Write the table of an Excel or Parquet file to `target` as plain CSV, or give the problems of the file."""
    try:
        Path(target).write_bytes(read_container(Path(truth).read_bytes()))
    except metrics.SubmissionError as error:
        return {"problems": [problem.as_stored() for problem in error.problems]}
    return {"problems": []}


def convert_submission(submission: str, target: str, **asked: Any) -> dict[str, Any]:
    """Write what a spreadsheet's file says to `target`, if it can be scored then.

    Gives the `changes` and a `preview`: lines as they are and as they would be. Both are empty where nothing helps.
    """
    try:
        text = read_container(Path(submission).read_bytes())
    except metrics.SubmissionError:
        return {"changes": [], "preview": []}
    found = convert_spreadsheet(text, is_truth=False)
    if found is None or _has_problems(found.text, **asked):
        return {"changes": [], "preview": []}
    Path(target).write_bytes(found.text)
    return {"changes": found.as_stored(), "preview": [_first_lines(text), _first_lines(found.text)]}


def _first_lines(text: bytes) -> list[str]:
    encoding = "utf-16" if text.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
    lines = text[:PREVIEW_BYTES].decode(encoding, "replace").splitlines()
    return [line[:LONGEST_PREVIEW] for line in lines[:PREVIEW_LINES]]


def as_meant(truth: str, target: str) -> dict[str, Any]:
    """Write what a spreadsheet's file says to `target` as plain CSV; gives what was changed, nothing where unclear."""
    found = convert_spreadsheet(Path(truth).read_bytes())
    Path(target).write_bytes(found.text if found else b"")
    return {"changes": found.as_stored() if found else []}


def add_split(
    truth: str,
    share: float,
    seed: int,
    secret: str,
    stratify: bool,
    id_column: str | None,
    target: str,
    group: str | None = None,
    roles: Sequence[str] = (),
    earlier: str | None = None,
    earlier_id_column: str | None = None,
) -> dict[str, Any]:
    """Write the truth with a `Usage` column to `target`; the `secret` is in hexadecimal digits."""
    try:
        text = metrics.add_split(
            Path(truth),
            share,
            seed,
            stratify,
            id_column or None,
            secret=bytes.fromhex(secret),
            group=group or None,
            roles=roles,
            earlier=Path(earlier) if earlier else None,
            earlier_id_column=earlier_id_column,
        )
        Path(target).write_bytes(text)
    except metrics.GroundTruthError as error:
        return {"problems": [problem.as_stored() for problem in error.problems]}
    return {"problems": []}


def _has_problems(table: bytes, **asked: Any) -> bool:
    """Whether a table cannot be scored. Nothing is measured: the answer reveals nothing about the truth."""
    try:
        _prepare_truth(**asked).check(table)
    except metrics.SubmissionError:
        return True
    return False


def sample_submission(target: str, **asked: Any) -> dict[str, Any]:
    """Write a valid submission that knows nothing to `target`."""
    Path(target).write_bytes(_prepare_truth(**asked).sample_submission())
    return {}


def _prepare_truth(
    metric: str, truth: str, params: dict[str, Any], id_column: str | None, secondary: MetricsWithParams = ()
) -> metrics.Truth:
    """What a job asks about: a ground truth by its metric."""
    asked = [(key, values) for key, values in secondary]
    return metrics.prepare(metric, Path(truth), params, id_column or None, secondary=asked)


def hardest_rows(
    metric: str, truth: str, params: dict[str, Any], id_column: str | None, submissions: list[str], most: int
) -> dict[str, Any]:
    """The rows on which some files lose most, with what they say there."""
    files = [Path(name) for name in submissions]
    return with_templates(find_hardest_rows(metric, Path(truth), files, params, id_column or None, most=most))


def agreement(
    metric: str, truth: str, params: dict[str, Any], id_column: str | None, submissions: list[str]
) -> dict[str, Any]:
    """Which of some files are wrong in the same way beyond chance."""
    return asdict(find_similar_predictions(metric, Path(truth), [*map(Path, submissions)], params, id_column or None))


def correct_rows(
    truth: str,
    id_column: str | None,
    columns: list[str],
    corrected: dict[str, list[str]],
    ignored: list[str],
    target: str,
) -> dict[str, Any]:
    """Write the truth with some answers corrected and some rows ignored to `target`."""
    try:
        text = correct_answers(Path(truth), corrected, ignored, columns, id_column or None)
    except metrics.GroundTruthError as error:
        return {"problems": [problem.as_stored() for problem in error.problems]}
    Path(target).write_bytes(text)
    return {"problems": []}


def inspect_metric_file(metric: str, truth: str) -> dict[str, Any]:
    """What a custom metric's file, a copy of which is `truth`, says about itself once it is imported, or the `error`
    in words."""
    return custom.inspect_here(metric, Path(truth).read_bytes())


JOBS: dict[str, Callable[..., dict[str, Any]]] = {
    job.__name__: job
    for job in (
        check_truth,
        describe_table,
        suggest,
        add_split,
        drop_columns,
        as_meant,
        to_csv,
        convert_submission,
        sample_submission,
        hardest_rows,
        agreement,
        correct_rows,
        inspect_metric_file,
        try_seal,
    )
}


def run_job_here(request: dict[str, Any]) -> dict[str, Any]:
    """Do a job in this process, within its limits."""
    job, arguments = request["job"], request["arguments"]
    os.nice(request["niceness"])
    read, write = _job_files(job, arguments)
    confine(request["memory_mb"], read=read, write=write)
    limit_processor_time(request["processor_seconds"])
    return {"answer": JOBS[job](**arguments)}


def _job_files(job: str, arguments: dict[str, Any]) -> tuple[list[Path], list[Path]]:
    """What a job reads and writes; what it will write is there from now on."""
    named = [arguments.get(name) for name in ("truth", "submission", "sample", "earlier")]
    read = [
        Path(name)
        for name in (*named, *(arguments.get("tests") or {}).values(), *arguments.get("submissions", ()))
        if name
    ]
    write = [Path(arguments["target"])] if arguments.get("target") else []
    for path in write:
        path.touch(mode=0o600)
    return [path for path in read if path.exists()], write
