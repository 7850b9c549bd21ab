"""Pages of those who operate the site."""

from __future__ import annotations

from .running import status

__all__ = ["status"]
