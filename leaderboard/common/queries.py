"""Helpers that several queries share."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db.models import Count, QuerySet, Subquery
from django.db.models.functions import Coalesce

Row = TypeVar("Row")


def only_row(rows: QuerySet[Any, Row]) -> Row | None:
    """The row of a query that finds at most one, or None. Unlike `first` it does not sort: that makes Django compare
    all columns, which takes as long as the rest of a query with joined tables."""
    return next(iter(rows.order_by()[:1]), None)


def count_rows(rows: QuerySet[Any, Any], by: str) -> Coalesce:
    """A subquery that counts the rows with the same value of `by`, to annotate each of them. Counting by joins would
    multiply the counts of two relations."""
    counted = rows.order_by().values(by).annotate(number=Count("pk"))
    return Coalesce(Subquery(counted.values("number")), 0)
