"""The tables of this app."""

from __future__ import annotations

from .announcement import Announcement
from .calendar import CalendarAddress
from .chat import Webhook, WebhookMessage
from .notice import Notice, NoticeChoice

__all__ = [
    "Announcement",
    "CalendarAddress",
    "Notice",
    "NoticeChoice",
    "Webhook",
    "WebhookMessage",
]
