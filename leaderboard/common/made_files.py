"""Generated files: made from the site's sources before pages are served.

`python -m leaderboard.common.made_files VAR_DIR` makes those that are missing or were made from other sources.
"""

from __future__ import annotations

import sys
from pathlib import Path


def make_files(var: Path) -> None:
    """Make worked examples, the home scorer and fonts. Pages can do without a file that is missing."""
    from .fonts import STYLES, make_fonts
    from .library_wheel import make_wheel
    from .worked_examples import make_worked_examples

    make_worked_examples(var / "made")
    make_wheel(var / "made")
    if not (var / "static" / "fonts" / STYLES).exists():
        make_fonts(var / "static" / "fonts")


if __name__ == "__main__":
    make_files(Path(sys.argv[1]))
