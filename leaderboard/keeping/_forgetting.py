"""A person's name where others kept it: in words to others, in lists of a host, in a role that waits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from .. import gradebooks
from ..models import (
    AuditEntry,
    ChatEvent,
    Competition,
    Deed,
    Gradebook,
    Kind,
    Notice,
    RoleInvitation,
    RosterDraft,
    RosterEntry,
    User,
    WebhookMessage,
)
from ..models.audit import plain

NAMELESS = "Former member"
# Of all the languages that a reader may have.
QUOTES = "“”„‟«»‹›‘’‚'\""
# Of these the site writes the words, with names in them. Announcements are a host's own.
KINDS = (Kind.TEAM, Kind.DECISION, Kind.ROLE, Kind.FILE_FAILED)


@dataclass(frozen=True)
class Traces:
    """What a person is known by, read before the account goes."""

    username: str
    competitions: frozenset[int]
    addresses: tuple[str, ...]
    entries: tuple[RosterEntry, ...]

    @classmethod
    def of(cls, account: User) -> Traces:
        entries = tuple(RosterEntry.objects.filter(user=account))
        addresses = account.emailaddress_set.filter(verified=True)  # type: ignore[attr-defined]
        joined = account.memberships.values_list("competition", flat=True)
        # The hosts were told by name who gave a role up.
        lost = AuditEntry.objects.filter(account=account.pk, deed__in=(Deed.HOST_REMOVED, Deed.ASSISTANT_REMOVED))
        left = [pk for pk in lost.values_list("competition", flat=True) if pk is not None]
        run = [*account.hosted_competitions.all(), *account.assisted_competitions.all()]
        return cls(
            username=account.get_username(),
            competitions=frozenset(
                [*joined, *left, *(one.pk for one in run), *(entry.competition_id for entry in entries)]
            ),
            addresses=tuple(addresses.values_list("email", flat=True)),
            entries=entries,
        )


def forget(traces: Traces, renamed: Mapping[str, str], user: User | None) -> None:
    """Take a person's names out of what stays. `renamed`: names of teams and files, with those that stand there now;
    `user` deletes the account."""
    _in_notices(traces, renamed)
    _in_chats(traces, renamed)
    _in_gradebooks(traces)
    _in_drafts(traces)
    _in_admission(traces, user)
    _in_roles(traces, user)


def _quoted(traces: Traces, renamed: Mapping[str, str]) -> re.Pattern[str]:
    """Names stand in quotation marks wherever the site writes them: also that of a first team, called like its only
    member, with the number it got where another one was called so. Addresses stand alone."""
    names = [rf"{re.escape(traces.username)}(?: \d+)?", *map(re.escape, renamed)]
    quoted = f"(?<=[{QUOTES}])({'|'.join(names)})(?=[{QUOTES}])"
    return re.compile("|".join([quoted, *map(re.escape, traces.addresses)]), re.IGNORECASE)


def _in_notices(traces: Traces, renamed: Mapping[str, str]) -> None:
    pattern = _quoted(traces, renamed)

    def nameless(text: str) -> str:
        return pattern.sub(lambda found: renamed.get(found[1], NAMELESS), text)

    told = Notice.objects.filter(competition__in=traces.competitions, kind__in=KINDS)
    for notice in told.only("title", "text").iterator(chunk_size=500):
        title, text = nameless(notice.title), nameless(notice.text)
        if (title, text) != (notice.title, notice.text):
            Notice.objects.filter(pk=notice.pk).update(title=title[:200], text=text)


def _in_chats(traces: Traces, renamed: Mapping[str, str]) -> None:
    """What a chat was told stays there; our copy of it goes. Invisible characters keep names from calling people."""
    pattern = _quoted(traces, renamed)
    told = WebhookMessage.objects.filter(webhook__competition__in=traces.competitions, event=ChatEvent.FIRST)
    named = [pk for pk, title in told.values_list("pk", "title") if pattern.search(title.replace("\u200b", ""))]
    WebhookMessage.objects.filter(pk__in=named).delete()


def _in_gradebooks(traces: Traces) -> None:
    """The lines that are theirs by the host's own list or by a confirmed address: a name that somebody chose for
    themselves may be another's."""
    people = [_listed(entry) for entry in traces.entries]
    people += [gradebooks.Person(name="", email=address) for address in traces.addresses]
    for held in Gradebook.objects.filter(competition__in=traces.competitions):
        book = gradebooks.read(bytes(held.data))
        theirs = {id(gradebooks.match(book, [person]).matches[0].record) for person in people if _is_in(book, person)}
        if theirs:
            book.records = [record for record in book.records if id(record) not in theirs]
            Gradebook.objects.filter(pk=held.pk).update(data=book.as_bytes())


def _listed(entry: RosterEntry) -> gradebooks.Person:
    names = ("name", "email", "student_id", "sis_user_id", "login")
    return gradebooks.Person(**{name: getattr(entry, name) for name in names}, is_listed=True)


def _is_in(book: gradebooks.Gradebook, person: gradebooks.Person) -> bool:
    return bool(gradebooks.match(book, [person]).matches)


def _in_drafts(traces: Traces) -> None:
    """A list that waits for a host's decision has to be read again."""
    entries = [name for entry in traces.entries for name in (entry.name, entry.email, entry.login, entry.student_id)]
    known = [name.casefold() for name in (*entries, *traces.addresses) if name]
    for draft in RosterDraft.objects.filter(competition__in=traces.competitions):
        text = draft.text.casefold()
        if any(name in text for name in known):
            draft.delete()


def _in_admission(traces: Traces, user: User | None) -> None:
    """An address among those that may join; what lets a whole domain in says nothing about anybody."""
    theirs = {address.casefold() for address in traces.addresses}
    for held in Competition.objects.select_for_update().filter(pk__in=traces.competitions):
        before = held.allowed_addresses
        kept = [word for word in before.split() if word not in theirs]
        if len(kept) < len(before.split()):
            held.allowed_addresses = "\n".join(kept)
            held.save(update_fields=["allowed_addresses"])
            changed = (plain({"allowed_addresses": text}) for text in (before, held.allowed_addresses))
            AuditEntry.append(Deed.CHANGED, user=user, competition=held, before=next(changed), after=next(changed))


def _in_roles(traces: Traces, user: User | None) -> None:
    """A role that a host keeps for an address of theirs."""
    for address in traces.addresses:
        for offer in RoleInvitation.objects.filter(email=address.casefold()).select_related("competition"):
            before = {"invitation": offer.pk, "role": offer.role}
            AuditEntry.append(Deed.ROLE_WITHDRAWN, user=user, competition=offer.competition, before=before)
            offer.delete()
