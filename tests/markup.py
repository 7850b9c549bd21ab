"""Pages as tests compare them."""

from __future__ import annotations

import re


def tidy(page: str) -> str:
    """The page without the whitespace beside its tags: where a template breaks its lines is free."""
    return re.sub(r" ?(<[^>]*>) ?", r"\1", " ".join(page.split()))
