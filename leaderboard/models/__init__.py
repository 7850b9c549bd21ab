"""What is true: every rule of one row is a constraint or a method here."""

from __future__ import annotations

from .competition import Competition, DataFile, GroundTruth, Immutable, Split, TruthDraft
from .submission import Baseline, Refusal, Score, Standing, Submission, Uncertainty
from .team import DailyAttempts, Membership, Team
from .user import ApiToken, SetupLink, User, Viewer

__all__ = [
    "ApiToken",
    "Baseline",
    "Competition",
    "DailyAttempts",
    "DataFile",
    "GroundTruth",
    "Immutable",
    "Membership",
    "Refusal",
    "Score",
    "SetupLink",
    "Split",
    "Standing",
    "Submission",
    "Team",
    "TruthDraft",
    "Uncertainty",
    "User",
    "Viewer",
]
