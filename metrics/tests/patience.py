"""How long things may take on a busy machine."""

import os


def patience() -> float:
    """How many times longer than on a quiet machine things may take on this one, as busy as it is now."""
    return 1 + os.getloadavg()[0] / (os.cpu_count() or 1)
