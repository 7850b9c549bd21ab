"""A teacher opens a competition, publishes rulers, rescores, reveals, exports."""

from __future__ import annotations

from ..models import Role
from ._spreadsheets import as_meant
from .announcing import announce, audiences, edit_announcement, readers, section_sizes, withdraw_announcement
from .boards import add_baseline, baseline_scores, board_csv, remove_baseline, reveal
from .bundles import submissions_zip
from .chats import remove_webhook, send_test, set_webhook
from .checks import check_again
from .copies import begin, clone
from .data_files import add_data_file, remove_data_file
from .deciding import Keep
from .drafts import (
    HEAD_BYTES,
    blocks_by_files_alone,
    check_draft,
    columns_at_hand,
    discard_draft,
    draft_truth,
    look_again,
    proposed,
)
from .folders import export_folder, import_folder
from .grades import (
    Filling,
    GradeMove,
    GradeRow,
    GradeSheet,
    Student,
    TouchedGrades,
    choose_column,
    filling_of,
    forget_gradebook,
    grade_file,
    grade_rules,
    grade_sheet,
    keep_gradebook,
    obstacles_to_release,
    release_grades,
    set_grade_rules,
    touched_grades,
    withdraw_grades,
)
from .granting import disqualify, forgive_files, grant, readmit, revoke_grant
from .hard_rows import TOP_TEAMS, correct_truth, find_hard_rows
from .identifying import Guest, Waiting, guests_of, label_of, part, say_who
from .inviting import invite, letters_left, not_invited, why_nobody_is_invited
from .launches import cancel_launch, launch, schedule_launch, walk
from .leaks import is_table_unread
from .lookout import HOURS, Below, Pulse, TeamLine, below_baselines, best_public, pulse, team_lines, without_valid_file
from .people import Person, chosen, people_of
from .reading_otherwise import TOO_MANY_COLUMNS, keep_answers, take_as_meant, taken_for_answers
from .rehearsing import rehearse, wipe_rehearsal
from .report import Report, class_report, report_csv
from .rescoring import Move, Preview, apply_candidate, discard_candidate, preview
from .reviewing import Review, review
from .roles import (
    UnknownAddress,
    add_host,
    give_role,
    offer_role,
    remove_host,
    take_role,
    take_up_roles,
    withdraw_offer,
)
from .roster import (
    RosterPreview,
    discard_roster,
    draft_roster,
    make_slips,
    mark_left,
    preview_roster,
    roster_lists,
    take_back_roster,
    take_over_roster,
)
from .rulers import publish, sample_of
from .scoring_again import MOST_AT_ONCE, score_again, without_score
from .secondary import Asked, clean_secondary
from .setting_up import (
    EDITABLE,
    CannotHost,
    change,
    create,
    make_board_plain,
    remove,
)
from .similar import Alike, Shared, alike_by_facts, compare_answers, shared_facts
from .stopping import hide_submission, pause, resume, show_submission
from .zips import export_zip, import_zip

__all__ = [
    "EDITABLE",
    "HEAD_BYTES",
    "HOURS",
    "MOST_AT_ONCE",
    "TOO_MANY_COLUMNS",
    "TOP_TEAMS",
    "Alike",
    "Asked",
    "Below",
    "CannotHost",
    "Filling",
    "GradeMove",
    "GradeRow",
    "GradeSheet",
    "Guest",
    "Keep",
    "Move",
    "Person",
    "Preview",
    "Pulse",
    "Report",
    "Review",
    "Role",
    "RosterPreview",
    "Shared",
    "Student",
    "TeamLine",
    "TouchedGrades",
    "UnknownAddress",
    "Waiting",
    "add_baseline",
    "add_data_file",
    "add_host",
    "alike_by_facts",
    "announce",
    "apply_candidate",
    "as_meant",
    "audiences",
    "baseline_scores",
    "begin",
    "below_baselines",
    "best_public",
    "blocks_by_files_alone",
    "board_csv",
    "cancel_launch",
    "change",
    "check_again",
    "check_draft",
    "choose_column",
    "chosen",
    "class_report",
    "clean_secondary",
    "clone",
    "columns_at_hand",
    "compare_answers",
    "correct_truth",
    "create",
    "discard_candidate",
    "discard_draft",
    "discard_roster",
    "disqualify",
    "draft_roster",
    "draft_truth",
    "edit_announcement",
    "export_folder",
    "export_zip",
    "filling_of",
    "find_hard_rows",
    "forget_gradebook",
    "forgive_files",
    "give_role",
    "grade_file",
    "grade_rules",
    "grade_sheet",
    "grant",
    "guests_of",
    "hide_submission",
    "import_folder",
    "import_zip",
    "invite",
    "is_table_unread",
    "keep_answers",
    "keep_gradebook",
    "label_of",
    "launch",
    "letters_left",
    "look_again",
    "make_board_plain",
    "make_slips",
    "mark_left",
    "not_invited",
    "obstacles_to_release",
    "offer_role",
    "part",
    "pause",
    "people_of",
    "preview",
    "preview_roster",
    "proposed",
    "publish",
    "pulse",
    "readers",
    "readmit",
    "rehearse",
    "release_grades",
    "remove",
    "remove_baseline",
    "remove_data_file",
    "remove_host",
    "remove_webhook",
    "report_csv",
    "resume",
    "reveal",
    "review",
    "revoke_grant",
    "roster_lists",
    "sample_of",
    "say_who",
    "schedule_launch",
    "score_again",
    "section_sizes",
    "send_test",
    "set_grade_rules",
    "set_webhook",
    "shared_facts",
    "show_submission",
    "submissions_zip",
    "take_as_meant",
    "take_back_roster",
    "take_over_roster",
    "take_role",
    "take_up_roles",
    "taken_for_answers",
    "team_lines",
    "touched_grades",
    "walk",
    "why_nobody_is_invited",
    "wipe_rehearsal",
    "withdraw_announcement",
    "withdraw_grades",
    "withdraw_offer",
    "without_score",
    "without_valid_file",
]
