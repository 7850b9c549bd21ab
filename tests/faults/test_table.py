"""Which test proves which fault: the table of the numbers, and that every test in it exists."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent

PROOFS: dict[int, tuple[str, ...]] = {
    1: (
        "faults/test_processes.py::test_01_a_killed_scorer_costs_one_try_and_its_worker_lives",
        "faults/test_scorer.py::test_01_a_scorer_that_is_killed_is_rung_for_at_once_and_this_process_lives",
        "leaderboard/test_scorer.py::test_whoever_is_killed_while_a_file_is_measured_the_file_is_told_dead_at_once",
    ),
    2: (
        "faults/test_processes.py::test_02_a_killed_process_of_the_worker_is_noticed_within_two_seconds",
        "leaderboard/test_claims.py::test_what_a_dead_scorer_held_is_rung_for_at_once_and_counted_once",
    ),
    3: ("faults/test_processes.py::test_03_04_the_files_of_a_killed_worker_are_taken_over_when_its_lease_ends",),
    4: (
        "faults/test_processes.py::test_03_04_the_files_of_a_killed_worker_are_taken_over_when_its_lease_ends",
        "leaderboard/test_scoring.py::test_a_lease_that_ran_out_is_taken_over",
    ),
    5: (
        "leaderboard/test_scoring.py::test_who_lost_the_claim_cannot_finish",
        "leaderboard/test_claims.py::test_losing_the_lease_stops_the_scorer",
        "faults/test_scorer.py::test_05_whoever_loses_the_lease_ends_its_child_and_writes_nothing",
        "leaderboard/test_claims.py::test_a_claim_is_of_one_bell_and_one_try",
    ),
    6: (
        "faults/test_processes.py::test_06_a_killed_broker_that_keeps_nothing_loses_no_file",
        "machines/test_site.py::test_06_09_a_broker_that_is_emptied_and_killed_loses_no_file",
    ),
    7: (
        "faults/test_short.py::test_07_while_the_broker_is_down_uploads_are_answered_and_the_page_says_waiting",
        "leaderboard/test_claims.py::test_a_broker_that_takes_nothing_is_asked_once_per_sweep",
        "machines/test_site.py::test_07_08_10_a_broker_that_takes_nothing_holds_no_upload_up",
    ),
    8: (
        "flows/test_submission.py::test_a_frozen_broker_holds_no_upload_up",
        "machines/test_site.py::test_07_08_10_a_broker_that_takes_nothing_holds_no_upload_up",
    ),
    9: (
        "faults/test_processes.py::test_09_33_an_emptied_broker_and_a_dead_beat_lose_no_file",
        "machines/test_site.py::test_06_09_a_broker_that_is_emptied_and_killed_loses_no_file",
    ),
    10: (
        "faults/test_processes.py::test_10_a_full_broker_takes_no_message_and_every_upload_is_kept",
        "machines/test_site.py::test_07_08_10_a_broker_that_takes_nothing_holds_no_upload_up",
    ),
    11: ("leaderboard/test_orphans.py::test_11_after_a_day_it_is_swept_and_the_upload_can_be_repeated",),
    12: ("flows/test_submission.py::test_a_message_that_was_lost_is_rung_again_by_the_sweep",),
    13: ("faults/test_short.py::test_13_a_browser_that_got_no_answer_and_sends_again_uses_one_attempt",),
    14: ("faults/test_short.py::test_14_the_same_message_ten_times_gives_one_score",),
    15: ("faults/test_short.py::test_15_messages_in_the_wrong_order_serve_the_oldest_file_first",),
    16: ("faults/test_short.py::test_16_a_message_for_a_row_that_is_gone_harms_nobody",),
    17: (
        "faults/test_disk_full.py::test_17_a_disk_that_is_full_at_the_end_of_a_file_keeps_no_half_of_it",
        "web/test_failures.py::test_17_20_22_what_the_site_stands_on_is_away_and_nothing_is_taken",
    ),
    18: (
        "faults/test_disk_full.py::test_18_a_database_that_cannot_grow_takes_nothing_changes_nothing_and_recovers",
        "faults/test_disk_full.py::test_18_a_score_that_finds_no_room_leaves_its_file_pending_and_is_written_later",
    ),
    19: (
        "faults/test_processes.py::test_19_a_database_locked_for_three_seconds_is_waited_for",
        "faults/test_short.py::test_19_a_locked_database_is_waited_for_longer_than_ten_seconds",
    ),
    20: (
        "leaderboard/test_claims.py::test_a_result_waits_for_the_database",
        "leaderboard/test_claims.py::test_a_database_that_stays_away_is_not_waited_for_without_end",
        "leaderboard/test_claims.py::test_a_database_that_is_away_is_no_lost_lease",
        "machines/test_site.py::test_20_a_worker_that_finishes_while_the_database_is_down_keeps_its_result",
        "web/test_failures.py::test_17_20_22_what_the_site_stands_on_is_away_and_nothing_is_taken",
    ),
    21: (
        "leaderboard/test_scoring.py::test_a_missing_file_is_called_damaged",
        "leaderboard/test_submitting.py::test_a_failed_file_gives_the_attempt_back",
        "leaderboard/test_claims.py::test_ada_gets_one_letter_an_hour",
        "machines/test_bucket.py::test_21_an_object_that_is_gone_is_called_damaged",
        "machines/test_bucket.py::test_21_an_object_that_somebody_exchanged_is_called_damaged_and_not_waited_for",
    ),
    **dict.fromkeys(
        (23, 24, 25),
        ("faults/test_scorer.py::test_23_24_25_a_file_that_never_ends_is_stopped_at_its_time_and_not_tried_again",),
    ),
    22: (
        "machines/test_bucket.py::test_22_a_storage_that_answers_badly_twice_is_asked_again",
        "machines/test_bucket.py::test_22_a_storage_that_goes_on_like_that_is_out_of_reach_and_no_half_file_stays",
        "machines/test_bucket.py::test_22_a_file_waits_while_the_storage_is_out_of_reach_and_no_try_is_counted",
    ),
    23: ("faults/test_scorer.py::test_23_24_25_a_file_that_never_ends_is_stopped_at_its_time_and_not_tried_again",),
    24: ("faults/test_scorer.py::test_23_24_25_a_file_that_never_ends_is_stopped_at_its_time_and_not_tried_again",),
    25: ("faults/test_scorer.py::test_23_24_25_a_file_that_never_ends_is_stopped_at_its_time_and_not_tried_again",),
    26: (
        "faults/test_scorer.py::test_26_a_file_that_eats_all_memory_is_stopped_alone",
        "leaderboard/test_limits.py::test_a_file_that_needs_too_much_memory_is_the_files_fault_and_counts_as_refused",
        "leaderboard/test_limits.py::test_a_check_stops_at_its_memory_and_says_so",
    ),
    27: (
        "faults/test_short.py::test_27_twenty_files_that_kill_every_scorer_fail_and_let_the_others_through",
        "faults/test_scorer.py::test_27_twenty_files_that_kill_each_child_fail_after_three_deaths_and_hold_nobody_up",
    ),
    28: ("leaderboard/test_claims.py::test_a_worker_whose_clock_is_wrong_steals_nothing",),
    29: (
        "leaderboard/test_claims.py::test_a_lease_from_before_the_clock_was_set_back_holds_nobody_up",
        "web/test_status.py::test_a_sweep_from_before_the_clock_was_set_back_is_none",
    ),
    30: ("faults/test_deploy.py::test_30_a_stop_in_the_middle_of_work_costs_no_attempt_and_no_try",),
    31: (
        "leaderboard/test_claims.py::test_a_message_of_another_form_is_left_alone",
        "faults/test_deploy.py::test_31_a_message_of_a_newer_web_server_is_left_alone_and_its_file_scored_by_a_sweep",
    ),
    33: (
        "faults/test_processes.py::test_09_33_an_emptied_broker_and_a_dead_beat_lose_no_file",
        "web/test_status.py::test_a_worker_sweeps_where_the_beat_does_not",
    ),
    34: ("faults/test_short.py::test_34_two_sweeps_at_once_ring_twice_score_once_and_give_one_attempt_back",),
    35: (
        "faults/test_short.py::test_35_a_thousand_waiting_files_are_served_in_turn_and_oldest_first",
        "leaderboard/test_claims.py::test_competitions_take_turns_and_each_serves_its_oldest_first",
    ),
    36: (
        "leaderboard/test_scoring.py::TestRescoring::test_a_file_measured_while_the_ruler_changed_is_measured_again",
        "leaderboard/test_scoring.py::TestRescoring::test_the_board_stays_until_she_applies",
    ),
    37: ("faults/test_short.py::test_37_a_competition_that_is_deleted_while_its_file_is_measured",),
    38: (
        "faults/test_power_cut.py::test_38_a_file_and_the_folders_that_name_it_are_on_the_disk_before_its_row",
        "faults/test_power_cut.py::test_38_wherever_the_log_is_cut_every_acknowledged_upload_is_there",
    ),
    39: ("machines/test_site.py::test_39_everything_is_killed_at_once_and_started_again",),
    40: ("faults/test_processes.py::test_40_parts_are_killed_by_chance_while_files_come",),
}


def names_in(path: Path) -> set[str]:
    """Tests of a file, those of a class with its name."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)}
    return found


def test_no_fault_is_without_a_proof() -> None:
    # 32 is an upgrade from the release before; there is none yet.
    assert sorted(PROOFS) == [number for number in range(1, 41) if number != 32]


@pytest.mark.parametrize("number", PROOFS)
def test_a_fault_has_tests_that_exist(number: int) -> None:
    missing = []
    for proof in PROOFS[number]:
        file, _, name = proof.partition("::")
        if name not in names_in(TESTS / file):
            missing.append(proof)
    assert missing == []
