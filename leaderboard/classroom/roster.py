"""Services for the roster: preview and import a class list, link members, make join cards, mark people who left.

An import deletes no entry: people missing from the list are shown, and the host may mark them as having left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from django.db import IntegrityError, transaction
from django.db.models import Count, Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.accounts.institution.people import student_numbers_of
from leaderboard.accounts.models import User
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.competitions.models import Competition, Membership
from leaderboard.competitions.services import CannotHost
from leaderboard.scoring import table_jobs
from metrics.reading.containers import READERS, container_of

from . import roster_files
from .models import RosterDraft, RosterEntry, RosterList, joined_values

# Fields by which a line is matched with an entry; without any of them, name and section are used.
MATCHING_FIELDS = ("student_id", "sis_user_id", "email", "login")
FIELD_LABELS = {
    "name": gettext_lazy("Name"),
    "email": gettext_lazy("E-mail address"),
    "student_id": gettext_lazy("Student ID"),
    "sis_user_id": gettext_lazy("SIS user ID"),
    "login": gettext_lazy("Login"),
    "section": gettext_lazy("Section"),
}


@dataclass(frozen=True)
class RosterChange:
    """A line of the class list, with its entry (None: new) and the differences as (field, before, after)."""

    line: roster_files.RosterLine
    entry: RosterEntry | None = None
    differences: tuple[tuple[str, str, str], ...] = ()
    has_joined: bool = False
    """Whether a member is linked to this entry, or will be by a confirmed address or student number."""

    @property
    def named_differences(self) -> list[tuple[str, str, str]]:
        """The differences with the names of the fields as shown to hosts."""
        return [(str(FIELD_LABELS[name]), before, after) for name, before, after in self.differences]

    @property
    def name(self) -> str:
        values = self.line.values
        return next((values[name] for name in ("name", "email", "login", *MATCHING_FIELDS) if values.get(name)), "")


@dataclass
class RosterPreview:
    """The changes that importing a class list would make."""

    new: list[RosterChange] = field(default_factory=list)
    changed: list[RosterChange] = field(default_factory=list)
    unchanged: list[RosterChange] = field(default_factory=list)
    missing: list[RosterEntry] = field(default_factory=list)
    bad: list[roster_files.SkippedLine] = field(default_factory=list)
    left_out: list[roster_files.SkippedLine] = field(default_factory=list)
    columns: list[tuple[str, str]] = field(default_factory=list)

    @property
    def joined(self) -> list[RosterChange]:
        return [one for one in (*self.new, *self.changed, *self.unchanged) if one.has_joined]


def save_roster_draft(*, competition: Competition, user: User | None, file_name: str, data: bytes | str) -> RosterDraft:
    """Store a class list for the preview; the roster does not change. Raises `CannotHost` for an unreadable file."""
    if isinstance(data, bytes) and container_of(data[:4096]) in READERS:
        data = table_jobs.csv_of(data)
        if not data:
            raise CannotHost(
                _("This Excel or Parquet file can't be read: it is empty, damaged or too large. Save the list as CSV.")
            )
    try:
        text = roster_files.decode_roster(data if isinstance(data, bytes) else data.encode(errors="replace"))
        roster_files.read_roster(text)
    except roster_files.UnreadableRoster as error:
        raise CannotHost(str(error)) from error
    fields = {"text": text, "file_name": file_name[:200], "made_by": user, "made_at": database_now()}
    return RosterDraft.objects.update_or_create(competition=competition, defaults=fields)[0]


def discard_roster_draft(*, competition: Competition) -> None:
    """Delete the class list in preview."""
    RosterDraft.objects.filter(competition=competition).delete()


def preview_roster(competition: Competition, draft: RosterDraft) -> RosterPreview:
    """The changes that importing the draft would make to the roster as it is now."""
    reading = roster_files.read_roster(draft.text)
    held = list(competition.roster.all())
    found = RosterPreview(columns=reading.columns, left_out=[one for one in reading.skipped if not one.is_bad])
    found.bad = [one for one in reading.skipped if one.is_bad]
    index = _EntryIndex(held)
    confirmed = _confirmed_keys(competition)
    seen: dict[int, roster_files.RosterLine] = {}
    lines: dict[tuple[str, str], roster_files.RosterLine] = {}
    for line in reading.lines:
        entries = index.of(line.values)
        earlier = _earlier(line, lines)
        if len(entries) > 1:
            names = ", ".join(sorted(str(entry) for entry in entries))
            reason = _("its ids and addresses match several people on the roster: {names}").format(names=names)
            found.bad.append(_bad_line(line, reason))
        elif earlier or (entries and entries[0].pk in seen):
            found.bad.append(_bad_line(line, _duplicate_line(line, earlier or seen[entries[0].pk])))
        else:
            entry = entries[0] if entries else None
            change = _change_of(line, entry, confirmed)
            kind = found.new if entry is None else found.changed if change.differences else found.unchanged
            kind.append(change)
            if entry is not None:
                seen[entry.pk] = line
    found.missing = [entry for entry in held if entry.pk not in seen and entry.left_at is None]
    found.bad.sort(key=lambda one: one.number)
    return found


def _confirmed_keys(competition: Competition) -> set[str]:
    """Members' confirmed addresses (in lower case) and student numbers, by which `link_members` finds their entries."""
    members = Membership.objects.filter(competition=competition).order_by()
    confirmed = members.filter(user__emailaddress__verified=True).values_list("user__emailaddress__email", flat=True)
    numbers = [number for _user, number in student_numbers_of(members.values_list("user", flat=True))]
    return {*numbers, *(email.casefold() for email in confirmed)}


def _change_of(line: roster_files.RosterLine, entry: RosterEntry | None, confirmed: Collection[str]) -> RosterChange:
    number = line.values.get("sis_user_id") or line.values.get("student_id", "")
    has_joined = (entry is not None and entry.user_id is not None) or (
        line.values.get("email", "").casefold() in confirmed or number in confirmed
    )
    if entry is None:
        return RosterChange(line, has_joined=has_joined)
    # An empty cell does not delete the value of an earlier list.
    differing = [(name, getattr(entry, name), value) for name, value in line.values.items() if value]
    return RosterChange(line, entry, tuple(one for one in differing if one[1] != one[2]), has_joined)


def _bad_line(line: roster_files.RosterLine, reason: str) -> roster_files.SkippedLine:
    return roster_files.SkippedLine(line.number, RosterChange(line).name[:80], reason)


def _duplicate_line(line: roster_files.RosterLine, earlier: roster_files.RosterLine) -> str:
    """The reason to skip a line with the address or number of an earlier one.

    With different names it names the other person, because the host has to find out whose address it is.
    """
    name = RosterChange(earlier).name
    if RosterChange(line).name.casefold() == name.casefold():
        return _("same person as in row {number}").format(number=earlier.number)
    words = _("its address or one of its ids is already in row {number}, for {name}")
    return words.format(number=earlier.number, name=name[:80])


def _earlier(
    line: roster_files.RosterLine, lines: dict[tuple[str, str], roster_files.RosterLine]
) -> roster_files.RosterLine | None:
    """An earlier line of the same person, or None. Adds this line to `lines`."""
    keys = [(name, line.values[name].casefold()) for name in MATCHING_FIELDS if line.values.get(name)]
    keys = keys or [("name", f"{line.values.get('name', '')}\n{line.values.get('section', '')}".casefold())]
    earlier = next((lines[key] for key in keys if key in lines), None)
    for key in keys:
        lines.setdefault(key, line)
    return earlier


class _EntryIndex:
    """Index of entries by number, address, login and name."""

    def __init__(self, entries: Iterable[RosterEntry]) -> None:
        self._by: dict[tuple[str, str], list[RosterEntry]] = {}
        for entry in entries:
            for name in MATCHING_FIELDS:
                if value := getattr(entry, name):
                    self._by.setdefault((name, value.casefold()), []).append(entry)
            self._by.setdefault(("name", entry.name.casefold()), []).append(entry)

    def of(self, values: dict[str, str]) -> list[RosterEntry]:
        """The entries that match a line: one, none, or several if its numbers and addresses contradict each other."""
        keyed = {
            entry.pk: entry
            for name in MATCHING_FIELDS
            if values.get(name)
            for entry in self._by.get((name, values[name].casefold()), [])
        }
        if keyed:
            return list(keyed.values())
        # By name only if line and entry have no field in common that would tell apart two people of the same name.
        named = self._by.get(("name", values.get("name", "").casefold()), []) if values.get("name") else []
        candidates = [
            entry for entry in named if not any(values.get(name) and getattr(entry, name) for name in MATCHING_FIELDS)
        ]
        if len(candidates) == 1:
            return candidates
        return [entry for entry in candidates if entry.section == values.get("section", "")]


def apply_roster(*, competition: Competition, user: User | None) -> RosterPreview:
    """Import the class list in preview: add new entries, update changed ones, delete none. Raises `CannotHost`.

    Members whose confirmed address or student number is on the list are linked to it.
    """
    with transaction.atomic():
        held = Competition.objects.select_for_update().get(pk=competition.pk)
        draft = RosterDraft.objects.filter(competition=held).first()
        if draft is None:
            raise CannotHost(_("This preview was already imported or discarded. Choose the list again."))
        found = preview_roster(held, draft)
        made = (
            RosterList.objects.create(competition=held, file_name=draft.file_name, taken_by=user) if found.new else None
        )
        RosterEntry.objects.bulk_create(
            [RosterEntry(competition=held, roster_list=made, **change.line.values) for change in found.new],
            batch_size=500,
        )
        for change in found.changed:
            _apply_change(change)
        link_members(held)
        draft.delete()
        held.bump_board_version()
        numbers = {name: len(getattr(found, name)) for name in ("new", "changed", "unchanged", "missing", "bad")}
        AuditEntry.append(AuditEvent.ROSTER_READ, user=user, competition=held, about=draft.file_name, after=numbers)
    return found


def roster_lists(competition: Competition) -> list[RosterList]:
    """Imported lists with entries on the roster, newest first; each has the `number` of its entries, and how many are
    `removable` because they have no account."""
    counted = competition.roster_lists.annotate(
        number=Count("people"), removable=Count("people", filter=Q(people__user=None))
    )
    return list(counted.filter(number__gt=0).select_related("taken_by"))


def remove_roster_list(*, competition: Competition, number: int, user: User | None) -> int:
    """Delete the entries that a list added and that have no account, with their invitations; returns how many.

    Changes that the list made to other entries stay. Raises `CannotHost` if there is no entry to delete.
    """
    with transaction.atomic():
        held = Competition.objects.select_for_update().get(pk=competition.pk)
        taken = held.roster_lists.filter(pk=number).first()
        waiting = RosterEntry.objects.filter(competition=held, roster_list=number, user=None)
        numbers = list(waiting.select_for_update().values_list("pk", flat=True)) if taken else []
        if taken is None or not numbers:
            raise CannotHost(_("There's no one left to remove. Everyone on this list has joined or is already gone."))
        waiting.filter(pk__in=numbers).delete()
        held.bump_board_version()
        AuditEntry.append(
            AuditEvent.ROSTER_TAKEN_BACK,
            user=user,
            competition=held,
            about=taken.file_name,
            before={"people": len(numbers)},
        )
    return len(numbers)


def _apply_change(change: RosterChange) -> None:
    entry = change.entry
    assert entry is not None
    for name, _before, after in change.differences:
        setattr(entry, name, after)
    try:
        with transaction.atomic():
            entry.save(update_fields=[name for name, *_ in change.differences])
    except IntegrityError as error:
        raise CannotHost(
            _("Row {number}: another person on the roster has this address.").format(number=change.line.number)
        ) from error


def link_members(competition: Competition) -> int:
    """Link entries to members by the student number that an institution sent, else by a confirmed address.

    Returns how many were linked.
    """
    waiting = list(competition.roster.filter(user=None, left_at=None))
    numbers = Counter(entry.student_number for entry in waiting)
    by_number = {entry.student_number: entry for entry in waiting if numbers[entry.student_number] == 1}
    by_address = {entry.email.casefold(): entry for entry in waiting if entry.email}
    linked = set(competition.roster.exclude(user=None).values_list("user", flat=True))
    joined = dict(Membership.objects.filter(competition=competition).values_list("user", "joined_at"))
    found = [(user, by_number.get(number)) for user, number in student_numbers_of(joined)]
    confirmed = Membership.objects.filter(competition=competition, user__emailaddress__verified=True).order_by()
    found += [
        (user, by_address.get(email.casefold()))
        for user, email in confirmed.values_list("user", "user__emailaddress__email")
    ]
    taken: set[int] = set()
    for user, entry in found:
        if entry is not None and user not in linked and entry.pk not in taken:
            RosterEntry.objects.filter(pk=entry.pk).update(**joined_values(user, joined[user]))
            linked.add(user)
            taken.add(entry.pk)
    return len(taken)


def mark_left(*, competition: Competition, entries: Sequence[int], user: User | None, left: bool = True) -> int:
    """Mark entries as having left the course, or as back (`left=False`); memberships stay. Returns how many."""
    with transaction.atomic():
        waiting = competition.roster.filter(pk__in=entries, left_at__isnull=left)
        numbers = sorted(waiting.values_list("pk", flat=True))
        if numbers:
            competition.roster.filter(pk__in=numbers).update(left_at=database_now() if left else None)
            AuditEntry.append(
                AuditEvent.ROSTER_CHANGED,
                user=user,
                competition=competition,
                after={"left the course" if left else "back in the course": numbers[:50], "people": len(numbers)},
            )
    return len(numbers)


def move_to_section(*, competition: Competition, entries: Sequence[int], section: str, user: User | None) -> int:
    """Set the section of entries ("" for none); returns how many."""
    with transaction.atomic():
        numbers = sorted(competition.roster.filter(pk__in=entries).values_list("pk", flat=True))
        if numbers:
            competition.roster.filter(pk__in=numbers).update(section=section)
            competition.bump_board_version()
            AuditEntry.append(
                AuditEvent.ROSTER_CHANGED,
                user=user,
                competition=competition,
                after={"section": section, "entries": numbers[:50], "people": len(numbers)},
            )
    return len(numbers)


def make_join_cards(
    *, competition: Competition, entries: Sequence[int], user: User | None
) -> list[tuple[RosterEntry, str]]:
    """(entry, new one-time code) for each chosen student who has not joined; earlier codes stop working.

    Only digests are stored, so the caller must show the codes now. Raises `CannotHost` if all have joined or left.
    """
    at = database_now()
    with transaction.atomic():
        chosen = list(competition.roster.select_for_update().filter(pk__in=entries, user=None, left_at=None))
        if not chosen:
            raise CannotHost(_("Everyone you selected has already joined or left the course."))
        join_cards = [(entry, entry.new_join_card_code(at)) for entry in chosen]
        for entry, _code in join_cards:
            entry.invited_at, entry.mail_asked_at, entry.mail_problem = at, None, ""
        fields = ["join_card_digest", "join_card_expires_at", "invited_at", "mail_asked_at", "mail_problem"]
        RosterEntry.objects.bulk_update(chosen, fields, batch_size=500)
        AuditEntry.append(AuditEvent.INVITED, user=user, competition=competition, after={"join cards": len(join_cards)})
    return join_cards
