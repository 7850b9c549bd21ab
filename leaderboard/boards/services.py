"""Services and queries about boards: baselines, the reveal with its review, the board as CSV."""

from __future__ import annotations

import csv
import io
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import transaction
from django.db.models import Count, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from leaderboard.accounts.models import User
from leaderboard.common.clock import database_now
from leaderboard.common.display_time import moment_text
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.common.storage import clean_name, remove_file, store_file
from leaderboard.competitions import wake_ups
from leaderboard.competitions.models import Baseline, Competition, GroundTruth, Submission, Team
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.models.extension import last_deadline
from leaderboard.competitions.services import CannotHost

from . import queries as boards
from . import reveal, secondary, standings, team_search
from . import rows as rows_module
from .board_table import columns_of


def baseline_scores(ground_truth: GroundTruth | None, split: Split) -> dict[str, float]:
    """Baseline → score. Only for hosts."""
    return (
        baseline_scores_by_ground_truth([ground_truth], split).get(ground_truth.pk, {})
        if ground_truth is not None
        else {}
    )


def baseline_scores_by_ground_truth(
    ground_truths: Iterable[GroundTruth | None], split: Split
) -> dict[int, dict[str, float]]:
    """Ground truth → baseline → score, for ground truths of one competition; one query. Only for hosts."""
    known = [ground_truth for ground_truth in ground_truths if ground_truth is not None]
    found: dict[int, dict[str, float]] = defaultdict(dict)
    if not known:
        return found
    scores = boards.reference_scores(known[0].competition_id, split).filter(ground_truth__in=known)
    for ground_truth, name, value in scores.values_list("ground_truth", "submission__baseline__name", "value"):
        assert name is not None
        found[ground_truth][name] = value
    return found


def add_baseline(
    *, competition: Competition, user: User | None, name: str, file_name: str, chunks: Iterable[bytes]
) -> Submission:
    """Store a baseline and queue it for scoring; the same name replaces an earlier one.

    Raises `CannotHost` without a ground truth.
    """
    if competition.ground_truth_id is None:
        raise CannotHost(_("Publish the answers first; baselines are scored with them."))
    stored = store_file(chunks, f"submissions/{competition.pk}")
    with transaction.atomic():
        earlier = Submission.objects.filter(baseline__competition=competition, baseline__name=name)
        replaced = list(earlier.values_list("file_key", flat=True))
        hashes = list(earlier.values_list("sha256", flat=True))
        Baseline.objects.filter(competition=competition, name=name).delete()
        baseline = Baseline.objects.create(competition=competition, name=name)
        submission = Submission.objects.create(
            competition=competition,
            baseline=baseline,
            user=user,
            file_name=clean_name(file_name),
            file_key=stored.key,
            sha256=stored.sha256,
            size=stored.size,
            received_at=database_now(),
            upload_key=uuid.uuid4().hex,
        )
        competition.bump_board_version()
        wake_ups.wake_workers_after_commit(wake_ups.SCORE_NEXT_SUBMISSIONS, submission.pk, competition.ground_truth_id)
        AuditEntry.append(
            AuditEvent.BASELINE_ADDED,
            user=user,
            competition=competition,
            about=name,
            before={"sha256": list(hashes)} if hashes else {},
            after={"sha256": [stored.sha256]},
        )
    for key in replaced:
        remove_file(key)
    return submission


def remove_baseline(*, baseline: Baseline, user: User | None = None) -> None:
    """Delete a baseline and its file."""
    files = list(Submission.objects.filter(baseline=baseline))
    with transaction.atomic():
        baseline.competition.bump_board_version()
        baseline.delete()
        AuditEntry.append(
            AuditEvent.BASELINE_REMOVED,
            user=user,
            competition=baseline.competition,
            about=baseline.name,
            before={"sha256": [file.sha256 for file in files]},
        )
    for file in files:
        remove_file(file.file_key)


def reveal_competition(*, competition: Competition, user: User | None = None) -> None:
    """Open the private board now.

    Raises `CannotHost` before the launch, before the last deadline, while files wait for scores, or if it is open.
    """
    with transaction.atomic():
        # Changes of deadlines and extensions take this lock too, so none comes between the check and the reveal.
        _refuse_early(Competition.objects.select_for_update().get(pk=competition.pk), now := database_now())
        if not reveal.reveal_private_board(competition, now, user=user):
            raise CannotHost(_("The final ranking is already open."))


def _refuse_early(competition: Competition, now: datetime) -> None:
    if competition.launched_at is None:
        raise CannotHost(_("The competition hasn't launched."))
    if now < competition.closes_at:
        raise CannotHost(_("You can open the final ranking after the deadline."))
    if now < (last := last_deadline(competition)):
        raise CannotHost(
            _("A team has an extension until %(moment)s. You can open the final ranking after that.")
            % {"moment": moment_text(last, competition.zone)}
        )
    waiting = competition.submissions.filter(status=Submission.Status.PENDING, is_late=False).count()
    if waiting:
        raise CannotHost(
            ngettext(
                "%(number)s submission is still waiting for its score.",
                "%(number)s submissions are still waiting for their scores.",
                waiting,
            )
            % {"number": waiting}
        )


def board_csv(
    competition: Competition, split: Split, *, is_for_hosts: bool = False, own: Team | None = None, section: str = ""
) -> str:
    """A board as CSV, scores with all digits.

    Callers must check `private_is_visible_to` for the private board, that the reader runs the competition for
    `is_for_hosts`, and that the reader may see sections for `section`. Before the reveal the private board has the rows
    that a reveal would make now. `own` is the reader's team, which gets its real name even under pseudonyms.
    """
    has_pseudonyms = is_for_hosts and competition.board.uses_pseudonyms
    columns = columns_of(competition, has_section=bool(section), has_pseudonyms=has_pseudonyms)
    columns = [column for column in columns if column.csv_name]
    if competition.revealed_at is None and (is_for_hosts or split == Split.PRIVATE):
        rows = _rows_now(competition, split)
    else:
        rows = boards.ranked_lines(competition, split, sees_names=is_for_hosts)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(column.csv_name for column in columns)
    for row in team_search.rows_of_section(competition, section, rows) if section else rows:
        named = replace(row, real_name=own.name) if own and own.pk == row.team_id else row
        writer.writerow(column.csv_value(named) for column in columns)
    return text.getvalue()


def _rows_now(competition: Competition, split: Split) -> Iterator[rows_module.BoardRowData]:
    """Rows before the reveal: of the best public files, or those that a reveal would put on the private board now."""
    ground_truth = competition.ground_truth
    if ground_truth is None:
        return
    if split == Split.PUBLIC:
        found = {best.team_id: best for best in standings.best_submissions(ground_truth, split)}
    else:
        found = {best.team_id: best for its, best in standings.deciding_candidates(ground_truth) if its == split}
    ranks = boards.ranks_by_team(found.values())
    teams = competition.teams.annotate(
        files=Count("submissions", filter=Q(submissions__status=Submission.Status.SCORED))
    ).in_bulk(ranks)
    others = secondary.secondary_values(ground_truth, split, [best.submission_id for best in found.values()])
    for team_id, rank in ranks.items():
        best, team = found[team_id], teams[team_id]
        name, real_name = boards.names_of(team, competition, sees_names=True)
        yield rows_module.BoardRowData(
            rank=rank,
            name=name,
            real_name=real_name,
            team_id=team_id,
            value=best.value,
            movement=None,
            submission_id=str(best.submission_id),
            received_at=best.received_at,
            submission_count=team.files,
            secondary=others.get(str(best.submission_id), ()),
        )


SHOWN_ROWS = 20
"""Rows of the private board in the review before the reveal."""


@dataclass(frozen=True)
class ReviewRow:
    """A team on the private board as a reveal would make it now, with its public rank."""

    team: Team
    rank: int
    public_rank: int | None
    value: float
    is_picked_by_system: bool

    @property
    def gained(self) -> int:
        """Ranks gained, negative when lost; 0 without a public rank."""
        return self.public_rank - self.rank if self.public_rank else 0


@dataclass(frozen=True)
class RevealReview:
    """Numbers of files and teams for a check before the reveal; `rows` are the first ones of the private board."""

    scored: int
    waiting: int
    failed: int
    late: int
    hidden: int
    ranked: int
    picked_by_system: int
    disqualified: tuple[Team, ...]
    without: int
    """Number of teams that are not disqualified and would still be on no board."""
    candidate: GroundTruth | None
    rows: tuple[ReviewRow, ...]


def review_before_reveal(competition: Competition) -> RevealReview:
    """Review before the reveal. Only for hosts: it includes private ranks."""
    teams = {team.pk: team for team in competition.teams.all()}
    # Ranks by the deciding files, which both boards show after the reveal.
    by_split: dict[str, list[standings.StandingCandidate]] = {Split.PUBLIC: [], Split.PRIVATE: []}
    if (ground_truth := competition.ground_truth) is not None:
        ground_truth.competition = competition
        for split, best in standings.deciding_candidates(ground_truth):
            by_split[split].append(best)
    private = by_split[Split.PRIVATE]
    ranks, public_ranks = boards.ranks_by_team(private), boards.ranks_by_team(by_split[Split.PUBLIC])
    best_first = sorted(private, key=lambda best: (best.order, best.team_id))
    rows = [
        ReviewRow(
            teams[best.team_id],
            ranks[best.team_id],
            public_ranks.get(best.team_id),
            best.value,
            best.is_picked_by_system,
        )
        for best in best_first[:SHOWN_ROWS]
    ]
    disqualified = tuple(team for team in teams.values() if team.disqualified_at is not None)
    status = Submission.Status
    numbers = competition.submissions.filter(team__isnull=False).aggregate(
        scored=Count("pk", filter=Q(status=status.SCORED)),
        waiting=Count("pk", filter=Q(status=status.PENDING, is_late=False)),
        failed=Count("pk", filter=Q(status=status.FAILED)),
        late=Count("pk", filter=Q(is_late=True)),
        hidden=Count("pk", filter=Q(hidden_at__isnull=False)),
    )
    return RevealReview(
        **numbers,
        ranked=len(private),
        picked_by_system=sum(best.is_picked_by_system for best in private),
        disqualified=disqualified,
        without=len(teams) - len(disqualified) - len(private),
        candidate=competition.candidate,
        rows=tuple(rows),
    )
