"""A teacher opens a competition, publishes rulers, rescores, reveals, exports."""

from __future__ import annotations

from .boards import add_baseline, board_csv, remove_baseline, reveal
from .folders import export_folder, import_folder
from .rulers import (
    Move,
    Preview,
    apply_candidate,
    check_draft,
    discard_candidate,
    draft_truth,
    preview,
    publish,
    sample_of,
)
from .setting_up import (
    CannotHost,
    add_data_file,
    change,
    create,
    launch,
    launch_checklist,
    remove,
    remove_data_file,
)

__all__ = [
    "CannotHost",
    "Move",
    "Preview",
    "add_baseline",
    "add_data_file",
    "apply_candidate",
    "board_csv",
    "change",
    "check_draft",
    "create",
    "discard_candidate",
    "draft_truth",
    "export_folder",
    "import_folder",
    "launch",
    "launch_checklist",
    "preview",
    "publish",
    "remove",
    "remove_baseline",
    "remove_data_file",
    "reveal",
    "sample_of",
]
