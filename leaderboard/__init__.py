"""The site: competitions for classes. docs/architecture.md has its parts and the way of a submission."""

from __future__ import annotations

__version__ = "0.1.0"
