"""New drafts: with default settings, or copied from an earlier competition for the next term."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.common.names import slug_from_title
from leaderboard.common.storage import file_chunks, path_of
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition
from leaderboard.competitions.models.competition_settings import EDITABLE, read_setting
from leaderboard.competitions.services import CannotHost

from ..specs import GroundTruthSpec
from . import data_files, drafts, publishing

USUAL_LENGTH = timedelta(days=14)
NEW_TITLE = "New competition"
# Fields that a copy does not take over.
ITS_OWN = ("slug", "title", "join_code", "opens_at", "closes_at")


def create_default_draft(*, user: User, **fields: Any) -> Competition:
    """A draft with default settings: open from now for two weeks, until the end of the day in its time zone.

    The settings are marked as proposed until the host confirms them. Raises `ValidationError`.
    """
    now = timezone.now()
    proposed = {
        "opens_at": now.replace(second=0, microsecond=0),
        "closes_at": end_of_day(now + USUAL_LENGTH, fields.get("zone", "UTC")),
    }
    return competitions.create_competition(user=user, is_proposal=True, **{**proposed, **fields})


def end_of_day(moment: datetime, zone: str) -> datetime:
    """23:59 on the same day in a time zone."""
    return moment.astimezone(ZoneInfo(zone)).replace(hour=23, minute=59, second=0, microsecond=0)


def clone_competition(
    *, competition: Competition, user: User, title: str, slug: str = "", with_baselines: bool = False
) -> Competition:
    """Copy a competition as a draft, with texts, limits, metric, data files and answers, but no teams or submissions.

    Dates that have passed are moved so that it opens now, for as many days. The answers become a checked draft for the
    host to review; `with_baselines` they are published at once, because baselines need a ground truth. Raises
    `ValidationError` for title and address, `CannotHost` and `JobFailed`; nothing is left behind then.
    """
    fields = {name: read_setting(competition, name) for name in EDITABLE if name not in ITS_OWN}
    fields |= {"title": title, "slug": slug or free_slug(title), **_dates_of_copy(competition)}
    copy = competitions.create_competition(user=user, is_proposal=True, **fields)
    try:
        with transaction.atomic():
            AuditEntry.append(AuditEvent.CLONED, user=user, competition=copy, about=competition.slug)
        _copy_files(competition, copy, user)
        _copy_truth(competition, copy)
        if with_baselines:
            _copy_baselines(competition, copy, user)
    except BaseException:
        competitions.delete_competition(competition=copy, user=user)
        raise
    return copy


def next_title(title: str) -> str:
    """The title of a copy: with the next year if the title ends in a year, else with “(copy)”."""
    year = re.search(r"\b(?:19|20)[0-9]{2}$", title)
    if year:
        return f"{title[: year.start()]}{int(year[0]) + 1}"
    return _("%(title)s (copy)") % {"title": title[:100]}


def free_slug(title: str) -> str:
    """An unused slug made from a title."""
    slug = _slug_of(title) or "copy"
    taken = set(Competition.objects.filter(slug__startswith=slug).values_list("slug", flat=True))
    numbered = (f"{slug}-{number}" for number in range(2, len(taken) + 3))
    return slug if slug not in taken else next(free for free in numbered if free not in taken)


def follow_title(*, competition: Competition, user: User) -> None:
    """Make a slug that was made from an earlier title again from the new one; students do not know it yet."""
    slug = _slug_of(competition.title)
    is_proposed = competition.slug.startswith(("new-competition", "predict-"))
    if is_proposed and slug and not competition.slug.startswith(slug):
        competitions.change_competition(competition=competition, user=user, slug=free_slug(competition.title))
        competition.refresh_from_db()


def _slug_of(title: str) -> str:
    return slug_from_title(title)[:50].strip("-")


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


def _copy_files(source: Competition, copy: Competition, user: User) -> None:
    for file in source.data_files.all():
        data_files.add_data_file(
            competition=copy,
            file_name=file.name,
            chunks=file_chunks(path_of(file.file_key, file.sha256)),
            description=file.description,
            user=user,
        )


def _copy_truth(source: Competition, copy: Competition) -> None:
    ground_truth = source.ground_truth
    if ground_truth is None:
        return
    chunks = file_chunks(path_of(ground_truth.file_key, ground_truth.sha256))
    spec = replace(GroundTruthSpec.from_truth(ground_truth), file_name=ground_truth.file_name, chunks=chunks)
    drafts.save_draft(competition=copy, spec=spec, suggests_metrics=True)


def _copy_baselines(source: Competition, copy: Competition, user: User) -> None:
    if source.ground_truth is None:
        raise CannotHost(_("“%(title)s” has no answers, so it has no baselines to copy.") % {"title": source})
    publishing.publish_draft(competition=copy, user=user, is_confirmed=True)
    for baseline in source.baselines.select_related("submission"):
        file = baseline.submission
        boards.add_baseline(
            competition=copy,
            user=user,
            name=baseline.name,
            file_name=file.file_name,
            chunks=file_chunks(path_of(file.file_key, file.sha256)),
        )
