"""Whether metrics from outside may run on this site, and what the self-test of their sandbox found on each machine."""

from __future__ import annotations

import logging
import os
import socket

from django.db import OperationalError, ProgrammingError
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

import metrics
from metrics.sandbox.metric_files import list_outside_files, outside_folder
from metrics.sandbox.processes import TRUST_HELP, are_outside_files_trusted, explain_missing_sandbox
from metrics.sandbox.self_test import try_escapes

from .models import SandboxTest

log = logging.getLogger(__name__)

OUTSIDE_METRICS_OFF = gettext_noop("Metrics added by the administrator are off: {reason} {help}")


def run_sandbox_self_test() -> SandboxTest:
    """Run the self-test of the sandbox on this machine, which takes seconds, and store its report.

    A machine may be tried before it has a database: the report is then not stored.
    """
    found = try_escapes()
    fields = {"tested_at": timezone.now(), "reason": found.reason, "report": found.as_dict()}
    try:
        test, _ = SandboxTest.objects.update_or_create(host=_host_name(), defaults=fields)
    except (OperationalError, ProgrammingError) as error:
        log.debug("the report of the sandbox is not stored: %s", error)
        test = SandboxTest(host=_host_name(), **fields)
    if found.reason and outside_folder() is not None:
        so = "run all the same" if are_outside_files_trusted() else "are off"
        log.error("metrics from outside %s on %s: %s", so, test.host, found.reason)
    return test


def why_outside_metrics_are_off() -> str:
    """Why no metric from outside may run or be chosen, in words for hosts and operators, or ``""``.

    What was found on this machine counts; where nothing was, as on a web server without a worker, what was found last
    anywhere. Before any test the kernel is asked.
    """
    if outside_folder() is None or are_outside_files_trusted():
        return ""
    tests = SandboxTest.objects.order_by("-tested_at")
    test = tests.filter(host=_host_name()).first() or tests.first()
    reason = test.reason if test is not None else explain_missing_sandbox()
    return gettext(OUTSIDE_METRICS_OFF).format(reason=reason, help=TRUST_HELP) if reason else ""


def why_metric_is_off(key: str) -> str:
    """Why this metric may not score now, or ``""``; a metric of the library always may."""
    if outside_folder() is None or not metrics.get(key).is_outside:
        return ""
    return why_outside_metrics_are_off()


def selectable_metrics() -> tuple[metrics.Metric, ...]:
    """The metrics that a host can choose now."""
    found = metrics.catalogue()
    has_outside = any(metric.is_outside for metric in found)
    return (
        tuple(metric for metric in found if not metric.is_outside)
        if has_outside and why_outside_metrics_are_off()
        else found
    )


def outside_metrics_status() -> dict[str, object]:
    """What an operator should know about metrics from outside, for a page."""
    files = list_outside_files()
    return {
        "folder": os.environ.get("METRICS_DIR", ""),
        "offered": [file for file in files if not file.error],
        "unfit": [file for file in files if file.error],
        "is_trusted": are_outside_files_trusted(),
        "off": why_outside_metrics_are_off(),
        "tests": list(SandboxTest.objects.all()),
    }


def _host_name() -> str:
    return socket.gethostname()[:200]
