"""Findings of a check for display to the host: open or accepted, with the fixes that the page offers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition, TruthCheck, TruthDraft

from .data_files import ANSWERS_IN_DATA
from .services.checks import CONVERTIBLE_PROBLEMS

SPLIT_FINDINGS = frozenset({"distribution_gap", "missing_class", "group_in_both_parts", "empty_split"})


@dataclass(frozen=True)
class ShownFinding:
    """One finding; `fix` is the action that the page offers: `remove_leaks`, `convert`, `redraw` or ""."""

    finding: Mapping[str, Any]
    key: str
    fix: str
    is_accepted: bool

    @property
    def is_blocking(self) -> bool:
        return bool(self.finding["blocking"])


@dataclass(frozen=True)
class ShownFindings:
    """Findings in display order: errors, open warnings, accepted warnings."""

    errors: list[ShownFinding]
    warnings: list[ShownFinding]
    accepted: list[ShownFinding]

    @property
    def open(self) -> list[ShownFinding]:
        return [*self.errors, *self.warnings]


def finding_key(finding: Mapping[str, Any]) -> str:
    """Key of a finding by code, column and message: the same after every check."""
    said = "|".join(str(finding.get(name, "")) for name in ("code", "column", "message"))
    return hashlib.blake2b(said.encode(), digest_size=8).hexdigest()


def shown_findings(held: TruthDraft | TruthCheck | None, *, may_fix: bool = False) -> ShownFindings:
    """The findings of a check, with `may_fix` including fixes for some of them."""
    shown = ShownFindings([], [], [])
    if held is None:
        return shown
    accepted = {one["key"] for one in held.accepted_findings}
    for finding in held.report.get("findings", ()):
        key = finding_key(finding)
        fix = _fix_of(finding, held.report) if may_fix else ""
        one = ShownFinding(finding, key, fix, key in accepted and not finding["blocking"])
        (shown.errors if one.is_blocking else shown.accepted if one.is_accepted else shown.warnings).append(one)
    return shown


def _fix_of(finding: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    code = finding["code"]
    if code == ANSWERS_IN_DATA:
        return "remove_leaks"
    if code in CONVERTIBLE_PROBLEMS and report.get("as_meant"):
        return "convert"
    return "redraw" if code in SPLIT_FINDINGS else ""


def accept_finding(*, competition: Competition, user: User, key: str) -> bool:
    """Mark a warning as accepted by a host; False if no check has it. Blocking findings cannot be accepted."""
    held: Iterable[TruthDraft | TruthCheck] = [
        *TruthDraft.objects.filter(competition=competition),
        *TruthCheck.objects.filter(ground_truth=competition.ground_truth_id),
    ]
    is_known = False
    for check in held:
        shown = shown_findings(check)
        if not any(one.key == key for one in (*shown.warnings, *shown.accepted)):
            continue
        is_known = True
        if not any(one["key"] == key for one in check.accepted_findings):
            check.accepted_findings.append({"key": key, "by": user.pk, "at": timezone.now().isoformat()})
            check.save(update_fields=["accepted_findings"])
    return is_known
