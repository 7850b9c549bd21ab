"""The contract of a metric file: one ``Metric`` value named like the file, made of functions and kinds of column.

There are two ways to define one: a **sum over rows** (``RowSum``) or a value of the **whole column** (``WholeColumn``).
``rows``, ``total`` and ``score`` declare the parameters with their defaults; the other functions get those they name.

Uncertainty is computed from the sums if a metric is a sum over rows; else from ``influence``; else by scoring resampled
rows again (``uncertainty``).
"""

import hashlib
import inspect
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import numpy as np

from ..numerics.sums import exact_sum
from ..reading.columns import Kind
from .figures import Figure
from .lazy import cached_property
from .messages import Message, joined
from .parameters import Parameter, complete, parameters_of


@dataclass(frozen=True)
class Example:
    """A worked example: two tiny CSV texts and the score they must get. A metric knows its file by the ``module`` that
    makes its example."""

    truth: str
    submission: str
    score: float
    params: Mapping[str, Any] = field(default_factory=dict)
    module: str = field(default_factory=lambda: str(sys._getframe(2).f_globals["__name__"]), compare=False)


@dataclass(frozen=True)
class Contributions:
    """The contributions of rows, many of which are equal: row i adds ``table[of_row[i]]``.

    ``table`` has shape (distinct, k), ``of_row`` shape (n,).
    """

    table: np.ndarray
    of_row: np.ndarray

    def dense(self) -> np.ndarray:
        dense: np.ndarray = self.table[self.of_row]
        return dense


@dataclass(frozen=True)
class Role:
    """A further truth column that a metric reads besides the answers, such as a weight.

    Its name is also a parameter, in which the host names the column. A metric with roles receives ``Answers`` as its
    truth: ``truth.answer`` and ``truth["weight"]``. A truth may lack the column ``may_lack``.
    """

    kind: Kind
    help: str
    may_lack: str = ""


def quotient(sums: np.ndarray) -> float:
    """The first of two sums divided by the second: a mean if the second counts the rows."""
    return ratio(*sums)


@dataclass(frozen=True)
class RowSum:
    """A sum over rows: ``rows(truth, prediction)`` returns the contribution of each row, ``total(sums)`` the score from
    the summed contributions.

    Without ``total`` it is the first sum divided by the second. ``parts`` names the columns that ``rows`` returns.
    ``last_line`` is a formula of the score from their sums, such as ``"1 − {wrong} / {rows}"``, which may use
    parameters, too; it is a function of the parameters if they change it, and a quotient needs none.

    If ``total`` returns ``None`` for some parameters (averages over labels), ``score(truth, prediction)`` returns the
    value and ``influence`` its uncertainty.
    """

    rows: Callable[..., np.ndarray | Contributions]
    total: Callable[..., float | None] = quotient
    parts: tuple[str, ...] = ()
    last_line: str | Callable[..., str] = ""
    score: Callable[..., float] | None = None
    influence: Callable[..., np.ndarray] | None = None

    is_whole: ClassVar[bool] = False
    is_made_of_sums: ClassVar[bool] = True
    effective_size: ClassVar[None] = None
    relevant_rows: ClassVar[None] = None
    ready: ClassVar[None] = None

    @property
    def is_plain_sum(self) -> bool:
        """Whether the value is made of summed contributions under all parameters."""
        return self.score is None


@dataclass(frozen=True)
class WholeColumn:
    """A value of the whole column, returned by ``score(truth, prediction)``; or by ``rows`` and ``total`` as in
    ``RowSum``, if the contribution of a row depends on the other rows of its split (a rank, a number of pairs). Besides
    a ``score``, ``rows`` and ``total`` only explain it. Each split is computed separately.

    ``influence(truth, prediction, **params)`` is the first-order effect of each row of one split on its score, shape
    (n,), scaled so that the root of the sum of squares is the standard error.

    ``effective_size(truth, prediction, **params)`` is for metrics with an ``influence`` that give rare classes the
    weight of frequent ones: the number of rows with which a plain share would be as certain as this split, or ``None``
    if these parameters weight rows equally.

    ``relevant_rows(truth)`` is for metrics whose ``influence`` takes long: the number of rows that can raise the score.
    If a sample of the rows has enough of them, the influence is computed there.

    ``ready(prediction)`` prepares all rows at once before they are split, for example ranks in place of scores, so that
    these are sorted once. The other functions accept both.
    """

    score: Callable[..., float] | None = None
    rows: Callable[..., np.ndarray | Contributions] | None = None
    total: Callable[..., float | None] | None = None
    parts: tuple[str, ...] = ()
    last_line: str | Callable[..., str] = ""
    influence: Callable[..., np.ndarray] | None = None
    effective_size: Callable[..., float | None] | None = None
    relevant_rows: Callable[[Any], int] | None = None
    ready: Callable[[Any], Any] | None = None

    is_whole: ClassVar[bool] = True
    is_plain_sum: ClassVar[bool] = False

    @property
    def is_made_of_sums(self) -> bool:
        """Whether the value of a split is made of its rows' contributions."""
        return self.score is None


@dataclass(frozen=True)
class SubmissionFormat:
    """The format of submissions whose columns differ from the truth's. ``names`` are fixed names, or a function of the
    truth's answers and target column names. ``aliases`` are further names allowed for the last column. With
    ``may_miss_ids`` a submission may leave out rows."""

    names: tuple[str, ...] | Callable[[Any, tuple[str, ...]], Sequence[str]] = ()
    aliases: tuple[str, ...] = ()
    may_miss_ids: bool = False


@dataclass(frozen=True)
class Rules:
    """Requirements of a metric on files.

    ``verify(columns, prediction, **params)`` refuses cells of a submission that are wrong only because of the
    parameters; ``columns`` are its ``Cells`` and ``prediction`` the array read from them, in the order of the file.
    ``unscorable(truth, **params)`` returns a sentence why a part of the truth cannot be scored, or ``""``.
    ``perfect(truth, **params)`` returns the columns of a perfect submission if it is not a copy of the truth.
    ``hint(prediction, **params)`` returns a sentence for the student about a file that can be scored and was perhaps
    meant otherwise, or ``""``; it never depends on the truth.
    ``confirm`` maps parameter and value to the text that the host must confirm.
    """

    verify: Callable[..., None] | None = None
    unscorable: Callable[..., str] | None = None
    perfect: Callable[..., list[list[str]]] | None = None
    hint: Callable[..., str] | None = None
    confirm: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class ByParameters:
    """Properties that depend on parameters: ``best(**params)`` and ``worst(**params)`` are the ends of the scale, the
    latter ``None`` if there is no end; ``metric(**params)`` is the metric
    with the columns that these parameters need. It may declare parameters that the other functions do not read."""

    best: Callable[..., float] | None = None
    worst: Callable[..., float | None] | None = None
    metric: "Callable[..., Metric] | None" = None


@dataclass(frozen=True)
class Metric:
    """A metric as its file declares it.

    ``best`` and ``worst`` are the ends of its scale: ``best`` is 1 where higher is better and 0 where lower is, unless
    given, and infinite if that of a custom metric is unknown; ``worst`` is ``None`` if there is no end. ``truth`` and
    ``submission`` are the kinds of column on both sides, one kind for both if only ``truth`` is given; ``roles`` are
    further truth columns.

    ``figures(truth, prediction, **params)`` returns drawings that explain a small file: a matrix, a curve.

    Its texts are shown in each reader's language: title, group and summary, the words for kinds of column, the help of
    parameters, and the texts to confirm.
    """

    title: str
    group: str
    direction: Literal["maximize", "minimize"]
    truth: Kind
    computation: RowSum | WholeColumn
    example: Example
    submission: Kind = field(default=cast(Kind, None))
    best: float = math.nan
    worst: float | None = None
    roles: Mapping[str, Role] = field(default_factory=dict)
    format: SubmissionFormat = SubmissionFormat()
    rules: Rules = Rules()
    by_parameters: ByParameters = ByParameters()
    figures: Callable[..., list[Figure]] | None = None

    def __post_init__(self) -> None:
        if math.isnan(self.best):
            object.__setattr__(self, "best", 1.0 if self.direction == "maximize" else 0.0)
        object.__setattr__(self, "submission", self.submission or self.truth)

    @property
    def is_custom(self) -> bool:
        """Whether the operator added its file: then it has neither contributions of rows nor uncertainty."""
        return False

    @property
    def is_composite(self) -> bool:
        """Whether it is made of other metrics, which its parameters name."""
        return self.group == "Composite"

    @property
    def has_best(self) -> bool:
        return math.isfinite(self.best)

    @property
    def longest_line(self) -> int:
        """The most bytes of a line in truth and submission."""
        return max(self.truth.longest_line, self.submission.longest_line)

    @property
    def key(self) -> str:
        """The metric's name: that of its file, in the database, and in URLs."""
        return self.example.module.rpartition(".")[2]

    @cached_property
    def _documentation(self) -> tuple[str, str]:
        head, _, rest = (sys.modules[self.example.module].__doc__ or "").strip().partition("\n")
        return head.strip(), rest.strip()

    @property
    def summary(self) -> str:
        """The first line of the module docstring, shown in the chooser."""
        return self._documentation[0]

    @property
    def description(self) -> str:
        """Definition, edge cases and source: Markdown with LaTeX between double dollars."""
        return self._documentation[1]

    @cached_property
    def columns(self) -> Message:
        """The kinds of column that the metric reads, in words."""
        truth = self.truth.words
        for name in self.roles:
            truth = Message("{kind} and {role}", kind=truth, role=name)
        # Translators: the columns of a ground truth and those of a submission to it
        return Message("{truth} → {submission}", truth=truth, submission=self.submission.words)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters that a host may set, in the order of the functions' keyword-only arguments."""
        roles = [Parameter(name, "column", name, help=role.help) for name, role in self.roles.items()]
        how = self.computation
        declared = parameters_of([function for function in (how.rows, how.total, how.score) if function])
        names = {parameter.name for parameter in declared}
        made = self.by_parameters.metric
        of_columns = [one for one in parameters_of([made] if made else []) if one.name not in names]
        return (*roles, *declared, *of_columns)

    @property
    def source_path(self) -> Path:
        return Path(str(sys.modules[self.example.module].__file__))

    @cached_property
    def version(self) -> str:
        """Twelve hexadecimal digits of the SHA-256 of the metric's file."""
        return hashlib.sha256(self.source_path.read_bytes()).hexdigest()[:12]

    def adapt(self, params: Mapping[str, Any], id_column: str = "") -> "Metric":
        """The metric with the columns that these parameters need besides the id."""
        made = self.by_parameters.metric
        return self if made is None else made(**chosen(made, params))

    def best_with(self, params: Mapping[str, Any]) -> float:
        """The best value under these parameters."""
        best = self.by_parameters.best
        return self.best if best is None else best(**chosen(best, params))

    def worst_with(self, params: Mapping[str, Any]) -> float | None:
        """The worst value under these parameters; ``None`` if there is no end."""
        worst = self.by_parameters.worst
        return self.worst if worst is None else worst(**chosen(worst, params))

    def confirmation(self, params: Mapping[str, Any]) -> str:
        """The text that the host must confirm before publishing with these parameters; ``""`` if there is none."""
        full = complete(self.parameters, params)
        return joined([words[full[name]] for name, words in self.rules.confirm.items() if full.get(name) in words])


def chosen(function: Callable[..., Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that a function accepts."""
    names = _arguments_of(function)
    return {name: value for name, value in params.items() if name in names}


@lru_cache(maxsize=1024)
def _arguments_of(function: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)


def last_line_of(how: RowSum | WholeColumn, params: Mapping[str, Any]) -> str:
    """The formula of the score from the sums under these parameters, or ``""``."""
    if callable(how.last_line):
        return how.last_line(**chosen(how.last_line, params))
    is_quotient = how.total is quotient and not how.last_line
    return f"{{{how.parts[0]}}} / {{{how.parts[1]}}}" if is_quotient else how.last_line


def each_pair(truth: Any, prediction: Any, contribution: Callable[[Any, Any], Sequence[float]]) -> Contributions:
    """The contributions from calling ``contribution`` once for each distinct pair of a true and a predicted cell.

    Real columns have few distinct pairs, so this makes text metrics fast.
    """
    true, said, of_row = distinct_pairs(truth, prediction)
    values, guesses = truth.values, prediction.values
    table = [contribution(values[t], guesses[p]) for t, p in zip(true.tolist(), said.tolist(), strict=True)]
    return Contributions(np.array(table, np.float64), of_row)


def distinct_pairs(truth: Any, prediction: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The codes of the distinct pairs of a true and a predicted cell, and the index of each row's pair."""
    if prediction.size == len(prediction) or truth.size == len(truth):
        return truth.codes, prediction.codes, np.arange(len(truth))
    width = max(1, prediction.size)
    pairs = truth.codes.astype(np.int64) * width + prediction.codes
    distinct, of_row = distinct_codes(pairs, truth.size * width)
    true, said = np.divmod(distinct, width)
    return true, said, of_row


def distinct_codes(pairs: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct codes (all below ``size``), sorted, and the index of each code among them."""
    if size > 4 * len(pairs) + 1024:
        distinct, of_row = np.unique(pairs, return_inverse=True)
        return distinct, of_row
    seen = np.zeros(size, bool)
    seen[pairs] = True
    distinct = np.flatnonzero(seen)
    place = np.zeros(size, np.int32)
    place[distinct] = np.arange(len(distinct), dtype=np.int32)
    return distinct, place[pairs]


def answer_columns(metric: Metric, target: Any, names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of a submission's columns besides the id."""
    if callable(metric.format.names):
        return tuple(metric.format.names(target, names))
    return metric.format.names or names


def ratio(over: Any, under: Any, *, empty: float = 0.0) -> float:
    """``over / under``, or ``empty`` if ``under`` is 0; elementwise for arrays."""
    if isinstance(under, np.ndarray):
        return cast(float, np.where(under == 0, empty, over / np.where(under == 0, 1.0, under)))
    return float(over) / float(under) if under else float(empty)


def root(value: Any) -> float:
    """The square root; elementwise for arrays."""
    return cast(float, np.sqrt(value)) if isinstance(value, np.ndarray) else float(np.sqrt(value))


def sums_of(contributions: np.ndarray | Contributions, rows: np.ndarray | None) -> list[Any]:
    """The exact column sums (fractions) over the given rows, or over all."""
    if isinstance(contributions, Contributions):
        of_row = contributions.of_row if rows is None else contributions.of_row[rows]
        if of_row.dtype == np.int8:  # few distinct contributions, so counting each of them is fastest
            counts = np.array([np.count_nonzero(of_row == place) for place in range(len(contributions.table))])
        else:
            counts = np.bincount(of_row, minlength=len(contributions.table))
        return [exact_sum(column * counts) for column in contributions.table.T]
    return [exact_sum(column if rows is None else column[rows]) for column in contributions.T]
