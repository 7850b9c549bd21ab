"""The audit log: every change a host or an operator makes, never edited afterwards."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import transaction
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import reveal
from leaderboard.boards import services as boards
from leaderboard.classroom import roles
from leaderboard.classroom.models import HostingRole
from leaderboard.common.models import AuditEntry, AuditEvent, AuditLogOnlyGrows
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Baseline, Competition
from leaderboard.ground_truths.services import data_files, drafts, publishing, rescoring
from leaderboard.ground_truths.specs import GroundTruthSpec
from tests.conftest import TRUTH, answers, close, enter, make_competition, submit


def events() -> list[str]:
    return list(AuditEntry.objects.order_by("pk").values_list("event", flat=True))


def last() -> AuditEntry:
    return AuditEntry.objects.latest("pk")


def draft_again(competition: Competition, user: User) -> None:
    """Publish a corrected truth."""
    corrected = TRUTH.replace("1,cat", "1,dog").encode()
    drafts.save_draft(
        competition=competition, spec=GroundTruthSpec(metric="accuracy", file_name="t2.csv", chunks=[corrected])
    )
    publishing.publish_draft(competition=competition, user=user)


def test_everything_ada_does_is_in_the_audit_log_with_her_name(
    ada: User, bo: User, cy: User, work: Callable[[], int]
) -> None:
    pets = make_competition(ada)
    assert events() == [AuditEvent.CREATED, AuditEvent.TRUTH_PUBLISHED, AuditEvent.LAUNCHED]
    pets = competitions.change_competition(competition=pets, user=ada, daily_attempts=7)
    roles.give_role(role=HostingRole.HOST, competition=pets, name="cy", user=ada)
    roles.take_role(role=HostingRole.HOST, competition=pets, name="cy", user=ada)
    data_files.add_data_file(competition=pets, file_name="x.csv", chunks=[b"id,x\n1,2\n"], user=ada)
    data_files.remove_data_file(data_file=pets.data_files.get(), user=ada)
    boards.add_baseline(competition=pets, user=ada, name="Guess", file_name="b.csv", chunks=[answers()])
    boards.remove_baseline(baseline=Baseline.objects.get(), user=ada)
    enter(pets, bo)
    submit(pets, bo, answers())
    draft_again(pets, ada)
    rescoring.discard_candidate(competition=pets, user=ada)
    draft_again(pets, ada)
    work()
    rescoring.apply_candidate(competition=pets, user=ada)
    close(pets)
    boards.reveal_competition(competition=pets, user=ada)
    competitions.delete_competition(competition=pets, user=ada)
    assert events()[3:] == [
        AuditEvent.CHANGED,
        AuditEvent.HOST_ADDED,
        AuditEvent.HOST_REMOVED,
        AuditEvent.DATA_ADDED,
        AuditEvent.DATA_REMOVED,
        AuditEvent.BASELINE_ADDED,
        AuditEvent.BASELINE_REMOVED,
        AuditEvent.TRUTH_PUBLISHED,
        AuditEvent.TRUTH_DISCARDED,
        AuditEvent.TRUTH_PUBLISHED,
        AuditEvent.TRUTH_APPLIED,
        AuditEvent.REVEALED,
        AuditEvent.DELETED,
    ]
    assert [entry.event for entry in AuditEntry.objects.exclude(by=ada.pk)] == [AuditEvent.LAUNCHED]


def test_an_entry_tells_what_was_and_what_is(pets: Competition, ada: User) -> None:
    later = timezone.now() + timedelta(days=3)
    competitions.change_competition(competition=pets, user=ada, daily_attempts=7, closes_at=later, title=pets.title)
    found = {name: (before, after) for name, before, after in last().changes}
    assert found.keys() == {"daily_attempts", "closes_at"}
    assert found["daily_attempts"] == (5, 7)
    assert found["closes_at"][1] == later.isoformat()


def test_saving_a_form_without_a_change_is_no_deed(pets: Competition, ada: User) -> None:
    before = events()
    competitions.change_competition(
        competition=pets, user=ada, title=pets.title, daily_attempts=pets.limits.daily_attempts
    )
    assert events() == before


def test_the_audit_log_of_a_new_truth_names_its_fingerprint_and_no_answer(
    ada: User, bo: User, work: Callable[[], int]
) -> None:
    truth = "id,label,Usage\n" + "".join(
        f"{i},{'truthcanary' if i % 2 else 'a'},{'Public' if i < 7 else 'Private'}\n" for i in range(1, 13)
    )
    pets = make_competition(ada, truth=truth)
    code = pets.admission.join_code
    competitions.change_competition(
        competition=pets, user=ada, join_code="NEWCODE9", rules="x" * 500, contact="ada@example.org"
    )
    competitions.delete_competition(competition=pets, user=ada)
    written = str([[entry.before, entry.after, entry.about] for entry in AuditEntry.objects.all()])
    assert hashlib.sha256(truth.encode()).hexdigest() in written
    for secret in ("truthcanary", code, "NEWCODE9", "x" * 301, "ada@example.org"):
        assert secret not in written


def test_the_deadline_reveals_without_a_person(pets: Competition) -> None:
    close(pets)
    assert reveal.reveal_due_competitions(timezone.now()) == [pets]
    assert (last().event, last().by) == (AuditEvent.REVEALED, None)


def test_what_is_refused_leaves_no_entry(pets: Competition, ada: User, bo: User) -> None:
    before = events()
    enter(pets, bo)
    with pytest.raises(competitions.CannotHost):
        roles.give_role(role=HostingRole.HOST, competition=pets, name="bo", user=ada)
    with pytest.raises(competitions.CannotHost):
        roles.take_role(role=HostingRole.HOST, competition=pets, name="ada", user=ada)
    with pytest.raises(competitions.CannotHost):
        boards.reveal_competition(competition=pets, user=ada)
    assert events() == before


def test_a_change_that_fails_takes_its_entry_back(pets: Competition, ada: User) -> None:
    before = events()
    with transaction.atomic():
        competitions.change_competition(competition=pets, user=ada, daily_attempts=9)
        transaction.set_rollback(True)
    pets.refresh_from_db()
    assert (events(), pets.limits.daily_attempts) == (before, 5)


def test_entries_are_neither_edited_nor_deleted(pets: Competition) -> None:
    before = list(AuditEntry.objects.values())
    entry = last()
    for change in (
        entry.save,
        entry.delete,
        AuditEntry.objects.all().delete,
        lambda: AuditEntry.objects.update(event="nothing"),
        lambda: AuditEntry.objects.bulk_update([entry], ["event"]),
    ):
        with pytest.raises(AuditLogOnlyGrows), transaction.atomic():
            change()
    assert list(AuditEntry.objects.values()) == before


def test_whatever_writes_into_the_audit_trail_asks_who_does_it() -> None:
    silent = set()
    texts = [path.read_text() for path in (Path(__file__).parents[2] / "leaderboard").rglob("*.py")]
    for text in (text for text in texts if "AuditEntry.append" in text):
        for function in ast.walk(ast.parse(text)):
            if isinstance(function, ast.FunctionDef) and "AuditEntry.append" in ast.unparse(function):
                arguments = {one.arg for one in [*function.args.args, *function.args.kwonlyargs]}
                # A launch from a learning platform names its person.
                who = {"user", "account", "leaving", "request", "membership", "page_context", "launch"}
                if not who & arguments and "user=None" not in ast.unparse(function):
                    silent.add(function.name)
    assert silent == set()
