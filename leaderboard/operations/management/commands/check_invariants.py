"""`manage.py check_invariants`: the earlier name of `check_consistency`."""

from __future__ import annotations

from .check_consistency import Command

__all__ = ["Command"]
