"""Jobs on tables for the site's pages, each in a sealed process: the functions in `JOBS`.

Files are passed as paths. A job that makes a file returns its bytes as `file`, which are written to the `target`.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import metrics
from metrics.checks import lists, splits
from metrics.checks.answer_columns import describe_columns
from metrics.checks.hardest_rows import find_hardest_rows
from metrics.checks.similar_predictions import find_similar_predictions
from metrics.checks.splits import compare_truths, correct_answers, remove_columns
from metrics.core import custom
from metrics.core.errors import Refused, escaped
from metrics.core.messages import with_templates
from metrics.reading.cures import cures_for, text_columns_for
from metrics.reading.headers import ANY_HEADER, TRUTH_HEADER, HeaderRule
from metrics.reading.sources import read_file, unpack
from metrics.reading.spreadsheet import convert_spreadsheet
from metrics.reading.tables import read_table
from metrics.reading.text import LONGEST_MASK_LINE

from .process_limits import confine_process

DESCRIBED_BYTES = 250_000
PREVIEW_BYTES, PREVIEW_LINES, LONGEST_PREVIEW = 4096, 4, 120
FILES = ("truth", "submission", "sample", "earlier")
"""Arguments that name a file; `submissions` and `tests` name several."""
JOBS_WITH_PROBLEMS = ("add_split", "correct_rows", "to_csv")
"""Jobs that answer with the `problems` of a bad file instead of failing."""


# --- a ground truth ---------------------------------------------------------------------------------------------


def check_truth(
    metric: str,
    truth: Path,
    params: dict[str, Any],
    id_column: str | None,
    earlier: Path | None = None,
    earlier_id_column: str | None = None,
    **others: Any,
) -> dict[str, Any]:
    """The truth report as a dictionary; for a usable truth also its differences from an `earlier` one."""
    report = metrics.check_truth(metric, truth, params, id_column, **others)
    texts = {name: list(map(with_templates, getattr(report, name))) for name in ("findings", "baselines", "secondary")}
    found = {**asdict(report), **texts, "ok": report.ok}
    if earlier and report.ok:
        found["differs"] = asdict(compare_truths(truth, earlier, report.id_column, earlier_id_column))
    return found


def describe_table(truth: Path) -> dict[str, Any]:
    """The facts about a table's columns, its number of rows, and whether it is `is_sound`: plain CSV without problems.

    For a spreadsheet's file, such as one with semicolons, the columns are those of the plain CSV that it would be
    converted to. No columns if the file is not a table.
    """
    try:
        data = read_file(truth)
    except Refused:
        return _describe_table(b"")
    found = _describe_table(data, TRUTH_HEADER)
    if found["is_sound"] and len(found["columns"]) > 1:
        return found
    if plain := convert_spreadsheet(_both_ends(data)) or convert_spreadsheet(data):
        return {**_describe_table(plain.text, TRUTH_HEADER, ANY_HEADER), "is_sound": False}
    return found if found["columns"] else _describe_table(data, ANY_HEADER)


def _both_ends(data: bytes) -> bytes:
    """The first and the last lines of a large text, which tell what its columns are: converting all takes seconds."""
    if len(data) < 3 * DESCRIBED_BYTES or data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data
    first, last = data.rfind(b"\n", 0, DESCRIBED_BYTES), data.find(b"\n", len(data) - DESCRIBED_BYTES)
    return data[:first] + data[last:]


def _describe_table(data: bytes, *headers: HeaderRule) -> dict[str, Any]:
    """The facts by the first of these rules that accepts the header; no columns if none does."""
    for header in headers:
        with suppress(Refused):
            table = read_table(data, header, longest_line=LONGEST_MASK_LINE)
            columns = [asdict(column) for column in describe_columns(table)]
            is_sound = header is TRUTH_HEADER and not table.problems
            return {"columns": columns, "rows": table.rows, "is_sound": is_sound}
    return {"columns": [], "rows": 0, "is_sound": False}


def suggest_metrics(
    truth: Path, id_column: str | None, group: str | None = None, sample: Path | None = None
) -> dict[str, Any]:
    """The metrics that fit, most plausible first; none for a file that is not a table."""
    try:
        fits = metrics.suggest(truth, sample, id_column, group=group)
    except metrics.GroundTruthError:
        return {"fits": []}
    return {"fits": list(map(with_templates, fits))}


def drop_columns(truth: Path, columns: Sequence[str]) -> dict[str, Any]:
    """Make the truth without some columns."""
    return {"file": remove_columns(truth, columns)}


def name_split(truth: Path, column: str) -> dict[str, Any]:
    """Make the truth with `column` as its split: its name becomes `Usage`, its words become Public and Private."""
    return {"file": splits.name_split(truth, column)}


def write_plain_lists(truth: Path, columns: Sequence[str]) -> dict[str, Any]:
    """Make the truth with the lists of these columns without brackets and quotes."""
    return {"file": lists.write_plain_lists(truth, columns)}


def add_split(truth: Path, secret: str, **asked: Any) -> dict[str, Any]:
    """Make the truth with a `Usage` column; the `secret` is in hexadecimal digits."""
    return {"file": metrics.add_split(truth, secret=bytes.fromhex(secret), **asked), "problems": []}


def correct_rows(truth: Path, **asked: Any) -> dict[str, Any]:
    """Make the truth with some answers corrected and some rows ignored."""
    return {"file": correct_answers(truth, **asked), "problems": []}


def sample_submission(**asked: Any) -> dict[str, Any]:
    """Make the sample submission: valid, with the same answer in each row."""
    return {"file": _prepare_truth(**asked).sample_submission()}


def _prepare_truth(
    metric: str, truth: Path, params: dict[str, Any], id_column: str | None, secondary: Sequence[Any] = ()
) -> metrics.Truth:
    return metrics.prepare(metric, truth, params, id_column, secondary=[(key, values) for key, values in secondary])


# --- files in other forms ---------------------------------------------------------------------------------------


def to_csv(truth: Path) -> dict[str, Any]:
    """Make plain CSV of the table of an Excel or Parquet file, with notes on how it was read."""
    notes: list[metrics.Problem] = []
    data = unpack(truth.read_bytes(), notes=notes)
    return {"file": data, "problems": [], "notes": [note.as_stored() for note in notes]}


def convert_truth(truth: Path) -> dict[str, Any]:
    """Convert a spreadsheet's file to plain CSV, with the list of changes; both are empty if the conversion is
    unclear."""
    found = convert_spreadsheet(truth.read_bytes())
    return {"file": found.text, "changes": found.as_stored()} if found else {"file": b"", "changes": []}


def convert_submission(submission: Path, **asked: Any) -> dict[str, Any]:
    """Convert a spreadsheet's file to plain CSV, if it can be scored then.

    Returns the `changes` and a `preview`: the first lines before and after. Both are empty if a conversion does not
    help; then `left` has the problems that it would leave. Nothing is scored, so the answer reveals nothing about the
    truth.
    """
    found, left = None, list[dict[str, Any]]()
    try:
        text = unpack(submission.read_bytes())
        truth = _prepare_truth(**asked)
        found = convert_spreadsheet(
            text,
            is_truth=False,
            expected=truth.expected_header,
            ids=truth.ids.texts,
            cures=cures_for(truth),
            text_columns=text_columns_for(truth),
            words=truth.constant_prediction,
        )
        if found is not None:
            truth.check(found.text)
            preview = [_first_lines(text), _first_lines(found.text)]
            return {"file": found.text, "changes": found.as_stored(), "preview": preview}
    except (metrics.SubmissionError, Refused) as error:
        left = [problem.as_stored() for problem in error.problems] if found is not None else []
    return {"changes": [], "preview": [], "left": left}


def _first_lines(text: bytes) -> list[str]:
    """The first lines, cut, with characters that nobody sees as their escapes."""
    encoding = "utf-16" if text.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    lines = text[:PREVIEW_BYTES].decode(encoding, "replace").splitlines()
    return [escaped(line[:LONGEST_PREVIEW]) for line in lines[:PREVIEW_LINES]]


# --- several submissions ----------------------------------------------------------------------------------------


def hardest_rows(metric: str, truth: Path, submissions: list[Path], **asked: Any) -> dict[str, Any]:
    """The rows on which these files lose most, with their answers there."""
    return with_templates(find_hardest_rows(metric, truth, submissions, **asked))


def find_agreement(metric: str, truth: Path, submissions: list[Path], **asked: Any) -> dict[str, Any]:
    """The pairs of files that are wrong in the same way more often than by chance."""
    return asdict(find_similar_predictions(metric, truth, submissions, **asked))


# --- custom metrics and the seal --------------------------------------------------------------------------------


def inspect_metric_file(metric: str, truth: Path) -> dict[str, Any]:
    """The facts about a custom metric's file (`truth` is a copy of it) after importing it, or its `error` in words."""
    return custom.inspect_here(metric, truth.read_bytes())


def try_seal(secret: str, port: int) -> dict[str, Any]:
    """The outcomes of three ways out of the process: reading a file of the site, the network, another process. Tests
    try more."""

    def start_process() -> None:
        if (pid := os.fork()) == 0:
            os._exit(0)
        os.waitpid(pid, 0)

    probes: dict[str, Callable[[], object]] = {
        "read a file of the site": lambda: Path(secret).read_bytes(),
        "connect to a port": lambda: socket.create_connection(("127.0.0.1", port), timeout=1).close(),
        "start a process": start_process,
    }
    found = []
    for title, probe in probes.items():
        outcome = "stopped"
        with suppress(OSError):
            probe()
            outcome = "ESCAPED"
        found.append({"title": title, "outcome": outcome})
    return {"probes": found}


JOBS: dict[str, Callable[..., dict[str, Any]]] = {
    job.__name__: job
    for job in (
        check_truth,
        describe_table,
        suggest_metrics,
        drop_columns,
        name_split,
        write_plain_lists,
        add_split,
        correct_rows,
        sample_submission,
        to_csv,
        convert_truth,
        convert_submission,
        hardest_rows,
        find_agreement,
        inspect_metric_file,
        try_seal,
    )
}


# --- in the sealed process --------------------------------------------------------------------------------------


def run_job_here(request: dict[str, Any]) -> dict[str, Any]:
    """Do a job in this process, within its limits."""
    arguments = request["arguments"]
    write = [Path(arguments["target"])] if arguments.get("target") else []
    for path in write:
        path.touch(mode=0o600)
    read, seconds = [path for path in _files_in(arguments) if path.exists()], int(request["processor_seconds"])
    confine_process(request["memory_mb"], read=read, write=write, processor_seconds=seconds)
    return {"answer": do_job(request["job"], **arguments)}


def do_job(job: str, *, target: str = "", **arguments: Any) -> dict[str, Any]:
    """The answer of a job; a file that it makes is written to `target`."""
    arguments |= {name: Path(arguments[name]) for name in FILES if arguments.get(name)}
    if "submissions" in arguments:
        arguments["submissions"] = list(map(Path, arguments["submissions"]))
    if "tests" in arguments:
        arguments["tests"] = {name: Path(path) for name, path in arguments["tests"].items()}
    try:
        answer = JOBS[job](**arguments)
    except (metrics.GroundTruthError, metrics.SubmissionError, Refused) as error:
        if job not in JOBS_WITH_PROBLEMS:
            raise
        return {"problems": [problem.as_stored() for problem in error.problems]}
    if "file" in answer:
        Path(target).write_bytes(answer.pop("file"))
    return answer


def _files_in(arguments: dict[str, Any]) -> list[Path]:
    named = [arguments[name] for name in FILES if arguments.get(name)]
    return list(map(Path, [*named, *arguments.get("submissions", ()), *arguments.get("tests", {}).values()]))
