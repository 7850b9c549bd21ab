"""A protocol of ``Truth``, for modules that ``truth`` imports."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from ..reading.ids import Ids
from ..reading.tables import Table
from .buckets import Buckets
from .contract import Metric
from .errors import Problem
from .layout import Layout


class PreparedTruth(Protocol):
    """The part of a ``Truth`` that ``evaluate``, secondary and custom metrics read."""

    metric: Metric
    params: dict[str, Any]
    layout: Layout
    id_column: str
    role_columns: Mapping[str, str]
    has_split: bool
    table: Table
    ids: Ids
    problems: list[Problem]
    target: Any
    answers: Any
    scored: np.ndarray
    parts: dict[str, np.ndarray]
    secondary: Any

    @property
    def rows(self) -> int: ...

    @property
    def reading(self) -> tuple[object, ...]: ...

    @property
    def part_answers(self) -> dict[str, Any]: ...

    @property
    def scored_columns(self) -> tuple[str, ...]: ...

    @property
    def submission_columns(self) -> tuple[str, ...]: ...

    @property
    def constant_prediction(self) -> list[str]: ...

    def buckets(self, split: str) -> Buckets: ...

    def name_in(self, table: Table, name: str) -> str: ...

    def with_metric(self, metric: Metric, params: dict[str, Any], table: Table, layout: Layout) -> "PreparedTruth": ...

    def read_prediction(
        self, table: Table, main: "PreparedTruth | None" = None, *, judges: bool = False
    ) -> tuple[Any, list[Problem]]: ...
