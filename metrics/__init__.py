"""Metrics that are never a mystery: each one a file that says what it computes and shows a worked example.

>>> import metrics
>>> truth = b"id,label\\n1,cat\\n2,dog\\n"
>>> metrics.evaluate("accuracy", truth, b"id,label\\n2,dog\\n1,dog\\n").overall
0.5

The library knows nothing of the site. Importing it and reading the catalogue loads numpy and no more.
"""

from __future__ import annotations

from metrics._agreement import Agreement, Pair, agreement
from metrics._baselines import Baseline
from metrics._cage import Limits, NoSandbox, limit, seal
from metrics._cage import get_ready as get_cage_ready
from metrics._checks import TruthReport, check_truth
from metrics._choose import Fit, suggest
from metrics._containers import read_container
from metrics._contract import Contributions, Example, Metric, Role
from metrics._corrections import correct_rows
from metrics._differences import Difference, Differences, differences
from metrics._errors import (
    GroundTruthError,
    MetricError,
    MetricFailed,
    MetricTooSlow,
    ParameterError,
    Problem,
    SubmissionError,
    UnknownMetric,
)
from metrics._evaluate import Result, SecondaryValue
from metrics._explain import Explanation, explain
from metrics._figures import Curve, Grid
from metrics._findings import Finding
from metrics._hardest import HardRow, HardRows, hardest_rows
from metrics._import_folders import import_folders
from metrics._messages import Message, forms_of, kept, restored
from metrics._outside import OutsideFile, add_outside_file, outside_file, outside_files, outside_settings
from metrics._outside import folder as outside_folder
from metrics._outside_elsewhere import Runner as OutsideRunner
from metrics._outside_elsewhere import run_outside, run_outside_by
from metrics._outside_packages import outside_packages
from metrics._outside_run import HELP as OUTSIDE_HELP
from metrics._outside_run import Stopped as OutsideStopped
from metrics._outside_run import are_trusted as outside_is_trusted
from metrics._outside_run import cage_missing, cage_test
from metrics._parameters import Parameter, Range
from metrics._prepare import evaluate, prepare
from metrics._registry import catalogue, clean_params, get
from metrics._sniff import header, sniff
from metrics._splits import add_split, drop_columns
from metrics._spreadsheet import AsMeant, as_meant
from metrics._truth import Truth
from metrics._uncertainty import Comparison, Uncertainty, chance_better, compare, indistinguishable
from metrics._wheel import wheel

__all__ = [
    "OUTSIDE_HELP",
    "Agreement",
    "AsMeant",
    "Baseline",
    "Comparison",
    "Contributions",
    "Curve",
    "Difference",
    "Differences",
    "Example",
    "Explanation",
    "Finding",
    "Fit",
    "Grid",
    "GroundTruthError",
    "HardRow",
    "HardRows",
    "Limits",
    "Message",
    "Metric",
    "MetricError",
    "MetricFailed",
    "MetricTooSlow",
    "NoSandbox",
    "OutsideFile",
    "OutsideRunner",
    "OutsideStopped",
    "Pair",
    "Parameter",
    "ParameterError",
    "Problem",
    "Range",
    "Result",
    "Role",
    "SecondaryValue",
    "SubmissionError",
    "Truth",
    "TruthReport",
    "Uncertainty",
    "UnknownMetric",
    "add_outside_file",
    "add_split",
    "agreement",
    "as_meant",
    "cage_missing",
    "cage_test",
    "catalogue",
    "chance_better",
    "check_truth",
    "clean_params",
    "compare",
    "correct_rows",
    "differences",
    "drop_columns",
    "evaluate",
    "explain",
    "forms_of",
    "get",
    "get_cage_ready",
    "hardest_rows",
    "header",
    "import_folders",
    "indistinguishable",
    "kept",
    "limit",
    "outside_file",
    "outside_files",
    "outside_folder",
    "outside_is_trusted",
    "outside_packages",
    "outside_settings",
    "prepare",
    "read_container",
    "restored",
    "run_outside",
    "run_outside_by",
    "seal",
    "sniff",
    "suggest",
    "wheel",
]
