"""Queries for the class: the roster, the people of a class from roster and teams, and hosts' list of teams.

`competitions.hooks.roster` is this module, so that lower rooms can show names and sections.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from allauth.account.models import EmailAddress
from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Subquery

from leaderboard.accounts.models import User
from leaderboard.boards import queries as boards
from leaderboard.boards import ranking
from leaderboard.competitions.models import Competition, Extension, Membership, Score, Submission, Team
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.models.extension import extended_deadline

from .models import RosterEntry

State = RosterEntry.State

# --- the roster -------------------------------------------------------------------------------------------------


def is_on_class_list(course_id: int, user: User) -> bool:
    """Whether the account is linked to the class list of a course and has not left."""
    return RosterEntry.objects.filter(course=course_id, user=user, left_at=None).exists()


def section_names(competition: Competition) -> list[str]:
    """The sections on the roster, sorted."""
    named = RosterEntry.objects.filter(course=competition.course_id).exclude(section="")
    return sorted(set(named.order_by().values_list("section", flat=True)))


def teams_of_section(competition: Competition, section: str) -> QuerySet[RosterEntry, int | None]:
    """Subquery of the teams with a member in this section."""
    people = RosterEntry.objects.filter(
        course=competition.course_id, section=section, user__memberships__competition=competition
    )
    return people.order_by().values_list("user__memberships__team", flat=True)


def section_of_member() -> Subquery:
    """Annotation for rows with a `user` and a `competition`: the user's section; "" or NULL without one."""
    entries = RosterEntry.objects.filter(course=OuterRef("competition__course"), user=OuterRef("user"))
    return Subquery(entries.order_by().values("section")[:1])


def names_and_ids(competition: Competition) -> dict[int, tuple[str, str]]:
    """User → (name, student ID) for roster entries with an account."""
    joined = competition.course.roster.filter(user__isnull=False)
    return {entry.user_id: (str(entry), entry.student_id) for entry in joined if entry.user_id is not None}


def section_sizes(competition: Competition) -> dict[str, int]:
    """Section → number of its active members; one query."""
    members = Membership.objects.filter(competition=competition, user__is_active=True).values("user")
    entries = RosterEntry.objects.filter(course=competition.course_id, left_at=None, user__in=members).exclude(
        section=""
    )
    return dict(entries.order_by("section").values_list("section").annotate(Count("user", distinct=True)))


def people_of_section(competition: Competition, section: str) -> QuerySet[RosterEntry, Any]:
    """Subquery of the accounts in a section."""
    entries = RosterEntry.objects.filter(course=competition.course_id, section=section, left_at=None)
    return entries.exclude(section="").values("user")


def name_on_roster() -> Subquery:
    """Annotation for rows with a `user` and a `competition`: the name on the roster; NULL without one."""
    entries = RosterEntry.objects.filter(course=OuterRef("competition__course"), user=OuterRef("user")).exclude(name="")
    return Subquery(entries.order_by().values("name")[:1])


def people_called(competition: Competition, text: str) -> QuerySet[User]:
    """Accounts whose user name, or name on the roster, contains a text.

    Names are compared in Python, because SQLite ignores case only for ASCII letters.
    """
    joined = competition.course.roster.filter(user__isnull=False).order_by().values_list("user", "name")
    listed = [user for user, name in joined if text.casefold() in name.casefold()]
    return User.objects.filter(Q(username__icontains=text) | Q(pk__in=listed))


# --- the people of a class --------------------------------------------------------------------------------------

# Columns to load for members; a class may have hundreds.
MEMBER_COLUMNS = (
    "competition",
    "joined_at",
    "user__username",
    "user__first_name",
    "user__last_name",
    "user__email",
    "team__name",
    "team__pseudonym",
)
# Columns of entries that the list of people does not need.
UNREAD_COLUMNS = (
    "added_at",
    "roster_list",
    "join_card_digest",
    "join_card_expires_at",
    "mail_requested_by",
    "mail_language",
)


@dataclass(frozen=True)
class ClassPerson:
    """One person of a class: on the roster (`entry`), in a team (`membership`), or both."""

    entry: RosterEntry | None
    membership: Membership | None

    @property
    def name(self) -> str:
        if self.entry and str(self.entry):
            return str(self.entry)
        assert self.membership is not None
        user = self.membership.user
        return user.get_full_name() or user.get_username()

    @property
    def username(self) -> str:
        return self.membership.user.get_username() if self.membership else ""

    @property
    def email(self) -> str:
        if self.entry and self.entry.email:
            return self.entry.email
        return self.membership.user.email if self.membership else ""

    @property
    def section(self) -> str:
        return self.entry.section if self.entry else ""

    @property
    def state(self) -> RosterEntry.State:
        return self.entry.state if self.entry else State.JOINED

    @property
    def other_states(self) -> list[str]:
        """States to filter by that are no `RosterEntry.State`."""
        if self.entry is None:
            return ["guest"]
        return ["unconfirmed"] if getattr(self.entry, "is_unconfirmed", False) else []

    @property
    def moment(self) -> datetime | None:
        if self.entry:
            return self.entry.moment
        return self.membership.joined_at if self.membership else None


def people_of_class(competition: Competition) -> list[ClassPerson]:
    """All people on the roster or in a team, sorted by name; two queries."""
    memberships = competition.memberships.select_related("user", "team").only(*MEMBER_COLUMNS).order_by()
    members = {member.user_id: member for member in memberships.annotate(extended_to=extended_deadline())}
    for member in members.values():
        member.team.competition = competition
    confirmed = EmailAddress.objects.filter(user=OuterRef("user"), verified=True, email__iexact=OuterRef("email"))
    is_typed = Q(user__email__iexact=F("email")) & ~Exists(confirmed) & ~Q(email="")
    entries = list(competition.course.roster.annotate(is_unconfirmed=is_typed).defer(*UNREAD_COLUMNS))
    listed = {entry.user_id for entry in entries}
    people = [ClassPerson(entry, members.get(entry.user_id) if entry.user_id else None) for entry in entries]
    people += [ClassPerson(None, member) for user_id, member in members.items() if user_id not in listed]
    return sorted(people, key=lambda person: person.name.casefold())


def filter_people(
    people: Sequence[ClassPerson], *, section: str | None = None, state: str = "", text: str = ""
) -> list[ClassPerson]:
    """The people of a section ("" for no section), in a state, with a text in name, address, number or team.

    The state `guest` is for members that are not on the roster, `unconfirmed` for accounts with the address of their
    entry, which they have not confirmed.
    """
    folded = text.casefold()
    return [
        person
        for person in people
        if (section is None or person.section == section)
        and (not state or person.state == state or state in person.other_states)
        and (not folded or any(folded in part.casefold() for part in _searchable_text(person)))
    ]


def _searchable_text(person: ClassPerson) -> list[str]:
    entry, team = person.entry, person.membership.team if person.membership else None
    ids = [entry.student_id, entry.sis_user_id, entry.login] if entry else []
    return [person.name, person.email, person.username, *ids, *([team.name, team.pseudonym] if team else [])]


@dataclass(frozen=True)
class UnlinkedMember:
    """A member without a roster entry. `guess` is an entry with the same address, name or login, or None."""

    membership: Membership
    guess: RosterEntry | None


def entry_label(entry: RosterEntry) -> str:
    """An entry as one line of text for the list of proposals: name and address, else a number."""
    number = entry.email or entry.student_id or entry.login or entry.sis_user_id
    return f"{entry} · {number}" if number and number != str(entry) else str(entry)


def _text_key(text: str) -> str:
    return " ".join(text.split()).casefold()


class UnlinkedEntries:
    """Index of roster entries without an account, by proposed line, address, number, login and name."""

    def __init__(self, entries: Sequence[RosterEntry]) -> None:
        self.entries = entries
        self._by: dict[str, set[RosterEntry]] = {}
        for entry in entries:
            texts = (entry_label(entry), entry.email, entry.student_id, entry.sis_user_id, entry.login, entry.name)
            for text in filter(None, texts):
                self._by.setdefault(_text_key(text), set()).add(entry)

    def find_entry(self, text: str) -> RosterEntry | None:
        """The entry that this text identifies; None if there is none or more than one."""
        entries = self._by.get(_text_key(text), set())
        return next(iter(entries)) if len(entries) == 1 else None


def unlinked_members(competition: Competition) -> tuple[list[UnlinkedMember], UnlinkedEntries]:
    """(members without an entry, sorted by user name; entries without an account). Two queries."""
    waiting = UnlinkedEntries(list(competition.course.roster.filter(user=None, left_at=None)))
    members = competition.memberships.exclude(user__roster_entries__course=competition.course_id)
    guests: list[UnlinkedMember] = []
    guessed: set[RosterEntry] = set()
    for member in members.select_related("user", "team").order_by("user__username"):
        account = member.user
        names = (account.email, account.get_full_name(), account.username)
        guess = next(filter(None, map(waiting.find_entry, names)), None)
        guests.append(UnlinkedMember(member, guess if guess not in guessed else None))
        guessed.update({guess} if guess else ())
    return guests, waiting


# --- hosts' list of teams ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TeamLine:
    """One team with counts of its files by outcome and its best public score (`best`)."""

    team: Team
    memberships: tuple[Membership, ...]
    files: int
    scored: int
    invalid: int
    failed: int
    last_at: datetime | None
    best: float | None
    has_extension: bool

    @property
    def members(self) -> list[str]:
        """Names of the members: “name on the roster (user name)”, or the user name only."""
        names = [(member.user.get_username(), getattr(member, "listed_as", None)) for member in self.memberships]
        return [f"{listed_as} ({username})" if listed_as else username for username, listed_as in names]


@dataclass(frozen=True)
class TeamsBelowBaseline:
    """A baseline, its public score, and the teams whose best public score is worse."""

    name: str
    value: float
    teams: frozenset[int]


def team_lines(teams: Sequence[Team], competition: Competition) -> list[TeamLine]:
    """Lines for these teams, in their order. Four queries."""
    keys = [team.pk for team in teams]
    memberships = Membership.objects.filter(team__in=keys).select_related("user").annotate(listed_as=name_on_roster())
    members: dict[int, list[Membership]] = defaultdict(list)
    for member in memberships:
        members[member.team_id].append(member)
    with_counts = (
        Team.objects.filter(pk__in=keys)
        .order_by()
        .values("pk")
        .annotate(
            files=Count("submissions"),
            scored=Count("submissions", filter=Q(submissions__status=Submission.Status.SCORED)),
            invalid=Count("submissions", filter=Q(submissions__status=Submission.Status.INVALID)),
            failed=Count("submissions", filter=Q(submissions__status=Submission.Status.FAILED)),
            last_at=Max("submissions__received_at"),
        )
    )
    rows: Any = with_counts
    counts = {row.pop("pk"): row for row in rows}
    best = best_public_scores(competition, keys)
    extended = set(Extension.objects.filter(team__in=keys, ended_at=None).order_by().values_list("team", flat=True))
    return [
        TeamLine(
            team=team,
            memberships=tuple(members[team.pk]),
            best=best.get(team.pk),
            has_extension=team.pk in extended,
            **counts[team.pk],
        )
        for team in teams
    ]


def best_public_scores(competition: Competition, teams: Sequence[int] | None = None) -> dict[int, float]:
    """Team → best public score among its files that can be ranked."""
    ground_truth = competition.ground_truth
    if ground_truth is None:
        return {}
    ground_truth.competition = competition
    return ranking.best_values(ground_truth, teams=teams)


def teams_below_baselines(competition: Competition, best: Mapping[int, float]) -> list[TeamsBelowBaseline]:
    """For each scored baseline, best first, the teams that are worse; teams without a score are left out. `best` is
    the result of `best_public_scores`."""
    ground_truth = competition.ground_truth
    if ground_truth is None:
        return []
    sign = ground_truth.sort_sign
    scored = boards.reference_scores(competition.pk, Split.PUBLIC).filter(ground_truth=ground_truth)
    rows = scored.values_list("submission__baseline__name", "value")
    return [
        TeamsBelowBaseline(name, value, frozenset(team for team, score in best.items() if sign * score > sign * value))
        for name, value in sorted(rows, key=lambda row: sign * row[1])
        if name is not None
    ]


def files_with_public_score(team: Team) -> QuerySet[Submission, Any]:
    """A team's files with their score in `public`, newest first."""
    scores = Score.objects.filter(
        submission=OuterRef("pk"), ground_truth=OuterRef("competition__ground_truth"), split=Split.PUBLIC
    )
    # Not `team.submissions`, which needs the column of the team in each row.
    files = (
        Submission.objects.filter(team=team)
        .annotate(public=Subquery(scores.values("value")[:1]))
        .order_by("-received_at")
    )
    return files.only("file_name", "received_at", "status", "is_late", "hidden_at")


def teams_without_valid_file(competition: Competition) -> QuerySet[Team]:
    """Teams without a scored file so far, disqualified ones left out; waiting files may still be scored."""
    scored = Submission.objects.filter(team=OuterRef("pk"), status=Submission.Status.SCORED)
    return competition.teams.filter(~Exists(scored), disqualified_at=None)
