"""Pages of those who operate the site."""

from __future__ import annotations

from .running import prometheus, status

__all__ = ["prometheus", "status"]
