"""What several queries do alike."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db.models import Count, QuerySet, Subquery
from django.db.models.functions import Coalesce

Row = TypeVar("Row")


def only_row(rows: QuerySet[Any, Row]) -> Row | None:
    """The row of a query that finds one at most. `first` sorts it, for which Django compares all columns: of a row with
    what belongs to it that takes as long as everything else."""
    return next(iter(rows.order_by()[:1]), None)


def count_rows(rows: QuerySet[Any, Any], by: str) -> Coalesce:
    """For rows that have the same in the field `by`. Counted apart: a join of two kinds has each with every other."""
    counted = rows.order_by().values(by).annotate(number=Count("pk"))
    return Coalesce(Subquery(counted.values("number")), 0)
