"""The scorer at home: the same code and the same messages as on the site.

::

    python -m metrics list [--json]
    python -m metrics show KEY
    python -m metrics score KEY TRUTH.csv SUBMISSION.csv [-p name=value …] [--id COLUMN] [--json] [--rows OUT.csv]

Exit status: 0 scored, 1 bad call (unknown metric or parameter, no such file), 2 invalid submission, 3 invalid truth.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import metrics
from metrics._explain import rows_csv


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m metrics", description="Score a submission at home.")
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="all metrics")
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
    options = parser.parse_args(arguments)
    try:
        return {"list": _list, "show": _show, "score": _score}[options.command](options)
    except metrics.GroundTruthError as error:
        return _complain("The truth file is invalid.", error.problems, 3, options)
    except metrics.SubmissionError as error:
        return _complain("The submission is invalid.", error.problems, 2, options)
    except (metrics.MetricError, OSError) as error:
        code = "file" if isinstance(error, OSError) else "call"
        words = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
        problems = [metrics.Problem(code, line) for line in words.splitlines()]
        return _complain("This cannot be scored.", problems, 1, options)


def _list(options: argparse.Namespace) -> int:
    found = metrics.catalogue()
    if options.json:
        _print_json([_described(metric) for metric in found])
        return 0
    width = max(len(metric.key) for metric in found)
    for metric in found:
        print(f"{metric.key:<{width}}  {metric.summary}")
    return 0


def _described(metric: metrics.Metric) -> dict[str, Any]:
    names = ("key", "title", "summary", "group", "direction", "best", "version", "columns")
    parameters = [
        {
            "name": parameter.name,
            "kind": parameter.kind,
            "default": parameter.default,
            "choices": list(parameter.choices),
            "help": parameter.help,
        }
        for parameter in metric.parameters
    ]
    return {**{name: getattr(metric, name) for name in names}, "parameters": parameters}


def _show(options: argparse.Namespace) -> int:
    metric = metrics.get(options.key)
    print(f"{metric.title} ({metric.key}, {metric.direction}, best {metric.best:g})")
    print(f"{metric.columns}\n\n{metric.summary}\n\n{metric.description}")
    if metric.parameters:
        print("\nParameters:")
    for parameter in metric.parameters:
        default = "" if parameter.default is None else parameter.default
        print(f"  -p {parameter.name}={default}  {parameter.help}")
    example = metric.example
    print(f"\nExample\n\n{example.truth}\n{example.submission}\nScore: {example.score!r}")
    return 0


def _score(options: argparse.Namespace) -> int:
    params = dict(_pair(text) for text in options.params)
    truth = metrics.prepare(options.key, options.truth, params, options.id_column)
    result = truth.evaluate(options.submission)
    if options.rows:
        Path(options.rows).write_bytes(rows_csv(truth, options.submission))
    if options.json:
        _print_json(result.as_dict())
        return 0
    for name in ("overall", "public", "private"):
        if (value := getattr(result, name)) is not None:
            parts = ", ".join(f"{part} {count:g}" for part, count in result.parts.get(name, {}).items())
            print(f"{name:<8} {value!r}{f'  ({parts})' if parts else ''}")
    return 0


def _pair(text: str) -> tuple[str, str]:
    name, found, value = text.partition("=")
    if not found:
        raise metrics.ParameterError({name: "Write parameters as name=value."})
    return name.strip(), value


def _complain(head: str, problems: Sequence[metrics.Problem], status: int, options: argparse.Namespace) -> int:
    if getattr(options, "json", False):
        _print_json({"errors": [problem.as_dict() for problem in problems]})
    else:
        print("\n".join([head, *(f"- {problem.message}" for problem in problems)]), file=sys.stderr)
    return status


def _print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False))


if __name__ == "__main__":
    sys.exit(main())
