"""All notices, one row each: kind, title, text and link. And the kinds, by which people choose what reaches them.

To add a notice, add a row here and call a `notify…` function of `services` with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


class Delivery(TextChoices):
    """The way in which a kind of notice reaches a person."""

    EMAIL = "email", _("On site and by e-mail")
    PAGE = "page", _("On site only")
    NONE = "none", _("Off")


# For kinds that a person may switch off. Others, such as changes of rights, are always shown.
MAY_BE_OFF = True
FOR_HOSTS = True


class NoticeKind(StrEnum):
    """A row of the preferences page: value, label, whether it may be off, default delivery, whether only hosts get it.

    `Notice.kind` has no database constraint, so that a new kind needs no migration.
    """

    label: StrOrPromise
    default: Delivery
    may_be_off: bool
    is_for_hosts: bool

    def __new__(
        cls,
        value: str,
        label: StrOrPromise = "",
        may_be_off: bool = False,
        default: Delivery = Delivery.EMAIL,
        is_for_hosts: bool = False,
    ) -> NoticeKind:
        kind = str.__new__(cls, value)
        kind._value_, kind.label, kind.default = value, label, default
        kind.may_be_off, kind.is_for_hosts = may_be_off, is_for_hosts
        return kind

    ANNOUNCEMENT = "announcement", _("A host makes an announcement")
    REMINDER = "reminder", _("A deadline is a day away"), MAY_BE_OFF
    OPENED = "opened", _("A competition opens"), MAY_BE_OFF
    DEADLINE = "deadline", _("A deadline has moved")
    PAUSED = "paused", _("A competition is paused or resumes"), MAY_BE_OFF
    EXTENSION = "extension", _("Your team gets an extension")
    DECISION = "decision", _("Your team or its submission is removed or restored")
    TEAM = "team", _("Someone joins or leaves your team"), MAY_BE_OFF, Delivery.PAGE
    RESCORED = "rescored", _("Submissions are rescored")
    REVEALED = "revealed", _("A final ranking opens"), MAY_BE_OFF
    GRADE = "grade", _("Grades are released")
    ROLE = "role", _("Your role in a competition changes")
    FILE_FAILED = "file_failed", _("A submission in your class can't be scored"), MAY_BE_OFF, Delivery.EMAIL, FOR_HOSTS


@dataclass(frozen=True)
class NoticeText:
    """One notice. Title, text and link are templates for the facts of `notify_people`; two are always among them,
    `competition` (its title) and `slug`. The text is plain text, or Markdown for announcements. The link is a path of
    this site."""

    kind: NoticeKind
    title: StrOrPromise
    text: StrOrPromise
    link: str


OVERVIEW, LEADERBOARD, TEAM_PAGE = "/c/%(slug)s/", "/c/%(slug)s/leaderboard/", "/c/%(slug)s/team/"
SUBMISSION_PAGE = "/c/%(slug)s/submissions/%(submission_id)s/"

# --- to a class -------------------------------------------------------------------------------------------------

ANNOUNCEMENT = NoticeText(
    NoticeKind.ANNOUNCEMENT, "%(title)s", "%(text)s", "/c/%(slug)s/#announcement-%(announcement_id)s"
)
REMINDER_KEY = "reminder:"
"""Begin of the keys of `DEADLINE_NEAR`, before competition and deadline."""
DEADLINE_NEAR = NoticeText(
    NoticeKind.REMINDER,
    _("The deadline is near"),
    _("Your deadline is %(deadline)s.\n\n%(finals)s"),
    "/c/%(slug)s/%(page)s/",
)
ATTACHMENT_MISSING = NoticeText(
    NoticeKind.REMINDER,
    _("Your team still has to attach its work"),
    _("Attach a file to a final submission by %(deadline)s. Your rank doesn't depend on it, but your grade may."),
    "/c/%(slug)s/finals/#attachments",
)
OPENED = NoticeText(
    NoticeKind.OPENED, _("The competition is open"), _("You can download the data and submit."), "/c/%(slug)s/data/"
)
DEADLINE_MOVED = NoticeText(
    NoticeKind.DEADLINE, _("The deadline has moved"), _("It was %(before)s and is now %(after)s."), OVERVIEW
)
PAUSED = NoticeText(
    NoticeKind.PAUSED,
    _("The competition is paused"),
    _("You can't submit until it resumes. Earlier submissions are still scored. The host's reason: %(reason)s"),
    OVERVIEW,
)
RESUMED = NoticeText(
    NoticeKind.PAUSED,
    _("The competition has resumed"),
    _("You can submit again. The deadline is %(deadline)s."),
    OVERVIEW,
)
REVEALED = NoticeText(
    NoticeKind.REVEALED,
    _("The final ranking is open"),
    _("See your team's final rank and your private scores."),
    LEADERBOARD,
)
REVEALED_UNRANKED = NoticeText(
    NoticeKind.REVEALED,
    _("The final ranking is open"),
    _("See the final ranking. Your team is disqualified and not ranked."),
    LEADERBOARD,
)
# Without the grade, because others may see an e-mail on a screen.
GRADES_RELEASED = NoticeText(
    NoticeKind.GRADE,
    _("Your grade in %(competition)s"),
    _("Your teacher released the grades. Open the page to see yours and how it was calculated."),
    "/c/%(slug)s/grade/",
)

COURSE_GRADES_RELEASED = NoticeText(
    NoticeKind.GRADE,
    _("Your grade in %(course)s"),
    _("Your teacher released the grades. Open the page to see yours and how it was calculated."),
    "/course/%(course_slug)s/grade/",
)

# --- to a team --------------------------------------------------------------------------------------------------

EXTENSION_GRANTED = NoticeText(
    NoticeKind.EXTENSION,
    _("Your team got an extension"),
    _("Your team has %(grants)s. The host's reason: %(reason)s"),
    TEAM_PAGE,
)
EXTENSION_MOVED = NoticeText(
    NoticeKind.EXTENSION,
    _("Your team's extension moves along"),
    _("The deadline has moved, and your extension with it. It now ends %(deadline)s."),
    TEAM_PAGE,
)
EXTENSION_ENDED = NoticeText(
    NoticeKind.EXTENSION,
    _("Your team's extension has ended"),
    _("The host ended your team's extension (%(reason)s)."),
    TEAM_PAGE,
)
EXTENDED_DEADLINE_ENDED = NoticeText(
    NoticeKind.EXTENSION,
    _("Your team's extension has ended"),
    _("The host ended your team's extension (%(reason)s). Your deadline is %(deadline)s. Earlier submissions count."),
    TEAM_PAGE,
)
TEAM_DISQUALIFIED = NoticeText(
    NoticeKind.DECISION,
    _("Your team is disqualified"),
    _("It's off the leaderboards and can't submit any more. Its submissions are kept. The host's reason: %(reason)s"),
    TEAM_PAGE,
)
TEAM_READMITTED = NoticeText(
    NoticeKind.DECISION,
    _("Your team is no longer disqualified"),
    _("It's back on the leaderboards with its scores."),
    TEAM_PAGE,
)
SUBMISSION_HIDDEN = NoticeText(
    NoticeKind.DECISION,
    _("Your team's submission is hidden"),
    _("“%(file)s” is off the leaderboards and can't be a final submission. The host's reason: %(reason)s"),
    SUBMISSION_PAGE,
)
SUBMISSION_SHOWN = NoticeText(
    NoticeKind.DECISION,
    _("Your team's submission is no longer hidden"),
    _("“%(file)s” counts again."),
    SUBMISSION_PAGE,
)
SCORED_AGAIN = NoticeText(
    NoticeKind.RESCORED,
    _("Your team's submissions are being rescored"),
    _("They had no score yet. Their submission times stay the same."),
    "/c/%(slug)s/submissions/",
)
RESCORED = NoticeText(
    NoticeKind.RESCORED,
    _("“%(competition)s” was rescored"),
    _("The host corrected the scoring. Your team's scores or ranks have changed."),
    "/c/%(slug)s/rescored/",
)
RESCORED_WITH_MESSAGE = NoticeText(
    NoticeKind.RESCORED, _("“%(competition)s” was rescored"), "%(message)s", "/c/%(slug)s/rescored/"
)
MEMBER_JOINED = NoticeText(
    NoticeKind.TEAM,
    _("New member in your team"),
    _(
        "“%(name)s” joined “%(team)s” with the invitation link and sees its submissions. A mistake? Create a new "
        "link and ask a host to move them."
    ),
    TEAM_PAGE,
)
MEMBER_LEFT = NoticeText(
    NoticeKind.TEAM,
    _("A member left your team"),
    _("“%(name)s” is no longer in “%(team)s”. Submissions so far stay with the team."),
    TEAM_PAGE,
)
MEMBER_MOVED = NoticeText(
    NoticeKind.TEAM,
    _("A host changed your team"),
    _("A host moved “%(name)s” to “%(team)s”. Earlier submissions stay with the earlier team."),
    TEAM_PAGE,
)

# --- to hosts and assistants ------------------------------------------------------------------------------------

SCORING_FAILED = NoticeText(
    NoticeKind.FILE_FAILED,
    _("A submission failed"),
    _(
        "“%(file)s”, submitted %(time)s, couldn't be scored. It's not the student's fault.\n\n%(reason)s\n\nOpen the "
        "page to see the details and other failed submissions. We won't notify you again within the next hour."
    ),
    "/host/%(slug)s/submissions/?status=failed",
)
HOST_ADDED = NoticeText(
    NoticeKind.ROLE,
    _("You're now a host of “%(competition)s”"),
    _("You can do everything other hosts can, and see the answers and private scores."),
    "/host/%(slug)s/",
)
ASSISTANT_ADDED = NoticeText(
    NoticeKind.ROLE,
    _("You're now an assistant in “%(competition)s”"),
    _("You can help its hosts and see names and private scores, but not make decisions."),
    "/host/%(slug)s/",
)
HOST_REMOVED = NoticeText(
    NoticeKind.ROLE,
    _("You're no longer a host of “%(competition)s”"),
    _("You can't open its host and assistant pages any more."),
    "/",
)
ASSISTANT_REMOVED = NoticeText(
    NoticeKind.ROLE,
    _("You're no longer an assistant in “%(competition)s”"),
    _("You can't open its host and assistant pages any more."),
    "/",
)
