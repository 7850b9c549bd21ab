"""Olga proves the promises: each is broken on purpose, by raw SQL where needed, and she reads which."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.db import connection, transaction
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.classroom import joining, teams
from leaderboard.common.storage import path_of
from leaderboard.competitions.models import (
    CandidateProblem,
    Competition,
    DailyAttempts,
    GroundTruth,
    Membership,
    Score,
    Standing,
    Submission,
)
from leaderboard.ground_truths.services import data_files, publishing, rescoring
from leaderboard.operations import consistency
from leaderboard.operations.models import ConsistencyRun
from tests.conftest import answers, enter, person, save_truth, submit


@pytest.fixture
def site(pets: Competition, ada: User, bo: User, cy: User) -> Submission:
    """Two teams, four files of every fate, a baseline, a data file; Bo's first submission."""
    enter(pets, bo), enter(pets, cy)
    first = submit(pets, bo, answers(public=1))
    submit(pets, bo, answers())
    submit(pets, cy, answers(public=2, private=1))
    submit(pets, cy, b"id,label\n1,cat\n")
    data_files.add_data_file(competition=pets, file_name="train.csv", chunks=[b"id,x\n1,2\n"])
    return first


def found() -> dict[int, consistency.CheckResult]:
    return {result.number: result for result in consistency.run_checks(seed=1)}


# PostgreSQL cannot look away, so it forgets them until the test ends. What it put off comes first.
WITHOUT_CHECKS = """
SET CONSTRAINTS ALL IMMEDIATE;
DO $$ DECLARE found record; BEGIN
    FOR found IN SELECT conrelid::regclass AS place, conname FROM pg_constraint
                 WHERE contype = 'c' AND connamespace = 'public'::regnamespace AND conrelid <> 0 LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', found.place, found.conname);
    END LOOP;
END $$
"""


def sql(*statements: str) -> None:
    """What no constraint would let through."""
    on_sqlite = connection.vendor == "sqlite"
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA ignore_check_constraints = ON" if on_sqlite else WITHOUT_CHECKS)
        for statement in statements:
            cursor.execute(statement)
        if on_sqlite:
            cursor.execute("PRAGMA ignore_check_constraints = OFF")


def test_a_site_in_use_passes_all_its_checks(site: Submission) -> None:
    results = found()
    assert {number: result.examples for number, result in results.items() if not result.holds} == {}
    assert set(results) == {1, 3, 6, 7, 9}
    assert all(result.looked_at for result in results.values())


def test_leaving_a_team_and_a_second_ground_truth_break_nothing(
    site: Submission, pets: Competition, ada: User, bo: User, cy: User, work: Callable[[], int]
) -> None:
    team = site.team
    assert team is not None
    fay = person("fay")
    joining.accept_rules(membership=joining.join_by_invitation(user=fay, invitation=team.invitation))
    teams.leave_team(membership=Membership.objects.get(user=fay))
    truth = "id,label,Usage\n" + "".join(f"{i},cat,{'Public' if i % 2 else 'Private'}\n" for i in range(1, 14))
    save_truth(pets, truth)
    publishing.publish_draft(competition=pets, user=ada)
    work()
    pets.refresh_from_db()
    rescoring.apply_candidate(competition=pets, user=ada)
    assert CandidateProblem.objects.exists()
    assert [result.line for result in found().values() if not result.holds] == []


# --- one offence after the other --------------------------------------------------------------------------------


def pets_files() -> list[Submission]:
    return list(Submission.objects.filter(status="scored").order_by("received_at"))


def lose_a_file() -> None:
    path_of(pets_files()[0].file_key).unlink()


def change_a_byte() -> None:
    path = path_of(pets_files()[0].file_key)
    path.write_bytes(path.read_bytes().replace(b"cat", b"cut", 1))


def cut_a_file() -> None:
    path = path_of(pets_files()[0].file_key)
    path.write_bytes(path.read_bytes()[:-3])


def give_two_rows_one_file() -> None:
    one, two, *_ = pets_files()
    Submission.objects.filter(pk=two.pk).update(file_key=one.file_key, sha256=one.sha256, size=one.size)


def change_the_truth() -> None:
    ground_truth = GroundTruth.objects.get()
    path_of(ground_truth.file_key).write_text("id,label,Usage\n1,cat,Public\n2,cat,Private\n")


def score_twice() -> None:
    sql(
        "CREATE TABLE bare AS SELECT * FROM competitions_score",
        "DROP TABLE competitions_score",
        "ALTER TABLE bare RENAME TO competitions_score",
        "INSERT INTO competitions_score SELECT * FROM competitions_score LIMIT 1",
    )


def lose_one_split() -> None:
    Score.objects.filter(submission=pets_files()[0], split="private").delete()


def lose_both_splits() -> None:
    Score.objects.filter(submission=pets_files()[0]).delete()


def score_an_invalid_file() -> None:
    Submission.objects.filter(pk=pets_files()[0].pk).update(status="invalid")


def forget_an_attempt() -> None:
    DailyAttempts.objects.filter(team__name="bo").update(used=1)


def count_a_refused_file() -> None:
    DailyAttempts.objects.filter(team__name="cy").update(used=2)


def lose_the_count() -> None:
    DailyAttempts.objects.all().delete()


def exceed_the_limit() -> None:
    DailyAttempts.objects.filter(team__name="bo").update(limit=1)


def show_another_score() -> None:
    Standing.objects.filter(team__name="bo").update(value=0.25)


def drop_a_team_from_the_board() -> None:
    Standing.objects.filter(team__name="cy").delete()


def edit_a_score() -> None:
    for score in Score.objects.all():
        Score.objects.filter(pk=score.pk).update(value=score.value + 1e-15)


OFFENCES: dict[Callable[[], None], tuple[int, str]] = {
    lose_a_file: (1, "cannot be read (No such file or directory)"),
    change_a_byte: (1, "does not have the SHA-256"),
    cut_a_file: (1, "bytes, its receipt says"),
    give_two_rows_one_file: (1, "2 submissions have the file key"),
    change_the_truth: (1, "ground truth"),
    score_twice: (3, "has 3 scores of 2 splits"),
    lose_one_split: (3, "has 1 scores of 1 splits"),
    lose_both_splits: (3, "is scored and has no scores"),
    score_an_invalid_file: (3, "is invalid and has scores"),
    forget_an_attempt: (6, "1 attempts noted, 2 files count"),
    count_a_refused_file: (6, "2 attempts noted, 1 files count"),
    lose_the_count: (6, "no attempts noted, 2 files count"),
    exceed_the_limit: (6, "2 files count, 1 were allowed"),
    show_another_score: (7, "pets: public standing of team"),
    drop_a_team_from_the_board: (7, "stored None"),
    edit_a_score: (9, "stored 0."),
}


def test_who_breaks_a_check_is_found(site: Submission, tmp_path: Path, settings: LazySettings) -> None:
    """Each offence on the same site, which is put right again after it."""
    whole, unseen = tmp_path / "whole", []
    shutil.copytree(settings.FILES_DIR, whole)
    for offence, (number, words) in OFFENCES.items():
        point = transaction.savepoint()
        offence()
        result = next(consistency.run_checks(seed=1, only={number}))
        if result.holds or words not in "\n".join(result.examples):
            unseen.append(f"{offence.__name__}: {result.line} {result.examples}")
        transaction.savepoint_rollback(point)
        shutil.rmtree(settings.FILES_DIR)
        shutil.copytree(whole, settings.FILES_DIR)
    assert unseen == []
    assert [result.line for result in found().values() if not result.holds] == []


def test_no_check_is_without_an_offence() -> None:
    assert {number for number, _ in OFFENCES.values()} == set(consistency.CONSISTENCY_CHECKS)


# --- the command ------------------------------------------------------------------------------------------------


def said_to_user(*options: str) -> tuple[int, str]:
    """Exit status and output of `check_consistency`."""
    out = StringIO()
    try:
        call_command("check_consistency", *options, stdout=out)
    except SystemExit as end:
        return int(str(end.code)), out.getvalue()
    return 0, out.getvalue()


def test_olga_reads_a_line_per_check(site: Submission) -> None:
    status, text = said_to_user()
    assert status == 0
    assert sum(" holds: " in line for line in text.splitlines()) == 5
    assert ConsistencyRun.objects.get().is_consistent


def test_olga_reads_which_is_broken_and_the_command_says_no(site: Submission) -> None:
    lose_a_file()
    status, text = said_to_user()
    assert status == 1
    assert " 1 BROKEN (1): " in text
    assert not ConsistencyRun.objects.get().is_consistent


def test_programs_read_json(site: Submission) -> None:
    show_another_score()
    status, text = said_to_user("--json", "--seed", "7")
    report = json.loads(text)
    assert status == 1
    assert not report["whole"]
    assert [check["number"] for check in report["promises"] if not check["holds"]] == [7]


def test_a_look_at_some_checks_is_not_kept_as_if_it_were_at_all(site: Submission) -> None:
    assert said_to_user("--only", "1,7")[1].count(" holds: ") == 2
    assert not ConsistencyRun.objects.exists()


def test_a_check_that_stumbles_is_no_check_that_holds(site: Submission, settings: LazySettings) -> None:
    sql("ALTER TABLE competitions_standing RENAME TO gone")
    result = found()[7]
    assert not result.holds
    assert "could not be checked" in result.examples[0]


def test_scores_of_the_last_day_are_measured_again_and_earlier_ones_had_their_nights(site: Submission) -> None:
    first = pets_files()[0]
    Score.objects.filter(submission=first).update(value=0.5)
    assert not found()[9].holds
    GroundTruth.objects.update(published_at=timezone.now() - timedelta(days=3))
    Submission.objects.filter(pk=first.pk).update(finished_at=timezone.now() - timedelta(days=2))
    assert found()[9].holds


def test_scores_of_an_older_metric_are_left_out(site: Submission) -> None:
    GroundTruth.objects.update(metric_version="another")
    result = found()[9]
    assert (result.holds, result.looked_at) == (True, 0)
