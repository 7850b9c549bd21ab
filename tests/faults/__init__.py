"""What must happen when something breaks; tests carry the numbers of the faults: `@pytest.mark.fault(1)`."""

from __future__ import annotations
