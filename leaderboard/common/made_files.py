"""Files that the site makes of its own sources before it serves pages.

`python -m leaderboard.common.made_files VAR_DIR` makes what is missing or was made of other sources.
"""

from __future__ import annotations

import sys
from pathlib import Path


def make_files(var: Path) -> None:
    """Worked examples, the home scorer and fonts. Pages say so or do without while a file is missing."""
    from .fonts import STYLES, make_fonts
    from .library_wheel import make_wheel
    from .worked_examples import make_worked_examples

    make_worked_examples(var / "made")
    make_wheel(var / "made")
    if not (var / "static" / "fonts" / STYLES).exists():
        make_fonts(var / "static" / "fonts")


if __name__ == "__main__":
    make_files(Path(sys.argv[1]))
