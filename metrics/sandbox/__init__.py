"""Metric files that an operator adds (``METRICS_DIR``), and the isolation of the processes in which they run.

Part of the library because ``python -m metrics`` scores with such files, too."""

from __future__ import annotations
