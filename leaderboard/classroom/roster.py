"""Preview and import a class list, and remove the entries of an import.

An import deletes no entry: people missing from the list are shown, and the host may mark them as having left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Q
from django.utils.translation import gettext as _

from leaderboard.accounts.institution.people import student_numbers_of
from leaderboard.accounts.models import User
from leaderboard.common.clock import database_now
from leaderboard.common.library_messages import stored_text
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.competitions.models import Competition, Course, Membership
from leaderboard.competitions.services import CannotHost
from leaderboard.scoring import table_jobs
from metrics.reading.formats import TABLES, container_of

from . import people, roster_files
from .models import RosterDraft, RosterEntry, RosterList
from .people import lock_class_list

# Fields by which a line is matched with an entry; without any of them, name and section are used.
MATCHING_FIELDS = ("lms_user", "student_id", "sis_user_id", "email", "login")


@dataclass(frozen=True)
class RosterChange:
    """A line of the class list, with its entry (None: new) and the differences as (field, before, after)."""

    line: roster_files.RosterLine
    entry: RosterEntry | None = None
    differences: tuple[tuple[str, str, str], ...] = ()
    has_joined: bool = False
    """Whether a member is linked to this entry, or will be by an address or student number."""

    @property
    def named_differences(self) -> list[tuple[str, str, str]]:
        """The differences with the names of the fields as shown to hosts."""
        return [(str(roster_files.FIELD_LABELS[name]), before, after) for name, before, after in self.differences]

    @property
    def name(self) -> str:
        values = self.line.values
        return next((values[name] for name in ("name", "email", "login", *MATCHING_FIELDS) if values.get(name)), "")

    @property
    def university_id(self) -> str:
        """The university's number: in a list from Canvas, `student_id` is Canvas's own."""
        return self.line.values.get("sis_user_id") or self.line.values.get("student_id", "")


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
    unused_columns: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    matched: int = 0
    """After the import: members linked by an address that they have not confirmed."""

    @property
    def joined(self) -> list[RosterChange]:
        return [change for change in (*self.new, *self.changed, *self.unchanged) if change.has_joined]


def save_roster_draft(*, competition: Competition, user: User | None, file_name: str, data: bytes | str) -> RosterDraft:
    """Store a class list for the preview; the roster does not change. Raises `CannotHost` for an unreadable file."""
    source, _reading, notes = read_list(data)
    fields = {**asdict(source), "file_name": file_name[:200], "made_by": user, "made_at": database_now()}
    fields["reading_notes"] = notes
    return RosterDraft.objects.update_or_create(course=competition.course, defaults=fields)[0]


def read_list(
    data: bytes | str,
) -> tuple[roster_files.RosterText, roster_files.RosterReading, list[dict[str, Any]]]:
    """(text, content, stored notes on how a workbook was read) of a list of people. Raises `CannotHost`."""
    notes: list[dict[str, Any]] = []
    if isinstance(data, bytes) and container_of(data[:4096]) in TABLES:
        try:
            data, notes = table_jobs.csv_of(data)
        except table_jobs.JobDied:
            data = b""
        if not data:
            raise CannotHost(
                _("This Excel or Parquet file can't be read: it is empty, damaged or too large. Save the list as CSV.")
            )
    try:
        source = roster_files.decode_roster(data if isinstance(data, bytes) else data.encode(errors="replace"))
        return source, roster_files.read_roster(source), notes
    except roster_files.UnreadableRoster as error:
        raise CannotHost(str(error)) from error


def discard_roster_draft(*, competition: Competition) -> None:
    """Delete the class list in preview."""
    RosterDraft.objects.filter(course=competition.course_id).delete()


def preview_roster(competition: Competition, draft: RosterDraft) -> RosterPreview:
    """The changes that importing the draft would make to the roster as it is now."""
    reading = roster_files.read_roster(roster_files.RosterText(draft.text, draft.guessed_encoding))
    roster = list(competition.course.roster.all())
    preview = RosterPreview(
        columns=reading.columns,
        unused_columns=reading.unused_columns,
        notes=[*map(stored_text, draft.reading_notes), *reading.notes],
        bad=[line for line in reading.skipped if line.is_bad],
        left_out=[line for line in reading.skipped if not line.is_bad],
    )
    index = EntryIndex(roster)
    members = _member_keys(competition.course)
    line_of_entry: dict[int, roster_files.RosterLine] = {}
    lines: dict[tuple[str, str], roster_files.RosterLine] = {}
    for line in reading.lines:
        entries = index.of(line.values)
        earlier = _earlier_line(line, lines)
        if len(entries) > 1:
            names = ", ".join(sorted(str(entry) for entry in entries))
            reason = _("its ids and addresses match several people on the roster: {names}").format(names=names)
            preview.bad.append(_bad_line(line, reason))
        elif earlier or (entries and entries[0].pk in line_of_entry):
            reason = _duplicate_reason(line, earlier or line_of_entry[entries[0].pk])
            preview.bad.append(_bad_line(line, reason))
        else:
            entry = entries[0] if entries else None
            change = _change_of(line, entry, members)
            kind = preview.new if entry is None else preview.changed if change.differences else preview.unchanged
            kind.append(change)
            if entry is not None:
                line_of_entry[entry.pk] = line
    preview.missing = [entry for entry in roster if entry.pk not in line_of_entry and entry.left_at is None]
    preview.bad.sort(key=lambda line: line.number)
    return preview


def _member_keys(course: Course) -> set[str]:
    """Members' addresses (in lower case) and student numbers, by which the import links them to entries."""
    members = Membership.objects.filter(competition__course=course).order_by()
    confirmed = members.filter(user__emailaddress__verified=True).values_list("user__emailaddress__email", flat=True)
    numbers = [number for _user, number in student_numbers_of(members.values_list("user", flat=True))]
    addresses = (*confirmed, *members.values_list("user__email", flat=True))
    return {*numbers, *(email.casefold() for email in addresses if email)}


def _change_of(line: roster_files.RosterLine, entry: RosterEntry | None, members: Collection[str]) -> RosterChange:
    number = RosterChange(line).university_id
    has_joined = (entry is not None and entry.user_id is not None) or (
        line.values.get("email", "").casefold() in members or number in members
    )
    if entry is None:
        return RosterChange(line, has_joined=has_joined)
    # An empty cell does not delete the value of an earlier list.
    pairs = ((name, getattr(entry, name), value) for name, value in line.values.items() if value)
    differences = tuple((name, before, after) for name, before, after in pairs if before != after)
    return RosterChange(line, entry, differences, has_joined)


def _bad_line(line: roster_files.RosterLine, reason: str) -> roster_files.SkippedLine:
    return roster_files.SkippedLine(line.number, RosterChange(line).name[:80], reason)


def _duplicate_reason(line: roster_files.RosterLine, earlier: roster_files.RosterLine) -> str:
    """The reason to skip a line with the address or number of an earlier one.

    With different names it names the other person, because the host has to find out whose address it is.
    """
    name = RosterChange(earlier).name
    if RosterChange(line).name.casefold() == name.casefold():
        return _("same person as in row {number}").format(number=earlier.number)
    reason = _("its address or one of its ids is already in row {number}, for {name}")
    return reason.format(number=earlier.number, name=name[:80])


def _earlier_line(
    line: roster_files.RosterLine, lines: dict[tuple[str, str], roster_files.RosterLine]
) -> roster_files.RosterLine | None:
    """An earlier line of the same person, or None. Adds this line to `lines`."""
    keys = [_key(name, line.values[name]) for name in MATCHING_FIELDS if line.values.get(name)]
    keys = keys or [("name", f"{line.values.get('name', '')}\n{line.values.get('section', '')}".casefold())]
    earlier = next((lines[key] for key in keys if key in lines), None)
    for key in keys:
        lines.setdefault(key, line)
    return earlier


def _key(name: str, value: str) -> tuple[str, str]:
    """The value of a field as it is compared; only a platform's names of people may differ by case alone."""
    return name, value if name == "lms_user" else value.casefold()


class EntryIndex:
    """Index of entries by number, address, login and name."""

    def __init__(self, entries: Iterable[RosterEntry]) -> None:
        self._by: dict[tuple[str, str], list[RosterEntry]] = {}
        for entry in entries:
            for name in MATCHING_FIELDS:
                if value := getattr(entry, name):
                    self._by.setdefault(_key(name, value), []).append(entry)
            self._by.setdefault(("name", entry.name.casefold()), []).append(entry)
            if entry.user_id is not None:
                self._by.setdefault(("user", str(entry.user_id)), []).append(entry)

    def of_entry(self, entry: RosterEntry) -> list[RosterEntry]:
        """The entries that match one of another list, also by its account."""
        found = self._by.get(("user", str(entry.user_id)), [])
        values = {name: getattr(entry, name) for name in (*MATCHING_FIELDS, "name", "section")}
        return list({one.pk: one for one in (*found, *self.of(values))}.values())

    def of(self, values: dict[str, str]) -> list[RosterEntry]:
        """The entries that match a line: one, none, or several if its numbers and addresses contradict each other.

        A person of a learning platform is matched by that alone.
        """
        if found := self._by.get(("lms_user", values.get("lms_user", ""))):
            return found
        keyed = {
            entry.pk: entry
            for name in MATCHING_FIELDS
            if values.get(name)
            for entry in self._by.get(_key(name, values[name]), [])
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

    Members whose address or student number is on the list are linked to it.
    """
    with transaction.atomic():
        competition = lock_class_list(competition)
        draft = RosterDraft.objects.filter(course=competition.course_id).first()
        if draft is None:
            raise CannotHost(_("This preview was already imported or discarded. Choose the list again."))
        preview = preview_roster(competition, draft)
        fields: dict[str, Any] = {"course": competition.course}
        if preview.new:
            fields["roster_list"] = RosterList.objects.create(
                course=competition.course, file_name=draft.file_name, imported_by=user
            )
        new = [RosterEntry(**fields, **change.line.values) for change in preview.new]
        RosterEntry.objects.bulk_create(new, batch_size=500)
        for change in preview.changed:
            _apply_change(change)
        preview.matched = people.link_members(competition.course, by_any_address=True)
        draft.delete()
        counts = {name: len(getattr(preview, name)) for name in ("new", "changed", "unchanged", "missing", "bad")}
        AuditEntry.append(
            AuditEvent.ROSTER_READ, user=user, competition=competition, about=draft.file_name, after=counts
        )
    return preview


def roster_lists(competition: Competition) -> list[RosterList]:
    """Imported lists with entries on the roster, newest first; each has the `number` of its entries, and how many are
    `removable` because they have no account."""
    counted = competition.course.roster_lists.annotate(
        number=Count("people"), removable=Count("people", filter=Q(people__user=None))
    )
    return list(counted.filter(number__gt=0).select_related("imported_by"))


def remove_roster_list(*, competition: Competition, number: int, user: User | None) -> int:
    """Delete the entries that a list added and that have no account, with their invitations; returns how many.

    Changes that the list made to other entries stay. Raises `CannotHost` if there is no entry to delete.
    """
    with transaction.atomic():
        competition = lock_class_list(competition)
        roster_list = competition.course.roster_lists.filter(pk=number).first()
        entries = RosterEntry.objects.filter(course=competition.course_id, roster_list=number, user=None)
        numbers = list(entries.select_for_update().values_list("pk", flat=True))
        if roster_list is None or not numbers:
            raise CannotHost(_("There's no one left to remove. Everyone on this list has joined or is already gone."))
        entries.filter(pk__in=numbers).delete()
        AuditEntry.append(
            AuditEvent.ROSTER_TAKEN_BACK,
            user=user,
            competition=competition,
            about=roster_list.file_name,
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
