"""A person's name where others kept it: in words to others, in lists of a host, in a role that waits."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from leaderboard.classroom.models import RoleInvitation, RosterDraft, RosterEntry
from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import Deed, plain
from leaderboard.competitions.models import Competition, Team
from leaderboard.grades import canvas
from leaderboard.grades import people as people_module
from leaderboard.grades.models import Gradebook
from leaderboard.notifications.models import Notice, WebhookMessage
from leaderboard.notifications.models.chat import ChatEvent
from leaderboard.notifications.models.mentions import Mention, with_names
from leaderboard.notifications.models.notice import Kind

from .models import User

NAMELESS = "Former member"
# Of all the languages that a reader may have.
QUOTES = "“”„‟«»‹›‘’‚'\""
# Of these the site writes the words and mentions people, teams and files. Announcements are a host's own.
KINDS = (Kind.TEAM, Kind.DECISION, Kind.ROLE, Kind.FILE_FAILED)


@dataclass(frozen=True)
class Traces:
    """What a person is known by, read before the account goes."""

    number: int
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
            number=account.pk,
            username=account.get_username(),
            competitions=frozenset(
                [*joined, *left, *(one.pk for one in run), *(entry.competition_id for entry in entries)]
            ),
            addresses=tuple(addresses.values_list("email", flat=True)),
            entries=entries,
        )


@dataclass
class Renamed:
    """What a person's teams and files are called now that the account goes."""

    teams: dict[int, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    team_names: set[str] = field(default_factory=set)
    """What those teams were called."""


def forget(traces: Traces, renamed: Renamed, user: User | None) -> None:
    """Take a person's names out of what stays; `user` deletes the account."""
    _in_notices(traces, renamed)
    _in_chats(traces, renamed)
    _in_gradebooks(traces)
    _in_drafts(traces)
    _in_admission(traces, user)
    _in_roles(traces, user)


def _in_notices(traces: Traces, renamed: Renamed) -> None:
    """Names go where a notice mentions the person, a team of theirs or a file of theirs; what others call alike stays.
    A confirmed address is nobody else's, so it goes wherever it stands."""
    living = set(Team.objects.filter(competition__in=traces.competitions).values_list("pk", flat=True))
    # A first team is called like its only member, with a number where another one was called so.
    own_name = re.compile(rf"{re.escape(traces.username)}(?: \d+)?", re.IGNORECASE)

    def name_of(named: Mention, old: str) -> str | None:
        if named.kind == "address":
            return NAMELESS
        if named.kind == "user":
            return NAMELESS if named.key == str(traces.number) else None
        if named.kind == "file":
            return renamed.files.get(named.key)
        given_up = int(named.key) not in living and own_name.fullmatch(old)
        return NAMELESS if given_up else renamed.teams.get(int(named.key))

    addresses = re.compile("|".join(map(re.escape, traces.addresses)) or "(?!)", re.IGNORECASE)
    told = Notice.objects.filter(competition__in=traces.competitions, kind__in=KINDS)
    for notice in told.only("title", "text", "mentions").iterator(chunk_size=500):
        mentions = [Mention(*one) for one in notice.mentions]
        title, in_title = with_names("title", notice.title, _with(addresses, "title", notice.title, mentions), name_of)
        text, in_text = with_names("text", notice.text, _with(addresses, "text", notice.text, mentions), name_of)
        if (title, text) != (notice.title, notice.text):
            Notice.objects.filter(pk=notice.pk).update(title=title[:200], text=text, mentions=[*in_title, *in_text])


def _with(addresses: re.Pattern[str], where: str, text: str, mentions: list[Mention]) -> list[Mention]:
    """The mentions and, as further ones, the addresses that stand between them."""
    spans = [(one.start, one.end) for one in mentions if one.field == where]
    found = [one.span() for one in addresses.finditer(text)]
    free = [(start, end) for start, end in found if all(end <= first or start >= last for first, last in spans)]
    return [*mentions, *(Mention(where, start, end, "address", "") for start, end in free)]


def _quoted(traces: Traces, renamed: Renamed) -> re.Pattern[str]:
    names = [rf"{re.escape(traces.username)}(?: \d+)?", *map(re.escape, renamed.team_names)]
    return re.compile(f"(?<=[{QUOTES}])({'|'.join(names)})(?=[{QUOTES}])", re.IGNORECASE)


def _in_chats(traces: Traces, renamed: Renamed) -> None:
    """What a chat was told stays there; our copy of it goes. Invisible characters keep names from calling people."""
    pattern = _quoted(traces, renamed)
    told = WebhookMessage.objects.filter(webhook__competition__in=traces.competitions, event=ChatEvent.FIRST)
    named = [pk for pk, title in told.values_list("pk", "title") if pattern.search(title.replace("\u200b", ""))]
    WebhookMessage.objects.filter(pk__in=named).delete()


def _in_gradebooks(traces: Traces) -> None:
    """The lines that are theirs by the host's own list or by a confirmed address: a name that somebody chose for
    themselves may be another's."""
    people = [_listed(entry) for entry in traces.entries]
    people += [people_module.Person(name="", email=address) for address in traces.addresses]
    for held in Gradebook.objects.filter(competition__in=traces.competitions):
        book = canvas.read(bytes(held.data))
        theirs = {id(canvas.match(book, [person]).matches[0].record) for person in people if _is_in(book, person)}
        if theirs:
            book.records = [record for record in book.records if id(record) not in theirs]
            Gradebook.objects.filter(pk=held.pk).update(data=book.as_bytes())


def _listed(entry: RosterEntry) -> people_module.Person:
    names = ("name", "email", "student_id", "sis_user_id", "login")
    return people_module.Person(**{name: getattr(entry, name) for name in names}, is_listed=True)


def _is_in(book: canvas.Gradebook, person: people_module.Person) -> bool:
    return bool(canvas.match(book, [person]).matches)


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
        before = held.admission.allowed_addresses
        kept = [word for word in before.split() if word not in theirs]
        if len(kept) < len(before.split()):
            held.admission.allowed_addresses = "\n".join(kept)
            held.admission.save(update_fields=["allowed_addresses"])
            changed = (plain({"allowed_addresses": text}) for text in (before, held.admission.allowed_addresses))
            AuditEntry.append(Deed.CHANGED, user=user, competition=held, before=next(changed), after=next(changed))


def _in_roles(traces: Traces, user: User | None) -> None:
    """A role that a host keeps for an address of theirs."""
    for address in traces.addresses:
        for offer in RoleInvitation.objects.filter(email=address.casefold()).select_related("competition"):
            before = {"invitation": offer.pk, "role": offer.role}
            AuditEntry.append(Deed.ROLE_WITHDRAWN, user=user, competition=offer.competition, before=before)
            offer.delete()
