"""What every exported table has in common."""

from __future__ import annotations

# The wide forms count where a spreadsheet speaks Chinese, Japanese or Korean.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")


def safe_cell(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return "'" + text if text.startswith(FORMULA_STARTS) else text
