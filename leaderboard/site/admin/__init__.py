"""Django's admin for competitions and their people."""

from __future__ import annotations

from . import accounts, audit_log, competitions, ground_truths

__all__ = ["accounts", "audit_log", "competitions", "ground_truths"]
