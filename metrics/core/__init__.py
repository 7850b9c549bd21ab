"""What a metric is, and what computes it: contract, parameters, registry, truth, evaluation, uncertainty."""

from __future__ import annotations
