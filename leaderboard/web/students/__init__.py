"""Pages of those who take part: getting in, handing in, looking back, teams, the account."""

from __future__ import annotations

from .accounts import account
from .calendar import calendar, competition_calendar, my_calendar
from .entering import invitation, join, join_code, join_open, slip
from .grades import grade
from .history import finals, submission, submission_file, submission_problems, submission_receipt, submissions
from .leaving import delete_account, my_data
from .mine import my_teams
from .notices import notice, notifications, preferences, stop_mail
from .rescored import rescored
from .teams import team
from .uploading import submission_progress, submit

__all__ = [
    "account",
    "calendar",
    "competition_calendar",
    "delete_account",
    "finals",
    "grade",
    "invitation",
    "join",
    "join_code",
    "join_open",
    "my_calendar",
    "my_data",
    "my_teams",
    "notice",
    "notifications",
    "preferences",
    "rescored",
    "slip",
    "stop_mail",
    "submission",
    "submission_file",
    "submission_problems",
    "submission_progress",
    "submission_receipt",
    "submissions",
    "submit",
    "team",
]
