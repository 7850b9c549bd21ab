"""Hook for export of a person's data: the platforms that know them, the marks sent. The rows go with the account."""

from __future__ import annotations

from datetime import datetime

from leaderboard.accounts import hooks as accounts_hooks
from leaderboard.accounts.hooks import PersonalData
from leaderboard.accounts.models import User
from leaderboard.common.hooks import on

from .models import PlatformMark


@on(accounts_hooks.export)
def export_platforms(*, account: User, at: datetime) -> PersonalData:
    people = account.lti_people.values("platform__name", "platform__issuer", "subject", "email", "linked_at")
    sent = PlatformMark.objects.filter(user=account).exclude(sent_at=None)
    marks = sent.values("link__competition__slug", "sent_points", "sent_comment", "sent_out_of", "sent_at")
    return PersonalData({"learning_platforms": list(people), "marks_sent": list(marks)})
