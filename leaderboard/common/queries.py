"""Helpers that several queries share."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db.models import Count, Model, QuerySet, Subquery
from django.db.models.functions import Coalesce

Row = TypeVar("Row")
AnyModel = TypeVar("AnyModel", bound=Model)


def only_row(rows: QuerySet[Any, Row]) -> Row | None:
    """The row of a query that finds at most one, or None. Unlike `first` it does not sort: that makes Django compare
    all columns, which takes as long as the rest of a query with joined tables."""
    return next(iter(rows.order_by()[:1]), None)


def locked_by_key(rows: QuerySet[AnyModel]) -> QuerySet[AnyModel]:
    """The same rows, locked until the end of the transaction, in the order of their keys: two statements that lock them
    in different orders would wait for each other in a ring. New rows that name them wait for nothing."""
    keys = rows.select_for_update(of=("self",), no_key=True).order_by("pk").values_list("pk", flat=True)
    return rows.model._default_manager.filter(pk__in=list(keys))


def count_rows(rows: QuerySet[Any, Any], by: str) -> Coalesce:
    """A subquery that counts the rows with the same value of `by`, to annotate each of them. Counting by joins would
    multiply the counts of two relations."""
    counted = rows.order_by().values(by).annotate(number=Count("pk"))
    return Coalesce(Subquery(counted.values("number")), 0)
