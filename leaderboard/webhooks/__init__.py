"""Messages to a class's channel in Slack, Discord or Teams: found in the facts, kept as rows, posted by a worker.

Only `posting` speaks to the network.
"""

from __future__ import annotations

from .addresses import Address, BadAddress, read_address
from .news import News, note_due, write
from .sending import explain, is_due, send_due

__all__ = ["Address", "BadAddress", "News", "explain", "is_due", "note_due", "read_address", "send_due", "write"]
