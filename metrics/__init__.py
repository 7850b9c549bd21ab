"""Metrics that are never a mystery: each one a file that says what it computes and shows a worked example.

>>> import metrics
>>> truth = b"id,label\\n1,cat\\n2,dog\\n"
>>> metrics.evaluate("accuracy", truth, b"id,label\\n2,dog\\n1,dog\\n").overall
0.5

The library knows nothing of the site. Importing it and reading the catalogue loads numpy and no more.
"""

from __future__ import annotations

from .checks.baselines import Baseline
from .checks.corrections import correct_rows
from .checks.findings import Finding
from .checks.hard_rows import HardRow, HardRows, hardest_rows
from .checks.similar_predictions import Agreement, Pair, agreement
from .checks.splits import add_split, drop_columns
from .checks.suggest import Fit, suggest
from .checks.truth_differences import Difference, Differences, differences
from .checks.truth_report import TruthReport, check_truth
from .core.contract import Contributions, Example, Metric, Role
from .core.errors import (
    GroundTruthError,
    MetricError,
    MetricFailed,
    MetricTooSlow,
    ParameterError,
    Problem,
    SubmissionError,
    UnknownMetric,
)
from .core.evaluate import Result, SecondaryValue
from .core.explanation import Explanation, explain
from .core.figures import Curve, Grid
from .core.messages import Message, forms_of, kept, restored
from .core.parameters import Parameter, Range
from .core.prepare import evaluate, prepare
from .core.registry import catalogue, clean_params, get
from .core.truth import Truth
from .core.uncertainty import Comparison, Uncertainty, chance_better, compare, indistinguishable
from .core.wheel import wheel
from .reading.containers import read_container
from .reading.preview import header, sniff
from .reading.spreadsheet import AsMeant, as_meant
from .sandbox.isolation import Limits, NoSandbox, limit, seal
from .sandbox.isolation import get_ready as get_cage_ready
from .sandbox.metric_files import OutsideFile, add_outside_file, outside_file, outside_files, outside_settings
from .sandbox.metric_files import folder as outside_folder
from .sandbox.packages import outside_packages
from .sandbox.processes import HELP as OUTSIDE_HELP
from .sandbox.processes import Stopped as OutsideStopped
from .sandbox.processes import are_trusted as outside_is_trusted
from .sandbox.processes import cage_missing, cage_test
from .sandbox.python_path import import_folders
from .sandbox.runner import Runner as OutsideRunner
from .sandbox.runner import run_outside, run_outside_by

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
