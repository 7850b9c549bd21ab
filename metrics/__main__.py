"""The scorer at home: the same code and the same messages as on the site.

::

    python -m metrics list [--json]
    python -m metrics show KEY
    python -m metrics score KEY TRUTH.csv SUBMISSION.csv [-p name=value …] [--id COLUMN] [--json] [--rows OUT.csv]
                            [--compare OTHER.csv] [--also KEY[,name=value…] …]

Exit status: 0 scored, 1 bad call (unknown metric or parameter, no such file), 2 invalid submission, 3 invalid truth.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NoReturn

from . import (
    GroundTruthError,
    Metric,
    MetricError,
    MetricFailed,
    ParameterError,
    Problem,
    Result,
    SecondaryValue,
    SubmissionError,
    Truth,
    catalogue,
    clean_params,
    compare,
    get,
    prepare,
)
from .core.explanation import rows_csv
from .core.messages import plain_number


class _Parser(argparse.ArgumentParser):
    """Exits with status 1 for a wrong call, because argparse's 2 means an invalid submission here."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(1, f"{self.prog}: error: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    program = "python -m metrics" if __package__ == "metrics" else "classboard-score"
    parser = _Parser(prog=program, description="Score a submission at home.")
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="all metrics, the usual ones first")
    listing.add_argument("--json", action="store_true")
    show = commands.add_parser("show", help="what a metric computes")
    show.add_argument("key")
    score = commands.add_parser("score", help="score a submission")
    score.add_argument("key")
    score.add_argument("truth")
    score.add_argument("submission")
    score.add_argument("-p", dest="params", metavar="name=value", action="append", default=[])
    score.add_argument("--id", dest="id_column", metavar="COLUMN", help="default: the truth's first column")
    score.add_argument("--json", action="store_true")
    score.add_argument("--rows", metavar="OUT.csv", help="write what each row contributed")
    score.add_argument(
        "--also",
        metavar="KEY[,name=value…]",
        action="append",
        default=[],
        help="a further metric of the same two files",
    )
    score.add_argument("--compare", metavar="OTHER.csv", help="say which submission is better, and how surely")
    options = parser.parse_args(arguments)
    try:
        return {"list": _list, "show": _show, "score": _score_or_hint}[options.command](options)
    except BrokenPipeError:  # the reader of the output has closed it, such as "head"
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except GroundTruthError as error:
        return _complain("The truth file is invalid.", error.problems, 3, options)
    except _OtherIsInvalid as error:
        return _complain("The submission to compare with is invalid.", _all_of(error), 2, options)
    except SubmissionError as error:
        return _complain("The submission is invalid.", _all_of(error), 2, options)
    except (MetricError, OSError) as error:
        code = "file" if isinstance(error, OSError) else "call"
        words = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
        if isinstance(error, MetricFailed):  # the user at home has the truth, so details need no hiding
            words = f"{words}\n{error.host_details}".rstrip()
        problems = [Problem(code, line) for line in words.splitlines()]
        return _complain("This cannot be scored.", problems, 1, options)


def _list(options: argparse.Namespace) -> int:
    found = catalogue()
    if options.json:
        _print_json([_described(metric) for metric in found])
        return 0
    width = max(len(metric.key) for metric in found)
    for metric in found:
        print(f"{metric.key:<{width}}  {metric.summary}")
    return 0


def _described(metric: Metric) -> dict[str, Any]:
    names = ("key", "title", "summary", "group", "direction", "best", "version", "columns")
    facts = {name: getattr(metric, name) for name in names}
    asked = ("name", "kind", "default", "choices", "required", "help")
    parameters = [{name: getattr(parameter, name) for name in asked} for parameter in metric.parameters]
    return {**facts, "best": metric.best if metric.has_best else None, "parameters": parameters}


def _show(options: argparse.Namespace) -> int:
    metric = get(options.key)
    best = f"best {plain_number(metric.best, 6)}" if metric.has_best else "its best value is not known"
    print(f"{metric.title} ({metric.key}, {metric.direction}, {best})")
    print(f"{metric.columns}\n\n{metric.summary}\n\n{metric.description}")
    if metric.parameters:
        print("\nParameters:")
    for parameter in metric.parameters:
        default = "" if parameter.default is None else parameter.default
        print(f"  -p {parameter.name}={default}  {parameter.help}")
    example = metric.example
    if example.truth:
        print(f"\nExample\n\n{example.truth}\n{example.submission}\nScore: {plain_number(example.score)}")
    return 0


def _score_or_hint(options: argparse.Namespace) -> int:
    """Score; if a file is refused and the two can be scored in the other order, the refusal says so."""
    try:
        return _score(options)
    except _OtherIsInvalid:
        raise
    except (SubmissionError, GroundTruthError) as error:
        if not _can_score(options, options.submission, options.truth):
            raise
        words = "Did you mean the other order, first the truth and then the submission? So the two files can be scored."
        error.problems.insert(0, Problem("swapped", words))
        raise


def _can_score(options: argparse.Namespace, truth: str, submission: str) -> bool:
    try:
        prepare(options.key, truth, dict(map(_pair, options.params)), options.id_column).evaluate(submission)
    except (MetricError, OSError):
        return False
    return True


_ANSWERS = re.compile("truth|solution|answer", re.IGNORECASE)


def _warn_of_order(options: argparse.Namespace, result: Result) -> Result:
    """The result with a warning if the names of the files say that they were given in the other order."""
    truth, submission = (Path(path).name for path in (options.truth, options.submission))
    if not _ANSWERS.search(submission) or _ANSWERS.search(truth):
        return result
    words = f"{submission} was read as the submission. Did you mean the other order, first the truth?"
    return replace(result, warnings=(Problem("swapped", words), *result.warnings))


class _OtherIsInvalid(SubmissionError):
    """The second of two submissions, given by `--compare`, is invalid."""


def _score(options: argparse.Namespace) -> int:
    params = dict(_pair(text) for text in options.params)
    also = [_further(text) for text in options.also]
    truth = prepare(options.key, options.truth, params, options.id_column, secondary=also)
    is_for_people = not options.json
    result = truth.evaluate(options.submission, uncertainty=True, with_parts=is_for_people)
    result = _warn_of_order(options, result)
    comparisons = _compare(truth, result, options.compare) if options.compare else {}
    if options.rows:
        Path(options.rows).write_bytes(rows_csv(truth, options.submission))
    if options.json:
        _print_json({**result.as_dict(), **({"compare": comparisons} if comparisons else {})})
        return 0
    for name in _splits(result):
        parts = ", ".join(f"{part} {_part_text(sum_)}" for part, sum_ in result.parts.get(name, {}).items())
        interval = result.interval_text(name)  # "" for a custom metric
        columns = [f"{name:<8} {plain_number(getattr(result, name))}", interval, f"({parts})" if parts else ""]
        print("  ".join(filter(None, columns)))
    for secondary_metric, value in zip(truth.secondary, result.secondary, strict=True):
        print(_secondary_line(value, secondary_metric.problem))  # the user at home may read all problems
    for warning in result.warnings:
        print(f"{'Note' if warning.is_note else 'Warning'}: {warning.message}")
    for name, found in comparisons.items():
        print(_verdict(name, found, options))
    return 0


def _part_text(value: float) -> str:
    return str(value) if isinstance(value, int) else plain_number(value, 6)


def _splits(result: Result | SecondaryValue) -> list[str]:
    return [name for name in ("overall", "public", "private") if getattr(result, name) is not None]


def _compare(truth: Truth, result: Result, path: str) -> dict[str, dict[str, Any]]:
    """For each split the first value minus the second, with an interval and the probability that the first is better if
    the metric has intervals."""
    try:
        other = truth.evaluate(path, uncertainty=True)
    except SubmissionError as error:
        raise _OtherIsInvalid(error.problems, error.host_details) from None
    found = {}
    for name in _splits(result):
        if name in result.uncertainty:
            found[name] = asdict(compare(result, other, name))
        else:  # a custom metric
            difference = getattr(result, name) - getattr(other, name)
            found[name] = {"difference": difference, "low": None, "high": None, "probability": None}
    return found


def _verdict(split: str, found: dict[str, Any], options: argparse.Namespace) -> str:
    """A sentence about which of the two files is better on a split."""
    first, second = options.submission, options.compare
    difference, chance = found["difference"], found["probability"]
    if chance is None:
        is_better = (difference > 0) == (get(options.key).direction == "maximize")
        chance = float(is_better) if difference else 0.5
        sure, interval = "", "; this metric has no interval"
    else:
        low, high = plain_number(found["low"], 6), plain_number(found["high"], 6)
        sure, interval = f": {max(chance, 1 - chance):.3g}", f", 95 %: {low} to {high}"
    gap = f"difference {plain_number(difference, 6)}{interval}"
    if chance == 0.5:
        return f"{split:<8} neither is better ({gap})"
    if chance < 0.5:
        first, second = second, first
    return f"{split:<8} {first} is better than {second}{sure} ({gap})"


def _further(text: str) -> tuple[str, dict[str, Any]]:
    """A further metric with its parameters. Raises ``UnknownMetric``, ``ParameterError``."""
    key, *given = text.split(",")
    return key, clean_params(key, dict(map(_pair, given)))


def _secondary_line(value: SecondaryValue, problem: str) -> str:
    """The output line of a further metric."""
    settings = "".join(f", {name}={setting}" for name, setting in value.params.items() if setting is not None)
    numbers = [f"{name} {plain_number(getattr(value, name))}" for name in _splits(value)]
    return f"{value.key}{settings}: {', '.join(numbers) or f'– {problem or value.problem}'}"


def _pair(text: str) -> tuple[str, str]:
    name, found, value = text.partition("=")
    if not found:
        raise ParameterError({name: "Write parameters as name=value."})
    return name.strip(), value


def _all_of(error: SubmissionError) -> list[Problem]:
    """All problems of a file, including the metric's details for hosts, because the user at home has the truth."""
    return error.problems + ([Problem("metric", error.host_details)] if error.host_details else [])


def _complain(head: str, problems: Sequence[Problem], status: int, options: argparse.Namespace) -> int:
    if getattr(options, "json", False):
        _print_json({"errors": [problem.as_dict() for problem in problems]})
    else:
        print("\n".join([head, *(f"- {problem.message}" for problem in problems)]), file=sys.stderr)
    return status


def _print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False))


if __name__ == "__main__":
    sys.exit(main())
