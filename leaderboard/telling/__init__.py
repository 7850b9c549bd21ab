"""Words to people: a notice on their page, and a letter by their own choice.

The rows are the queue: `tell` writes them in the transaction of what it tells of, and a sweep mails what is due.
"""

from __future__ import annotations

from .hosts import tell_hosts
from .invitations import why_no_letters, words_of
from .letters import is_mail_due, send_due, stopped_by, token_for
from .lines import wrapped
from .notices import Header, Words, choices_of, choose, header_of, mark_read, reader, tell, unread

__all__ = [
    "Header",
    "Words",
    "choices_of",
    "choose",
    "header_of",
    "is_mail_due",
    "mark_read",
    "reader",
    "send_due",
    "stopped_by",
    "tell",
    "tell_hosts",
    "token_for",
    "unread",
    "why_no_letters",
    "words_of",
    "wrapped",
]
