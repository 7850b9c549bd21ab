"""The site: competitions for classes. See the README for the way of a submission."""

from __future__ import annotations

__version__ = "0.1.0"
