"""Numerics that several metrics share: ranks, words, boxes, masks, averages."""
