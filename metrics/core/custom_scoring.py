"""Running the code of a custom metric's file: on a site in a sealed process, at home in this process."""

import importlib.util
import io
import math
import random
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from ..reading.columns import Cells
from ..reading.split_words import USAGE
from ..reading.tables import Table, pick
from .contract import Metric
from .custom_columns import cycled, stand_in_cells
from .custom_packages import custom_packages, is_module
from .errors import GroundTruthError, MetricFailed, NotFinite, Problem, SubmissionError
from .evaluate import score_prediction
from .messages import Message
from .result import OVERALL, Result
from .types import PreparedTruth

MAX_SHOWN_CHARACTERS = 500
_MAX_TEXT_CHARACTERS = 2000

_SAMPLED = 100
_REFUSED_WITHOUT_WORDS = Message("The metric refuses this file, and what it says about it cannot be shown here.")

UTILITIES = "kaggle_metric_utilities"

Loader = Callable[[], ModuleType]
"""A function that loads the metric's file as a new module."""


def load_module(key: str, data: bytes, path: Path) -> ModuleType:
    """The file as a new module, so that nothing remains from one submission to the next; its name has a prefix, so that
    it hides no library. Packages for custom metrics are found after those of the site."""
    folder = custom_packages()
    if folder is not None and str(folder) not in sys.path:
        sys.path.append(str(folder))
    if UTILITIES not in sys.modules:
        sys.modules[UTILITIES] = import_module(f"{__package__}.{UTILITIES}")
    name = f"{__package__.partition('.')[0]}.{key}"
    spec = importlib.util.spec_from_loader(name, loader=None, origin=f"{key}.py")
    assert spec is not None, "a specification without a loader is always made"
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(path)
    sys.modules[name] = module
    exec(compile(data, f"{key}.py", "exec"), module.__dict__)  # noqa: S102 - the operator's trusted code
    return module


def metric_in(module: ModuleType, key: str) -> Any:
    """The ``Metric`` that a file in the form of ``metrics/`` declares under its key; ``None`` without one."""
    return getattr(module, key.replace("-", "_"), None)


def error_facts(error: BaseException, key: str) -> dict[str, Any]:
    """An error as a dictionary: its class, its message, and its line in the file."""
    name = type(error).__name__
    for_participants = any(kind.__name__ == "ParticipantVisibleError" for kind in type(error).__mro__)
    try:
        words = str(error)
    except Exception:
        words = ""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).name == f"{key}.py"]
    line = lines[-1] if lines else getattr(error, "lineno", None)
    kind = "memory" if isinstance(error, MemoryError) else "unfit" if isinstance(error, Unfit) else "host"
    return {
        "kind": "participant" if for_participants else kind,
        "class": name[:100],
        "words": words[:_MAX_TEXT_CHARACTERS],
        "line": line,
        "missing": error.name if isinstance(error, ModuleNotFoundError) else None,
    }


class Unfit(Exception):
    """The metric returned something that is not a score."""


def _finite(value: Any) -> float:
    """The score as a float. Raises ``Unfit`` unless it is one finite number."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise Unfit(f"score returned {type(value).__name__} where one finite number is needed")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise Unfit(f"score returned {number} where one finite number is needed")
    return number + 0.0  # never -0.0


def in_words(error: Mapping[str, Any]) -> str:
    """A message about an error of the metric's process, for the operator or the host."""
    where = f" (line {error['line']})" if error.get("line") else ""
    if is_module(error.get("missing")):
        return f"It needs the library {error['missing']}{where}, which is not installed for custom metrics."
    if error.get("kind") == "unfit" or not error["class"]:
        return str(error["words"])
    return f"{error['class']}: {error['words']}{where}"


def score_kaggle(
    truth: PreparedTruth, table: Table, places: np.ndarray, load: Loader, arguments: Mapping[str, Any]
) -> Result:
    """Score aligned rows by the file's function ``score`` with further ``arguments``, split by split.

    Raises ``SubmissionError`` with the metric's message for participants, and ``MetricFailed``.
    """
    run = KaggleRun(truth, table, load, arguments)
    refusal = run.judge()
    solution, submission = run.read(_solution_csv(truth)), run.read(_submission_csv(truth, table, places))
    values = {}
    for name, rows in {**truth.parts, OVERALL: np.arange(len(truth.scored))}.items():
        try:
            values[name] = _finite(run.score(_rows_of_frame(solution, rows), _rows_of_frame(submission, rows)))
        except BaseException as error:
            _raise_for_reader(run.metric, error_facts(error, run.metric.key), name, refusal)
    return Result(
        metric=truth.metric.key,
        version=truth.metric.version,
        params=truth.params,
        overall=values[OVERALL],
        public=values.get("public"),
        private=values.get("private"),
        rows=len(truth.scored),
    )


def score_library_form(truth: PreparedTruth, table: Table, places: np.ndarray, load: Loader) -> Result:
    """Score aligned rows by a file in the form of ``metrics/``, as built-in metrics are scored.

    Raises ``SubmissionError`` for cells that only a secondary metric refuses, and ``MetricFailed``.
    """
    metric = truth.metric
    columns = [Cells(table, truth.name_in(table, name), truth.id_column) for name in truth.submission_columns[1:]]
    prediction = metric.submission.read(columns, truth.target)
    if problems := [problem for cells in columns for problem in cells.problems]:
        raise SubmissionError(problems)
    prediction = metric.submission.fill(places, prediction)
    try:
        loaded = metric_in(load(), metric.key)
        # The answers are read again, so that the file's code leaves nothing in them for the next submission.
        computing = replace(metric, computation=loaded.computation, rules=loaded.rules)
        again = truth.with_metric(computing, truth.params, truth.table, truth.layout)
        if again.problems:
            raise GroundTruthError(again.problems)
        return score_prediction(again, prediction)
    except NotFinite:
        raise MetricFailed(metric.key, "returned no finite number") from None
    except BaseException as error:
        _raise_for_reader(metric, error_facts(error, metric.key), OVERALL)


class KaggleRun:
    """A metric in Kaggle's format with a submission in its original order, and stand-in answers that reveal nothing."""

    def __init__(self, truth: PreparedTruth, table: Table, load: Loader, arguments: Mapping[str, Any]) -> None:
        self.truth, self.metric, self.table, self.arguments = truth, truth.metric, table, arguments
        self.stand_in = self.read(_stand_in_csv(truth, table))
        self.whole, self.sample = map(self.read, _whole_and_sample(truth, table))
        try:
            self.module = load()
        except BaseException as error:
            _raise_for_reader(self.metric, error_facts(error, self.metric.key), OVERALL)

    def judge(self) -> str:
        """Raise the metric's message for participants, if it refuses the submission with stand-in answers.

        Such a message may be about these answers and not about the file. It is not, if the sample can be scored with
        them, or else if the metric says the same with other answers and not of the sample; and it is, if the file can
        be scored with its own predictions as answers. Nothing is raised then; words that do not depend on the answers
        are returned, or ``""``, and shown if the metric also refuses the submission with the true answers.
        """
        words = self.tried(self.stand_in, self.whole)[1]
        if words is None:
            return ""
        is_file_fine, other_words = self.tried(self._other_answers(), self.whole)
        is_sample_fine, of_sample = self.tried(self.stand_in.iloc[: len(self.sample)], self.sample)
        is_same = other_words == words
        if not is_file_fine and (is_sample_fine or (is_same and of_sample != words)):
            raise SubmissionError([_problem_of(words)])
        return words if is_same else ""

    def tried(self, solution: Any, submission: Any) -> tuple[bool, str | None]:
        """Whether the submission can be scored with these answers, and the metric's message for participants."""
        try:
            _finite(self.score(solution.copy(deep=True), submission.copy(deep=True)))
        except BaseException as error:
            found = error_facts(error, self.metric.key)
            return False, _error_text(found) if found["kind"] == "participant" else None
        return True, None

    def _other_answers(self) -> Any:
        """Other stand-in answers: the predictions themselves in the columns that the submission has."""
        varied = self.read(_stand_in_csv(self.truth, self.table, is_varied=True))
        return varied.assign(**{name: self.whole[name] for name in self.whole if name in varied})

    def score(self, solution: Any, submission: Any) -> Any:
        """The result of the file's function; random numbers are seeded, so that they are the same each time."""
        random.seed(0)
        np.random.seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.module.score(solution, submission, self.truth.id_column, **deepcopy(self.arguments))

    def read(self, text: bytes) -> Any:
        """A table as pandas reads it by default, with texts as objects; only an empty cell is missing."""
        import pandas as pd

        kinds: dict[str, type] = {} if self.truth.ids.are_integers else {self.truth.id_column: str}
        frame = pd.read_csv(
            io.BytesIO(text),
            dtype=kinds,
            keep_default_na=False,
            na_values=[""],
            index_col=False,
            low_memory=False,
        )
        texts = [name for name, kind in frame.dtypes.items() if pd.api.types.is_string_dtype(kind)]
        return frame.astype(dict.fromkeys(texts, object))


def _rows_of_frame(frame: Any, rows: Any) -> Any:
    return frame.iloc[rows].reset_index(drop=True).copy(deep=True)


def _raise_for_reader(metric: Metric, error: Mapping[str, Any], part: str, refusal: str = "") -> NoReturn:
    """Raise an error as a message for its readers. Participants read the ``refusal`` with stand-in answers; a message
    with the true answers could reveal them, so only the host reads it."""
    if error["kind"] == "participant":
        where = "all rows together" if part == OVERALL else f"the {part} part"
        raise SubmissionError([_problem_of(refusal)], f"Of {where} the metric says: {_error_text(error) or 'nothing'}")
    where = f" in line {error['line']}" if error.get("line") else ""
    raised = f"raised {error['class'] or 'an error'}{where}"
    said = {"unfit": "returned no finite number", "memory": f"needed more memory than there is{where}"}
    raise MetricFailed(metric.key, said.get(error["kind"], raised), in_words(error))


def _problem_of(words: str) -> Problem:
    return Problem("metric", words[:MAX_SHOWN_CHARACTERS] or _REFUSED_WITHOUT_WORDS)


def _error_text(error: Mapping[str, Any]) -> str:
    return " ".join(str(error["words"]).split())


def _solution_csv(truth: PreparedTruth) -> bytes:
    """The scored rows of the truth without its split, id first."""
    names = [name for name in truth.table.names if name not in (truth.id_column, USAGE if truth.has_split else "")]
    rows = truth.scored
    arrays = [pick(truth.table.column(name), rows) for name in (truth.id_column, *names)]
    return _csv_of_arrays([truth.id_column, *names], arrays)


def _submission_csv(truth: PreparedTruth, table: Table, places: np.ndarray) -> bytes:
    """The submission in the order of the scored rows, under the truth's ids; missing rows are left out."""
    there = places >= 0
    ids = pick(truth.table.column(truth.id_column), truth.scored[there])
    arrays = [pick(table.column(truth.name_in(table, name)), places[there]) for name in truth.submission_columns[1:]]
    return _csv_of_arrays(list(truth.submission_columns), [ids, *arrays])


def _stand_in_csv(truth: PreparedTruth, table: Table, *, is_varied: bool = False) -> bytes:
    """Stand-in answers derived only from the sample submission, in the order of the submission."""
    ids = table.column(truth.id_column)
    constant = dict(zip(truth.submission_columns[1:], truth.constant_prediction, strict=True))
    names = [name for name in truth.table.names if name not in (truth.id_column, USAGE if truth.has_split else "")]
    cells = stand_in_cells(names, set(truth.role_columns.values()), constant, is_varied=is_varied)
    return _csv_of_arrays([truth.id_column, *names], [ids, *(cycled(one, len(ids)) for one in cells)])


def _whole_and_sample(truth: PreparedTruth, table: Table) -> tuple[bytes, bytes]:
    """All rows of the submission in its order, and the sample's answers for the first of them."""
    wanted = truth.submission_columns[1:]
    ids = table.column(truth.id_column)
    whole = [table.column(truth.name_in(table, name)) for name in wanted]
    few = ids[:_SAMPLED]
    same = [cycled([cell], len(few)) for cell in truth.constant_prediction]
    return (
        _csv_of_arrays([truth.id_column, *wanted], [ids, *whole]),
        _csv_of_arrays([truth.id_column, *wanted], [few, *same]),
    )


def _csv_of_arrays(names: list[str], arrays: list[Any]) -> bytes:
    import pyarrow as pa
    from pyarrow import csv

    target = io.BytesIO()
    csv.write_csv(pa.Table.from_arrays(arrays, names=names), target)
    return target.getvalue()
