"""Checks of a truth for its host: suspicions, baselines, suggested metrics, splits, hardest rows."""
