"""The account of a person in a platform's launch, and their entry on the class list."""

from __future__ import annotations

from datetime import datetime

from allauth.account.models import EmailAddress
from allauth.mfa.utils import is_mfa_enabled
from django.db import transaction
from django.db.models import Q

from leaderboard.accounts import hooks
from leaderboard.accounts.hooks import PersonalData
from leaderboard.accounts.institution.adapter import free_username
from leaderboard.accounts.institution.people import end_earlier_access
from leaderboard.accounts.models import User
from leaderboard.accounts.people import OWN_ROLES
from leaderboard.accounts.personal_data import delete_account
from leaderboard.classroom.models import MAX_SECTION_CHARACTERS, RosterEntry, joined_values
from leaderboard.common.clock import database_now
from leaderboard.common.hooks import on
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.competitions.models import Competition, Course, Membership

from .launching import Launch, LaunchRefused
from .models import LtiPerson, Seat


def find_account(launch: Launch, course: Course | None) -> User | None:
    """The account of the person: linked by an earlier launch, on the class list of `course`, or with an address that
    both sides confirm. None for a new person."""
    linked = LtiPerson.objects.select_related("user").filter(platform=launch.platform, subject=launch.subject).first()
    if linked is not None:
        return linked.user
    if course is not None:
        listed = User.objects.filter(roster_entries__course=course, roster_entries__lms_user=launch.lms_user).first()
        # A host writes the list, and must not get at what the account has elsewhere.
        elsewhere = Membership.objects.filter(user=listed).exclude(competition__course=course)
        if listed is not None and not _has_powers(listed) and not elsewhere.exists():
            return listed
    return _account_with_address(launch)


def _has_powers(account: User) -> bool:
    """Whether the account hosts, assists or operates anything: neither a list nor a platform leads to these rights."""
    has_right = account.can_host or account.is_staff or account.is_superuser
    return has_right or User.objects.filter(OWN_ROLES, pk=account.pk).exists()


def _account_with_address(launch: Launch) -> User | None:
    """The account that confirmed the address of the launch, if the platform vouches for addresses.

    Not the account of another person of this platform: a campus may give the address of somebody who left away again.
    """
    if not launch.address or not launch.platform.vouches_for_addresses:
        return None
    confirmed = EmailAddress.objects.select_related("user").filter(email__iexact=launch.address, verified=True)
    held = confirmed.exclude(user__lti_people__platform=launch.platform).first()
    return None if held is None or _has_powers(held.user) else held.user


def account_of(launch: Launch, course: Course | None) -> tuple[User, bool]:
    """The account of the person, made if they are new, and whether it was.

    Raises `LaunchRefused`; `IntegrityError` if a simultaneous launch has just stored the person.
    """
    account = find_account(launch, course)
    is_new = account is None
    account = account or _create_account(launch)
    if not account.is_active:
        raise LaunchRefused("account blocked", reason="blocked")
    if not is_new and LtiPerson.objects.filter(platform=launch.platform, subject=launch.subject).exists():
        return account, is_new
    LtiPerson.objects.create(platform=launch.platform, subject=launch.subject, user=account, email=launch.address)
    if not is_new:
        AuditEntry.append(AuditEvent.LTI_PERSON_LINKED, user=account, account=account, about=str(launch.platform))
        if not RosterEntry.objects.filter(user=account, lms_user=launch.lms_user).exists():
            end_earlier_access(account)
    return account, is_new


def must_sign_in(account: User) -> bool:
    """Whether the person signs in on the ordinary page: a platform replaces neither an operator's password nor a second
    factor."""
    return account.is_superuser or account.is_staff or is_mfa_enabled(account)


def _create_account(launch: Launch) -> User:
    """A new account without a password. Its address is stored unconfirmed, and only if no account has it."""
    name, address = launch.full_name, launch.address
    first, last = launch.names if any(launch.names) else name.partition(" ")[::2]
    if User.objects.filter(Q(email__iexact=address) | Q(emailaddress__email__iexact=address)).exists():
        address = ""
    user = User(
        username=free_username(name.replace(" ", ".")), first_name=first[:150], last_name=last[:150], email=address
    )
    user.set_unusable_password()
    user.save()
    return user


@on(hooks.is_address_of)
def is_address_of(*, account: User, address: str) -> bool:
    """Whether a platform that confirms addresses names this one for a person who signs in by the account."""
    named = account.lti_people.filter(email=address, platform__vouches_for_addresses=True, platform__off_at=None)
    return named.exists()


def link_to_class_list(launch: Launch, competition: Competition, user: User, *, section: str) -> RosterEntry:
    """The person's entry on the class list, linked or added. Entries that a host made keep their values."""
    course, key = competition.course, launch.lms_user
    entries = RosterEntry.objects.filter(course=course)
    own = entries.filter(user=user).first()
    if own is not None and own.lms_user:
        return own
    listed = entries.filter(lms_user=key).first()
    waiting = listed if listed is not None and listed.user_id is None else None
    entry = own or waiting or _new_entry(launch, course, section)
    if entry.user_id is None:
        for field, value in joined_values(user.pk, database_now()).items():
            setattr(entry, "user_id" if field == "user" else field, value)
    if not entry.lms_user and listed is None:
        entry.lms_user = key
    entry.save()
    competition.bump_board_version()
    return entry


def _new_entry(launch: Launch, course: Course, section: str) -> RosterEntry:
    """The waiting entry with the person's address, if the platform confirms addresses; else a new one, not saved, with
    the address if no other entry has it."""
    address = launch.address
    named = RosterEntry.objects.filter(course=course, email__iexact=address)
    waiting = named.filter(user=None, left_at=None).first()
    if address and waiting is not None and launch.platform.vouches_for_addresses:
        return waiting
    address, section = "" if named.exists() else address, section[:MAX_SECTION_CHARACTERS]
    return RosterEntry(course=course, name=launch.full_name, email=address, section=section)


@on(hooks.export)
def export_platforms(*, account: User, at: datetime) -> PersonalData:
    """The platforms that know the person, and the marks sent. The rows go with the account."""
    known = account.lti_people.values("platform__name", "platform__issuer", "subject", "email", "linked_at")
    sent = account.lti_marks.exclude(sent_at=None)
    marks = sent.values("link__competition__slug", "sent_points", "sent_comment", "sent_out_of", "sent_at")
    return PersonalData({"learning_platforms": list(known), "marks_sent": list(marks)})


# --- an account that the person had before ----------------------------------------------------------------------


def connect_account(*, person: LtiPerson, user: User) -> None:
    """Make later launches of this person sign in as `user`, and delete the account that their first launch made, if it
    is unused. Raises `LaunchRefused`."""
    made = person.user
    with transaction.atomic():
        hooks.hold(account=made)
        connected = LtiPerson.objects.select_for_update().get(pk=person.pk).user_id
        if connected == user.pk:
            return
        if connected != made.pk:  # meanwhile, in another browser: that account was made by no launch
            raise LaunchRefused("connected already")
        is_used = made.has_usable_password() or made.submissions.exists() or is_mfa_enabled(made)
        if is_used or made.is_staff or User.objects.filter(OWN_ROLES, pk=made.pk).exists():
            raise LaunchRefused("account in use")
        LtiPerson.objects.filter(pk=person.pk).update(user=user, linked_at=database_now())
        AuditEntry.append(AuditEvent.LTI_PERSON_LINKED, user=user, account=user, about=str(person.platform))
        entries = RosterEntry.objects.filter(user=made).exclude(course__in=user.roster_entries.values("course"))
        entries.update(user=user)
        Seat.objects.filter(user=made).exclude(competition__in=user.lti_seats.values("competition")).update(user=user)
        if not made.lti_people.exists():
            delete_account(account=made, user=user)
