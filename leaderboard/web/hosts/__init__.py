"""Pages of those who host."""

from __future__ import annotations

from .again import host_score_again
from .announcements import host_announcement, host_announcements
from .beat import host_pulse
from .board import host_board
from .bundle import host_export, host_submissions_zip
from .chats import host_chat
from .grade_files import host_grade_canvas, host_grade_file
from .grade_moves import host_candidate_grades
from .grades import host_grade_release, host_grade_rules, host_grades
from .hard_rows import host_rows
from .identifying import host_who
from .launches import host_clone, host_launch, host_setup_launch, host_walk
from .people import host_admission, host_leave, host_people, host_roles
from .report import host_report, host_report_csv
from .roster import host_invite, host_left, host_roster, host_slips
from .running import (
    host_baselines,
    host_board_csv,
    host_data,
    host_reveal,
    host_submission_file,
    host_submissions,
)
from .setting_up import (
    host,
    host_competition,
    host_delete,
    host_settings,
)
from .similar import host_similar
from .stopping import host_pause, host_submission
from .teams import host_team, host_teams
from .trail import host_audit
from .truth_checks import host_truth_check
from .truths import host_candidate, host_truth_file
from .wizard import host_new, host_setup, host_setup_basics, host_setup_limits, host_setup_people
from .wizard_metric import host_setup_metric, host_truth_metric
from .wizard_truth import host_setup_data, host_truth

__all__ = [
    "host",
    "host_admission",
    "host_announcement",
    "host_announcements",
    "host_audit",
    "host_baselines",
    "host_board",
    "host_board_csv",
    "host_candidate",
    "host_candidate_grades",
    "host_chat",
    "host_clone",
    "host_competition",
    "host_data",
    "host_delete",
    "host_export",
    "host_grade_canvas",
    "host_grade_file",
    "host_grade_release",
    "host_grade_rules",
    "host_grades",
    "host_invite",
    "host_launch",
    "host_leave",
    "host_left",
    "host_new",
    "host_pause",
    "host_people",
    "host_pulse",
    "host_report",
    "host_report_csv",
    "host_reveal",
    "host_roles",
    "host_roster",
    "host_rows",
    "host_score_again",
    "host_settings",
    "host_setup",
    "host_setup_basics",
    "host_setup_data",
    "host_setup_launch",
    "host_setup_limits",
    "host_setup_metric",
    "host_setup_people",
    "host_similar",
    "host_slips",
    "host_submission",
    "host_submission_file",
    "host_submissions",
    "host_submissions_zip",
    "host_team",
    "host_teams",
    "host_truth",
    "host_truth_check",
    "host_truth_file",
    "host_truth_metric",
    "host_walk",
    "host_who",
]
