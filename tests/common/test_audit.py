"""The audit log: every change a host or an operator makes, in a chain that shows where it was broken."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from importlib import import_module
from pathlib import Path

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.classroom import roles
from leaderboard.classroom.models import HostingRole
from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import AuditEvent, audit_log_faults
from leaderboard.competitions.models import Baseline, Competition
from leaderboard.competitions.ranking import reveal
from leaderboard.competitions.services import boards, competitions, data_files, publishing, rescoring, truth_drafts
from tests.conftest import TRUTH, answers, close, enter, hand_in, make_competition

guards = import_module("leaderboard.common.migrations.0001_initial")


def events() -> list[str]:
    return list(AuditEntry.objects.order_by("number").values_list("event", flat=True))


def last() -> AuditEntry:
    return AuditEntry.objects.latest("number")


def draft_again(competition: Competition, user: User) -> None:
    """Publish a corrected truth."""
    corrected = TRUTH.replace("1,cat", "1,dog").encode()
    truth_drafts.draft_truth(
        competition=competition, metric="accuracy", params={}, file_name="t2.csv", chunks=[corrected]
    )
    publishing.publish_draft(competition=competition, user=user)


@contextmanager
def without_guards() -> Iterator[None]:
    """What somebody with the database's password can do."""
    with connection.cursor() as cursor:
        for statement in guards.SQLITE_BACK if connection.vendor == "sqlite" else guards.POSTGRES_BACK:
            cursor.execute(statement)
        yield
        for statement in guards.SQLITE if connection.vendor == "sqlite" else guards.POSTGRES:
            cursor.execute(statement)


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
    hand_in(pets, bo, answers())
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
    assert [entry.number for entry in AuditEntry.objects.exclude(by=ada.pk)] == [3]  # launched without a person
    assert audit_log_faults() == []


def test_an_entry_tells_what_was_and_what_is(pets: Competition, ada: User) -> None:
    later = timezone.now() + timedelta(days=3)
    competitions.change_competition(competition=pets, user=ada, daily_attempts=7, closes_at=later, title=pets.title)
    found = {name: (before, after) for name, before, after in last().changes}
    assert found.keys() == {"daily attempts", "closes at"}
    assert found["daily attempts"] == (5, 7)
    assert found["closes at"][1] == later.isoformat()


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
    written = "".join(entry.before + entry.after + entry.about for entry in AuditEntry.objects.all())
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


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE common_auditentry SET event = 'nothing' WHERE number = 2",
        "DELETE FROM common_auditentry WHERE number = 2",
        "DELETE FROM common_auditentry",
        "INSERT INTO common_auditentry SELECT number + 5, at, by, event, competition, account, about, before,"
        " after, previous, digest FROM common_auditentry WHERE number = 2",
    ],
)
def test_the_database_refuses_to_rewrite_history(pets: Competition, statement: str) -> None:
    before = list(AuditEntry.objects.values())
    with pytest.raises(DatabaseError, match="audit log"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert list(AuditEntry.objects.values()) == before


def test_replacing_an_entry_is_refused_too(pets: Competition) -> None:
    columns = "number, at, by, event, competition, account, about, before, after, previous, digest"
    row = f"INTO common_auditentry SELECT {columns} FROM common_auditentry WHERE number = 2"
    statement = {
        "sqlite": f"INSERT OR REPLACE {row}",
        "postgresql": f"INSERT {row} ON CONFLICT (number) DO UPDATE SET event = 'nothing'",
    }[connection.vendor]
    with pytest.raises(DatabaseError, match="audit log"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert "nothing" not in events()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE common_auditentry SET event = 'nothing' WHERE number = 2", "entry 2 was changed"),
        ("UPDATE common_auditentry SET after = '{}' WHERE number = 2", "entry 2 was changed"),
        ("UPDATE common_auditentry SET by = 99 WHERE number = 1", "entry 1 was changed"),
        ("UPDATE common_auditentry SET at = '2020-01-01 00:00:00+00:00' WHERE number = 3", "entry 3 was changed"),
        ("UPDATE common_auditentry SET number = 9 WHERE number = 3", "between 2 and 9 entries are missing"),
        ("DELETE FROM common_auditentry WHERE number = 2", "between 1 and 3 entries are missing"),
        ("DELETE FROM common_auditentry WHERE number = 1", "between 0 and 2 entries are missing"),
    ],
)
def test_whoever_gets_round_the_guards_is_found_out(pets: Competition, statement: str, words: str) -> None:
    assert audit_log_faults() == []
    with without_guards(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert words in " ".join(audit_log_faults())


def test_an_entry_that_was_changed_and_hashed_again_breaks_the_next_link(pets: Competition) -> None:
    forged = AuditEntry.objects.get(number=2)
    forged.after = "{}"
    with without_guards():
        AuditEntry.objects.filter(number=2).update(after="{}", digest=forged.expected_digest())
    assert audit_log_faults() == ["audit log: entry 3 does not follow the one before it"]


def test_guards_that_were_taken_away_are_missed(pets: Competition) -> None:
    with without_guards():
        assert len(audit_log_faults()) == 3
    assert audit_log_faults() == []


def test_a_digest_can_be_worked_out_by_hand(pets: Competition) -> None:
    """What an auditor without this program does: one line of JSON per entry, and its SHA-256."""
    entry = AuditEntry.objects.get(number=2)
    at = entry.at.isoformat(timespec="microseconds")
    facts = [2, at, entry.by, entry.event, entry.competition, entry.account, entry.about]
    text = json.dumps([*facts, entry.before, entry.after, entry.previous], sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(text.encode()).hexdigest() == entry.digest
    assert entry.previous == AuditEntry.objects.get(number=1).digest


def test_whatever_writes_into_the_audit_trail_asks_who_does_it() -> None:
    silent = set()
    for path in (Path(__file__).parents[2] / "leaderboard").rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef) and "AuditEntry.append" in ast.unparse(function):
                arguments = {one.arg for one in [*function.args.args, *function.args.kwonlyargs]}
                who = {"user", "account", "captain", "leaving", "request", "membership", "page_context"} & arguments
                if not who and "user=None" not in ast.unparse(function):
                    silent.add(function.name)
    assert silent == set()
