"""The models of the core."""

from __future__ import annotations

from .attachment import Attachment, DataFile
from .competition import Competition
from .competition_settings import Admission, Archive, BoardSettings, Limits
from .course import Course
from .extension import Extension
from .ground_truth import GroundTruth
from .page_task import PageTask
from .submission import Baseline, CandidateProblem, Conversion, Score, Standing, Submission
from .team import DailyAttempts, Membership, Team
from .truth_draft import Rescoring, RowReport, StudentPreview, TruthCheck, TruthDraft

__all__ = [
    "Admission",
    "Archive",
    "Attachment",
    "Baseline",
    "BoardSettings",
    "CandidateProblem",
    "Competition",
    "Conversion",
    "Course",
    "DailyAttempts",
    "DataFile",
    "Extension",
    "GroundTruth",
    "Limits",
    "Membership",
    "PageTask",
    "Rescoring",
    "RowReport",
    "Score",
    "Standing",
    "StudentPreview",
    "Submission",
    "Team",
    "TruthCheck",
    "TruthDraft",
]
