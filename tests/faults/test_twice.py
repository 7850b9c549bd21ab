"""Links and roles that several processes use at the same moment, on SQLite as well as on PostgreSQL."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from urllib.parse import quote

import pytest
from django.db import connection

from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.competitions.models import Competition, Limits
from tests.conftest import answers, close, enter, submit
from tests.grades.test_services import score_term, set_rules
from tests.running_site import ROOT, patience

from .races import PROCESSES

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def race(name: str, folder: Path) -> list[list[str]]:
    """What the processes came to in each round, in the database of this test: of one in memory they get a copy."""
    given = connection.settings_dict
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM INTO %s", [str(folder / "copy.sqlite3")])
        address = f"sqlite:///{folder / 'copy.sqlite3'}"
    else:
        who = f"{quote(given['USER'], safe='')}:{quote(given['PASSWORD'], safe='')}"
        address = f"postgres://{who}@{given['HOST']}:{given['PORT']}/{given['NAME']}"
    environment = {
        **os.environ,
        "DATABASE_URL": address,
        "VAR_DIR": str(folder / "var"),
        "EMAIL_URL": "dummymail://",
        "SITE_URL": "http://localhost",
        "LOG_LEVEL": "ERROR",
        "LTI_PLATFORM_HOSTS": "127.0.0.1",
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.races", name],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120 * patience(),
    )
    assert done.returncode == 0, done.stderr[-5000:]
    rounds: list[list[str]] = json.loads(done.stdout)
    return rounds


@pytest.fixture(autouse=True)
def team_of_two(pets: Competition) -> None:
    Limits.objects.filter(pk=pets.pk).update(team_size=2)


def test_one_join_card_lets_one_of_four_in(pets: Competition, tmp_path: Path) -> None:
    for outcomes in race("one_join_card_of_four_people", tmp_path):
        assert Counter(outcomes) == {"done": 1, "refused": PROCESSES - 1}


def test_a_member_who_opens_several_join_cards_is_one_person_of_the_roster(pets: Competition, tmp_path: Path) -> None:
    for outcomes in race("two_join_cards_of_one_member", tmp_path):
        assert Counter(outcomes) == {"done": 1, "refused": PROCESSES - 1}


def test_who_is_made_a_host_while_joining_does_not_compete(pets: Competition, tmp_path: Path) -> None:
    for outcomes in race("made_a_host_while_joining", tmp_path):
        assert set(outcomes) == {"done", "refused"}


def test_the_last_place_of_a_team_goes_to_one(pets: Competition, tmp_path: Path) -> None:
    for outcomes in race("the_last_place_of_a_team", tmp_path):
        assert Counter(outcomes) == {"done": 1, "refused": PROCESSES - 1}


def test_of_two_hosts_who_move_a_competition_one_wins_and_no_student_is_turned_away(
    pets: Competition, tmp_path: Path
) -> None:
    for outcomes in race("a_competition_moved_while_students_join", tmp_path):
        assert Counter(outcomes) == {"done": 3, "refused": 1}


def test_a_release_is_of_one_ground_truth_whenever_a_correction_comes(
    pets: Competition, bo: User, tmp_path: Path
) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
    set_rules(pets, terms=[score_term([{"score": 0}, 0], [{"score": 1}, 100])], decimals=3)
    close(pets)
    boards.reveal_competition(competition=pets)
    for outcomes in race("a_release_while_a_correction_is_applied", tmp_path):
        assert Counter(outcomes) == {"done": 3, "refused": 1}


def test_a_file_that_is_hidden_is_on_no_board_whenever_a_correction_comes(
    pets: Competition, bo: User, tmp_path: Path
) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
    for outcomes in race("a_file_hidden_while_a_correction_is_applied", tmp_path):
        assert Counter(outcomes) == {"done": 2, "refused": 2}


def test_who_joins_while_the_list_is_replaced_is_on_it_or_reads_why(pets: Competition, tmp_path: Path) -> None:
    for outcomes in race("a_student_joins_while_the_list_is_replaced", tmp_path):
        assert set(outcomes) == {"done", "refused"}


def test_no_file_is_refused_while_two_hosts_move_its_competition(pets: Competition, tmp_path: Path) -> None:
    for outcomes in race("a_competition_moved_while_students_submit", tmp_path):
        assert Counter(outcomes) == {"done": 3, "refused": 1}


@pytest.mark.parametrize(
    "name", ["one_student_who_opens_an_activity_several_times", "students_of_one_name_who_open_an_activity"]
)
def test_all_who_open_an_activity_at_once_come_in(name: str, pets: Competition, tmp_path: Path) -> None:
    for outcomes in race(name, tmp_path):
        assert Counter(outcomes) == {"done": PROCESSES}


def test_a_person_is_connected_with_one_earlier_account_and_no_other_one_is_lost(
    pets: Competition, tmp_path: Path
) -> None:
    for outcomes in race("one_person_who_connects_two_earlier_accounts", tmp_path):
        assert Counter(outcomes) == {"done": 2, "nothing": 2}


def test_a_registration_link_works_for_one_of_several_platforms(pets: Competition, tmp_path: Path) -> None:
    for outcomes in race("a_registration_link_that_is_opened_several_times", tmp_path):
        assert Counter(outcomes) == {"done": 1, "nothing": PROCESSES - 1}


def test_marks_that_are_released_while_others_are_sent_arrive_last(pets: Competition, tmp_path: Path) -> None:
    for outcomes in race("grades_released_while_marks_are_sent", tmp_path):
        assert set(outcomes) <= {"done", "nothing"}


@pytest.mark.parametrize(
    "name",
    [
        "activities_opened_while_grades_are_released",
        "texts_saved_while_the_class_list_changes",
        "accounts_deleted_while_their_class_is_told",
        "deadlines_moved_while_files_are_claimed",
        "files_claimed_while_late_results_are_written",
        "marks_wanted_while_their_platform_is_silent",
        "teams_changed_while_their_files_are_claimed",
        "a_competition_deleted_while_its_files_are_claimed",
    ],
)
def test_whoever_changes_one_class_in_several_ways_at_once_waits_and_succeeds(
    name: str, pets: Competition, tmp_path: Path
) -> None:
    for outcomes in race(name, tmp_path):
        assert Counter(outcomes) == {"done": PROCESSES}
