"""How many rows there are, as a part of another query."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, QuerySet, Subquery
from django.db.models.functions import Coalesce


def count_rows(rows: QuerySet[Any, Any], by: str) -> Coalesce:
    """For rows that have the same in the field `by`. Counted apart: a join of two kinds has each with every other."""
    counted = rows.order_by().values(by).annotate(number=Count("pk"))
    return Coalesce(Subquery(counted.values("number")), 0)
