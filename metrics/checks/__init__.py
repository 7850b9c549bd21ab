"""What a host should know about a truth: suspicions, baselines, suggested metrics, splits, hardest rows."""

from __future__ import annotations
