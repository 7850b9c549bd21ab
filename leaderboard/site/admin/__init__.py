"""Django's admin for competitions and their people."""

from __future__ import annotations

from . import accounts, competitions, records

__all__ = ["accounts", "competitions", "records"]
