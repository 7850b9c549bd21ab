"""After the ten checks: entries of the audit log are as they were written, and the database still guards them."""

from __future__ import annotations

from collections.abc import Iterator

from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import audit_log_faults

from .verdict import CheckRun


def audit_log_is_intact(findings: CheckRun) -> Iterator[str]:
    findings.looked_at = AuditEntry.objects.count()
    yield from audit_log_faults()
