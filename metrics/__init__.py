"""Metrics that are never a mystery: each one a file that says what it computes and shows a worked example.

>>> import metrics
>>> truth = b"id,label\\n1,cat\\n2,dog\\n"
>>> metrics.score("accuracy", truth, b"id,label\\n2,dog\\n1,dog\\n")
accuracy: 0.5 (95 %: 0.00481334 to 0.995187)

The library knows nothing of the site. Importing it and reading the catalogue loads numpy and no more.
"""

from .checks.findings import Finding
from .checks.splits import add_split
from .checks.suggest import suggest
from .checks.truth_report import TruthReport, check_truth
from .core.contract import Contributions, Example, Metric, Role, RowSum, WholeColumn
from .core.errors import (
    GroundTruthError,
    MetricError,
    MetricFailed,
    ParameterError,
    Problem,
    SubmissionError,
    UnknownMetric,
)
from .core.explanation import Explanation, explain
from .core.messages import Message
from .core.parameters import Parameter
from .core.prepare import Comparison, compare, evaluate, prepare, score
from .core.registry import catalogue, clean_params, get
from .core.result import Result, SecondaryValue
from .core.truth import Truth
from .core.uncertainty import Uncertainty
from .reading.headers import sniff

__all__ = [
    "Comparison",
    "Contributions",
    "Example",
    "Explanation",
    "Finding",
    "GroundTruthError",
    "Message",
    "Metric",
    "MetricError",
    "MetricFailed",
    "Parameter",
    "ParameterError",
    "Problem",
    "Result",
    "Role",
    "RowSum",
    "SecondaryValue",
    "SubmissionError",
    "Truth",
    "TruthReport",
    "Uncertainty",
    "UnknownMetric",
    "WholeColumn",
    "add_split",
    "catalogue",
    "check_truth",
    "clean_params",
    "compare",
    "evaluate",
    "explain",
    "get",
    "prepare",
    "score",
    "sniff",
    "suggest",
]
