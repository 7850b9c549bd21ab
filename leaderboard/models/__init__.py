"""What is true: every rule of one row is a constraint or a method here."""

from __future__ import annotations

from .admission import entry_of, obstacle_to_joining
from .announcement import Announcement
from .audit import AuditEntry, Deed, account_in_trail, broken_links, plain, team_in_trail
from .calendar import CalendarAddress
from .competition import Competition, Split
from .data_file import DataFile
from .grade import Grade, Gradebook, GradeRelease, GradeRules
from .grant import Grant, Terms, extended_to, last_deadline, own_deadline, terms_of, terms_of_teams
from .instrument import Instrument
from .mentions import Mention, mention
from .notice import Delivery, Kind, Notice, NoticeChoice
from .numbers import number_of
from .origin import FormerMember, TeamOrigin, note_origin, note_return, recount_attempts
from .pseudonyms import give_pseudonyms
from .role import Role, RoleInvitation
from .roster import (
    RosterDraft,
    RosterEntry,
    RosterList,
    name_on_roster,
    people_called,
    section_names,
    sections_of,
    slip_digest,
    teams_of_section,
)
from .submission import Baseline, Refusal, Score, Standing, Submission, Uncertainty, waiting_since
from .team import DailyAttempts, Membership, MergeOffer, Team
from .truth import MOST_SECONDARY, GroundTruth, Immutable, Rescoring, RowReport, TruthDraft
from .user import ApiToken, SetupLink, User, Viewer
from .walk import TruthCheck, WalkThrough
from .watching import CageTest, Inspection, Worker
from .webhook import ChatEvent, Webhook, WebhookMessage

__all__ = [
    "MOST_SECONDARY",
    "Announcement",
    "ApiToken",
    "AuditEntry",
    "Baseline",
    "CageTest",
    "CalendarAddress",
    "ChatEvent",
    "Competition",
    "DailyAttempts",
    "DataFile",
    "Deed",
    "Delivery",
    "FormerMember",
    "Grade",
    "GradeRelease",
    "GradeRules",
    "Gradebook",
    "Grant",
    "GroundTruth",
    "Immutable",
    "Inspection",
    "Instrument",
    "Kind",
    "Membership",
    "Mention",
    "MergeOffer",
    "Notice",
    "NoticeChoice",
    "Refusal",
    "Rescoring",
    "Role",
    "RoleInvitation",
    "RosterDraft",
    "RosterEntry",
    "RosterList",
    "RowReport",
    "Score",
    "SetupLink",
    "Split",
    "Standing",
    "Submission",
    "Team",
    "TeamOrigin",
    "Terms",
    "TruthCheck",
    "TruthDraft",
    "Uncertainty",
    "User",
    "Viewer",
    "WalkThrough",
    "Webhook",
    "WebhookMessage",
    "Worker",
    "account_in_trail",
    "broken_links",
    "entry_of",
    "extended_to",
    "give_pseudonyms",
    "last_deadline",
    "mention",
    "name_on_roster",
    "note_origin",
    "note_return",
    "number_of",
    "obstacle_to_joining",
    "own_deadline",
    "people_called",
    "plain",
    "recount_attempts",
    "section_names",
    "sections_of",
    "slip_digest",
    "team_in_trail",
    "teams_of_section",
    "terms_of",
    "terms_of_teams",
    "waiting_since",
]
