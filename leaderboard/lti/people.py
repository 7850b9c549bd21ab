"""The account of a person whom a platform names, and their entry on the class list."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from allauth.mfa.utils import is_mfa_enabled
from django.db import IntegrityError, transaction

from leaderboard.accounts.institution.adapter import free_name
from leaderboard.accounts.institution.people import end_earlier_access
from leaderboard.accounts.models import User
from leaderboard.accounts.people import OWN_ROLES
from leaderboard.accounts.personal_data import delete_account
from leaderboard.classroom.models import MAX_SECTION_CHARACTERS, RosterEntry, joined_values
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.competitions.models import Competition, Course

from .launching import Launch, LaunchRefused
from .models import LtiPerson


def lms_user_of(launch: Launch) -> str:
    """The platform's name of a person as the class list stores it."""
    return f"{launch.platform.pk}:{launch.subject}"


def find_account(launch: Launch, course: Course | None) -> User | None:
    """The account of the person: linked by an earlier launch, on the class list of `course`, or with an address that
    both sides confirm. None for a new person."""
    linked = LtiPerson.objects.select_related("user").filter(platform=launch.platform, subject=launch.subject).first()
    if linked is not None:
        return linked.user
    if course is not None:
        listed = RosterEntry.objects.select_related("user").filter(course=course, lms_user=lms_user_of(launch))
        entry = listed.exclude(user=None).first()
        if entry is not None and entry.user is not None and not _has_powers(entry.user):
            return entry.user
    return _account_with_address(launch)


def _has_powers(account: User) -> bool:
    """Whether the account hosts, assists or operates anything: neither a list nor a platform leads to these rights."""
    has_right = account.can_host or account.is_staff or account.is_superuser
    return has_right or User.objects.filter(OWN_ROLES, pk=account.pk).exists()


def _account_with_address(launch: Launch) -> User | None:
    """The account that confirmed the address of the launch, if the platform vouches for addresses."""
    address = address_of(launch)
    if not address or not launch.platform.vouches_for_addresses:
        return None
    held = EmailAddress.objects.select_related("user").filter(email__iexact=address, verified=True).first()
    return None if held is None or _has_powers(held.user) else held.user


def account_of(launch: Launch, course: Course | None) -> tuple[User, bool]:
    """The account of the person, made if they are new, and whether it was. Raises `LaunchRefused`."""
    account = find_account(launch, course)
    is_new = account is None
    if account is None:
        account = _create_account(launch)
    if not account.is_active:
        raise LaunchRefused("account blocked", status=403, reason="blocked")
    facts = {"user": account, "email": address_of(launch)}
    person, made = LtiPerson.objects.get_or_create(platform=launch.platform, subject=launch.subject, defaults=facts)
    if person.user_id != account.pk:
        raise LaunchRefused("person", status=403, reason="again")
    if made and not is_new:
        AuditEntry.append(AuditEvent.LTI_PERSON_LINKED, user=account, account=account, about=str(launch.platform))
        if not RosterEntry.objects.filter(user=account, lms_user=lms_user_of(launch)).exists():
            end_earlier_access(account)
    return account, is_new


def must_sign_in(account: User) -> bool:
    """Whether the person signs in on the ordinary page: a platform replaces neither an operator's password nor a second
    factor."""
    return account.is_superuser or account.is_staff or is_mfa_enabled(account)


def address_of(launch: Launch) -> str:
    """The address that the platform names, in lower case; "" if it is missing or not ASCII."""
    value = launch.claims.get("email")
    if not isinstance(value, str) or len(value) > 254:
        return ""
    return value.lower() if value.isascii() and value.isprintable() and "@" in value else ""


def full_name_of(launch: Launch) -> str:
    first, last = launch.text("given_name", 150), launch.text("family_name", 150)
    return launch.text("name", 200) or f"{first} {last}".strip()


def _create_account(launch: Launch) -> User:
    """A new account without a password. Its address is stored unconfirmed, and only if no account has it."""
    name, address = full_name_of(launch), address_of(launch)
    first, last = launch.text("given_name", 150), launch.text("family_name", 150)
    if not (first or last):
        *before, last = name.split() or [""]
        first, last = (" ".join(before)[:150], last[:150]) if before else (last[:150], "")
    is_taken = User.objects.filter(email__iexact=address).exists() if address else True
    is_taken = is_taken or EmailAddress.objects.filter(email__iexact=address).exists()
    user = User(username=free_name(name.replace(" ", ".")), first_name=first, last_name=last)
    user.email = "" if is_taken else address
    user.set_unusable_password()
    user.save()
    return user


def link_to_class_list(launch: Launch, competition: Competition, user: User, *, section: str) -> RosterEntry:
    """The person's entry on the class list, linked or added. Entries that a host made keep their values."""
    course, key = competition.course, lms_user_of(launch)
    entries = RosterEntry.objects.filter(course=course)
    own = entries.filter(user=user).first()
    named = entries.filter(lms_user=key, user=None).first()
    entry = own or named or _entry_with_address(launch, course)
    if entry is None:
        address = address_of(launch)
        values = {"name": full_name_of(launch), "lms_user": key, "section": section[:MAX_SECTION_CHARACTERS]}
        values["email"] = "" if not address or entries.filter(email__iexact=address).exists() else address
        if entries.filter(lms_user=key).exists():
            values["lms_user"] = ""
        entry = RosterEntry(course=course, **values)
    changed = dict[str, object]()
    if entry.user_id is None:
        changed |= joined_values(user.pk, database_now())
        changed["user_id"] = changed.pop("user")
    if not entry.lms_user and not entries.filter(lms_user=key).exists():
        changed["lms_user"] = key
    if entry.pk is not None and not changed:
        return entry
    for field, value in changed.items():
        setattr(entry, field, value)
    try:
        with transaction.atomic():
            entry.save()
    except IntegrityError:  # a simultaneous import of the list or launch has just added the person
        return entries.get(user=user)
    competition.bump_board_version()
    return entry


def _entry_with_address(launch: Launch, course: Course) -> RosterEntry | None:
    """The waiting entry with the person's address, if the platform confirms addresses."""
    address = address_of(launch)
    if not address or not launch.platform.vouches_for_addresses:
        return None
    return RosterEntry.objects.filter(course=course, user=None, left_at=None, email__iexact=address).first()


# --- an account that the person had before ----------------------------------------------------------------------


def connect_account(*, person: LtiPerson, user: User) -> None:
    """Make later launches of this person sign in as `user`, and delete the account that their first launch made, if it
    is unused. Raises `LaunchRefused`."""
    with transaction.atomic():
        person = LtiPerson.objects.select_for_update().select_related("user", "platform").get(pk=person.pk)
        made = person.user
        if made.pk == user.pk:
            return
        if made.has_usable_password() or made.submissions.exists() or is_mfa_enabled(made) or made.is_host_anywhere:
            raise LaunchRefused("account in use", status=403, reason="account_in_use")
        LtiPerson.objects.filter(pk=person.pk).update(user=user, linked_at=database_now())
        AuditEntry.append(AuditEvent.LTI_PERSON_LINKED, user=user, account=user, about=str(person.platform))
        entries = RosterEntry.objects.filter(user=made).exclude(course__in=user.roster_entries.values("course"))
        entries.update(user=user)
        if not made.lti_people.exists():
            delete_account(account=made, user=user)
