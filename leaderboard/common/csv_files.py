"""Rules for every exported table: cells are safe to open in a spreadsheet."""

from __future__ import annotations

# The wide forms count where a spreadsheet speaks Chinese, Japanese or Korean.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")


def safe_cell(text: str) -> str:
    """The text with `'` before it where a spreadsheet would take it for a formula."""
    return "'" + text if text.startswith(FORMULA_STARTS) else text
