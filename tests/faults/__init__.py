"""What must happen when something breaks; each fault has its number in the table of test_table.py."""

from __future__ import annotations
