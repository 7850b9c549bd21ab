"""New drafts: with default settings, or copied from an earlier competition for the next term."""

from __future__ import annotations

import re
import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition

from ..queries import free_slug, slug_of
from . import folders

USUAL_LENGTH = timedelta(days=14)
NEW_TITLE = "New competition"


def create_default_draft(*, user: User, title: str = NEW_TITLE, **fields: Any) -> Competition:
    """A draft with default settings: open from now for two weeks, until the end of the day in its time zone.

    The settings are marked as proposed until the host confirms them. Raises `ValidationError`.
    """
    now = timezone.now()
    proposed = {
        "slug": fields.get("slug") or free_slug(title),
        "opens_at": now.replace(second=0, microsecond=0),
        "closes_at": end_of_day(now + USUAL_LENGTH, fields.get("zone", "UTC")),
    }
    return competitions.create_competition(user=user, is_proposal=True, title=title, **{**proposed, **fields})


def end_of_day(moment: datetime, zone: str) -> datetime:
    """23:59 on the same day in a time zone."""
    return moment.astimezone(ZoneInfo(zone)).replace(hour=23, minute=59, second=0, microsecond=0)


def clone_competition(*, competition: Competition, user: User, title: str) -> Competition:
    """Copy a competition as a draft by exporting and importing it: with texts, limits, metric, data files, answers and
    baselines, but no teams.

    Dates that have passed are moved so that it opens now, for as many days. Raises `CannotHost`; nothing is left behind
    then.
    """
    changes = {"title": title, "slug": free_slug(title), "is_proposal": True, **_dates_of_copy(competition)}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "folder"
        folders.export_folder(competition, folder)
        copy = folders.import_folder(folder, user=user, needs_truth=False, changes=changes)
    with transaction.atomic():
        AuditEntry.append(AuditEvent.CLONED, user=user, competition=copy, about=competition.slug)
    return copy


def next_title(title: str) -> str:
    """The title of a copy: with the next year if the title ends in a year, else with “(copy)”."""
    year = re.search(r"\b(?:19|20)[0-9]{2}$", title)
    if year:
        return f"{title[: year.start()]}{int(year[0]) + 1}"
    return _("%(title)s (copy)") % {"title": title[:100]}


def follow_title(*, competition: Competition, user: User) -> None:
    """Make a slug that was made from an earlier title again from the new one; students do not know it yet."""
    slug = slug_of(competition.title)
    is_proposed = competition.slug.startswith(("new-competition", "predict-"))
    if is_proposed and slug and not competition.slug.startswith(slug):
        competitions.change_competition(competition=competition, user=user, slug=free_slug(competition.title))
        competition.refresh_from_db()


def _dates_of_copy(competition: Competition) -> dict[str, datetime]:
    """Dates of a copy: unchanged if they are in the future, else from now for as many days, to the same time of day."""
    now = timezone.now()
    if competition.opens_at > now:
        return {"opens_at": competition.opens_at, "closes_at": competition.closes_at}
    zone = ZoneInfo(competition.zone)
    closed, begins = competition.closes_at.astimezone(zone), now.astimezone(zone)
    length = max(closed.date() - competition.opens_at.astimezone(zone).date(), timedelta(days=1))
    closes_at = datetime.combine(begins.date() + length, closed.time(), zone)
    return {"opens_at": now.replace(second=0, microsecond=0), "closes_at": closes_at}
