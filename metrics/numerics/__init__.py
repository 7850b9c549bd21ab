"""Numerics that several metrics share: ranks, words, boxes, masks, averages."""

from __future__ import annotations
