"""How large is too large, in words."""

from __future__ import annotations

import pytest

from leaderboard.common.storage import TooLarge, size_text


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (2000, "2,000 bytes"),
        (200_000, "195.3 KB"),
        (512 * 1024, "512 KB"),
        (1024**2, "1 MB"),
        (1024**2 - 1, "1,023.9 KB"),
        (50 * 1024**2, "50 MB"),
        (1_600_000, "1.5 MB"),
    ],
)
def test_a_limit_is_said_in_a_unit_that_fits(size: int, words: str) -> None:
    assert size_text(size) == words
    assert words in str(TooLarge(size))
