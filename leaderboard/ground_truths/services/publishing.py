"""Publish a checked draft as a numbered ground truth; make its sample submission and student preview; launch."""

from __future__ import annotations

import hashlib
import logging
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

import metrics
from leaderboard.accounts.models import User
from leaderboard.common.clock import database_now
from leaderboard.common.library_messages import stored_text, translated_message
from leaderboard.common.models import AuditEntry, AuditEvent, audit_values
from leaderboard.common.storage import StoredFile, path_of, remove_file, store_as, store_file
from leaderboard.competitions import wake_ups
from leaderboard.competitions.models import Competition, GroundTruth, StudentPreview, TruthCheck, TruthDraft
from leaderboard.competitions.services import CannotHost, lock_competition
from leaderboard.scoring import table_jobs
from leaderboard.submissions import outcomes

from ..queries import launch_needs
from .checks import blocking_in, check_draft, file_to_publish
from .drafts import discard_draft, stored_draft

log = logging.getLogger(__name__)


def publish_draft(
    *,
    competition: Competition,
    user: User | None,
    note: str = "",
    is_confirmed: bool = False,
    keeps_draft: bool = False,
) -> GroundTruth:
    """Publish the draft as the next numbered ground truth; with `keeps_draft` it can be changed and published again.

    Before the launch it becomes the current one at once. Afterwards it becomes the candidate: all submissions are
    scored with it while the board does not change. Raises `CannotHost` if the check found errors, the metric's question
    is not confirmed, or there is a candidate already.
    """
    draft = stored_draft(competition)
    if draft is None:
        raise CannotHost(_("Upload the answer file first."))
    if draft.answer_choice.get("is_asked"):
        raise CannotHost(_("Choose the column that students predict first."))
    question = translated_message(metrics.get(draft.metric).confirmation(draft.params))
    if question and not is_confirmed:
        raise CannotHost(_("Please confirm this choice."), [question])
    draft.report = check_draft(draft)  # data files may have changed since the last check
    if not draft.report["ok"]:
        raise CannotHost(_("The answers can't be published."), list(map(stored_text, blocking_in(draft.report))))
    with tempfile.TemporaryDirectory() as folder:
        stored = store_file([file_to_publish(draft, Path(folder)).read_bytes()], f"truths/{competition.pk}")
    try:
        with transaction.atomic():
            locked = lock_competition(competition.pk)
            if locked.candidate_id is not None:
                raise CannotHost(_("A correction is pending. Apply or discard it first."))
            ground_truth = _create_ground_truth(locked, draft, stored, user, note)
            _make_current_or_candidate(locked, ground_truth)
            after = {**ground_truth_facts(ground_truth), "becomes": "candidate" if locked.candidate_id else "current"}
            log_ground_truth_event(AuditEvent.TRUTH_PUBLISHED, ground_truth, user, after=after)
            if not keeps_draft:
                draft.delete()
    except BaseException:
        remove_file(stored.key)
        raise
    if not keeps_draft:
        remove_file(draft.file_key)
    competition.refresh_from_db()
    try:
        make_sample_submission(ground_truth)
    except table_jobs.JobFailed:
        log.exception("sample submission of %s", ground_truth)
    return ground_truth


def offer_correction(*, competition: Competition, user: User) -> bool:
    """Publish the draft of a launched competition as its candidate, so that the host sees what would change.

    False if no answer would change, or something must be decided first: an error, the answer columns, the metric's
    question or an earlier candidate.
    """
    draft = stored_draft(competition)
    if draft is None or competition.launched_at is None or competition.candidate_id is not None:
        return False
    is_open = draft.answer_choice.get("is_asked") or metrics.get(draft.metric).confirmation(draft.params)
    if is_open or not draft.report["ok"] or not any((draft.report.get("differs") or {}).values()):
        return False
    publish_draft(competition=competition, user=user)
    return True


def _create_ground_truth(
    competition: Competition, draft: TruthDraft, stored: StoredFile, user: User | None, note: str
) -> GroundTruth:
    """Create the ground truth with the next number, and the report of its check."""
    report = draft.report
    last_number = competition.ground_truths.aggregate(last=Max("number"))["last"] or 0
    ground_truth = GroundTruth.objects.create(
        competition=competition,
        number=last_number + 1,
        file_key=stored.key,
        file_name=draft.file_name,
        sha256=stored.sha256,
        split_secret=draft.split_secret,
        metric=draft.metric,
        metric_version=metrics.get(draft.metric).version,
        params=draft.params,
        id_column=report["id_column"],
        submission_columns=list(report["submission_columns"]),
        rows=report["rows"],
        public_rows=report["public_rows"],
        private_rows=report["private_rows"],
        ignored_rows=report["ignored_rows"],
        quickest_seconds=report.get("seconds"),
        secondary=[
            {"key": metric["key"], "version": metrics.get(metric["key"]).version, "params": metric["params"]}
            for metric in report.get("secondary", ())
        ],
        note=note,
        published_by=user,
    )
    TruthCheck.objects.create(ground_truth=ground_truth, report=report, accepted_findings=draft.accepted_findings)
    return ground_truth


def _make_current_or_candidate(competition: Competition, ground_truth: GroundTruth) -> None:
    """Make the ground truth current if the competition is a draft without teams' files, and score its baselines again;
    else make it the candidate, and have all files scored with it."""
    if competition.launched_at is None and not competition.submissions.filter(team__isnull=False).exists():
        competition.ground_truth = ground_truth
        baselines = competition.submissions.filter(baseline__isnull=False)
        baselines.reset_to_pending()
        for pk in baselines.values_list("pk", flat=True):
            wake_ups.wake_workers_after_commit(wake_ups.SCORE_NEXT_SUBMISSIONS, pk, ground_truth.pk)
    else:
        competition.candidate = ground_truth
        wake_ups.wake_workers_after_commit(wake_ups.RESCORE_CANDIDATE, ground_truth.pk)
    competition.save(update_fields=["ground_truth", "candidate"])
    competition.bump_board_version()


def ground_truth_facts(ground_truth: GroundTruth) -> dict[str, Any]:
    """Facts about a ground truth for the audit log: hash, metrics, numbers of rows; no answers."""
    names = ("number", "sha256", "metric", "metric_version", "params", "secondary", "id_column")
    return {
        name: getattr(ground_truth, name) for name in (*names, "public_rows", "private_rows", "ignored_rows", "note")
    }


def log_ground_truth_event(
    event: AuditEvent,
    ground_truth: GroundTruth,
    user: User | None,
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    about, competition = f"ground truth {ground_truth.number}", ground_truth.competition
    AuditEntry.append(event, user=user, competition=competition, about=about, before=before, after=after)


# --- the sample submission --------------------------------------------------------------------------------------


def sample_submission_of(ground_truth: GroundTruth) -> bytes:
    """The sample submission. Raises `FileNotFoundError` if the metric could not make one."""
    return path_of(ground_truth.sample_key).read_bytes()


def make_sample_submission(ground_truth: GroundTruth) -> bytes:
    """The sample submission; made by the metric and stored at the first call. Raises `JobFailed`."""
    with suppress(FileNotFoundError):
        return sample_submission_of(ground_truth)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "sample.csv"
        table_jobs.run_page_job("sample_submission", **outcomes.scoring_arguments(ground_truth), target=str(target))
        store_as(ground_truth.sample_key, target)
        return target.read_bytes()


def start_preview(*, competition: Competition, user: User) -> StudentPreview:
    """Have a worker score the sample submission like any file; replaces an earlier preview.

    Raises `CannotHost` without a ground truth, `JobFailed` if the metric cannot make a sample.
    """
    ground_truth = competition.ground_truth
    if ground_truth is None:
        raise CannotHost(_("Publish the answers first; the sample submission is created from them."))
    sha256 = hashlib.sha256(make_sample_submission(ground_truth)).hexdigest()
    empty: dict[str, Any] = {"finished_at": None, "public": None, "private": None, "problems": [], "failure": ""}
    with transaction.atomic():
        sent = {"user": user, "sha256": sha256, "sent_at": database_now()}
        preview, _is_new = StudentPreview.objects.update_or_create(ground_truth=ground_truth, defaults=empty | sent)
        AuditEntry.append(AuditEvent.PREVIEWED, user=user, competition=competition, about=str(ground_truth.number))
        wake_ups.wake_workers_after_commit(wake_ups.SCORE_PREVIEW, ground_truth.pk)
    return preview


# --- the launch -------------------------------------------------------------------------------------------------


def launch_competition(*, competition: Competition, user: User | None = None) -> bool:
    """Launch a competition, so that students can join; False if it was launched before. Raises `CannotHost`.

    Pages use `setup.launch_after_test`, which scores a sample submission first; imported folders and scripts need none.
    """
    needs = launch_needs(competition)
    if missing := [_("Missing: %(what)s.") % {"what": need.text} for need in needs if not need.is_there]:
        raise CannotHost(_("The competition can't launch yet."), missing)
    with transaction.atomic():
        now = timezone.now()
        # One statement, so that of two launches at once only one is the first.
        is_first = Competition.objects.filter(pk=competition.pk, launched_at=None).update(launched_at=now) == 1
        if is_first:
            after = audit_values({"launched_at": now})
            AuditEntry.append(AuditEvent.LAUNCHED, user=user, competition=competition, after=after)
    competition.refresh_from_db()
    if is_first:
        discard_draft(competition=competition)  # from now on the published ground truth counts
    return is_first
