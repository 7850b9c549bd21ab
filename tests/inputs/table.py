"""Which tests prove which number of the list. `python -m tests.inputs.table` writes docs/inputs.md from it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "inputs.md"


@dataclass(frozen=True)
class Entry:
    """What comes in, what becomes of it, and the tests that show it, below `tests/`."""

    what: str
    becomes: str
    proofs: tuple[str, ...]


FILE = (
    "inputs/test_doors.py::test_a_file_is_scored_or_refused_in_words_that_help",
    "../metrics/tests/test_inputs_submissions.py::test_a_submission_is_read_as_it_is_meant_or_refused_with_words",
    "../metrics/tests/test_inputs_truths.py::test_a_truth_is_read_as_it_is_meant_or_blocked_with_words",
)
"""What proves all files of numbers 1 to 101."""

REFUSED, ACCEPTED, NAMED = "refused", "read as it is meant", "refused, and called by its name"

FILES: dict[str, dict[int, tuple[str, str]]] = {
    "Container and encoding": {
        1: ("no byte at all", REFUSED), 2: ("blank lines alone", REFUSED), 3: ("a header without rows", REFUSED),
        4: ("UTF-8 with a byte-order mark", ACCEPTED), 5: ("UTF-16, as Excel's Unicode text", NAMED),
        6: ("UTF-16 without a mark", REFUSED), 7: ("Latin-1", REFUSED), 8: ("UTF-8 cut inside a letter", REFUSED),
        9: ("half of a surrogate pair", REFUSED), 10: ("a NUL byte", REFUSED), 11: ("xlsx", NAMED), 12: ("xls", NAMED),
        13: ("zip", "with one CSV read within limits, else refused"), 14: ("gzip", "read within limits"),
        15: ("bzip2", NAMED), 16: ("xz", NAMED), 17: ("Zstandard", NAMED), 18: ("7z and rar", NAMED),
        19: ("a zip bomb", "stopped at 100 times its size"), 20: ("a gzip bomb", "stopped at 100 times its size"),
        21: ("Parquet", NAMED), 22: ("npy", NAMED), 23: ("a pickle", "named, never unpickled"),
        24: ("PDF, PNG", NAMED), 25: ("a log-in page saved as CSV", NAMED), 26: ("JSON", NAMED), 27: ("RTF", NAMED),
        28: ("a script", NAMED), 29: ("the test string of virus scanners", "data like any other"),
    },
    "Lines and quotes": {
        30: ("CR LF", ACCEPTED), 31: ("CR alone", ACCEPTED), 32: ("mixed line ends", ACCEPTED),
        33: ("no last line end", ACCEPTED), 34: ("blank lines", ACCEPTED), 35: ("Ctrl-Z at the end", REFUSED),
        36: ("a line of 100 kB", REFUSED), 37: ("one line of many MB", REFUSED),
        38: ("a quote that is never closed", REFUSED), 39: ("a pair of quotes around rows", REFUSED),
        40: ("text behind a closing quote", REFUSED), 41: ("a line break in an id", REFUSED),
        42: ("colours of a terminal", REFUSED),
    },
    "Columns": {
        43: ("semicolons", NAMED), 44: ("tabs", NAMED), 45: ("vertical bars", NAMED),
        46: ("a decimal comma", "refused, never shifted"), 47: ("a comma behind each row", REFUSED),
        48: ("a comma behind the first row", REFUSED), 49: ("a comma behind the header", REFUSED),
        50: ("a value too many", REFUSED), 51: ("a value too few", REFUSED),
        52: ("another case in the header", REFUSED),
        53: ("white space in the header", ACCEPTED), 54: ("invisible marks around a name", ACCEPTED),
        55: ("no header", REFUSED), 56: ("a wrong name", REFUSED), 57: ("a column twice", REFUSED),
        58: ("a column too many", REFUSED), 59: ("columns in another order", ACCEPTED),
        60: ("the index of pandas", "refused with index=False"), 61: ("a remark first", REFUSED),
        62: ("ten thousand columns", "refused at the header"),
    },
    "Ids": {
        63: ("missing", REFUSED), 64: ("unknown", REFUSED), 65: ("repeated", REFUSED), 66: ("7 for 007", REFUSED),
        67: ("7.0 for 007", REFUSED), 68: ("1.0 for 1", ACCEPTED), 69: ("1e3 for 1000", REFUSED),
        70: ("above 2⁵³", "exact"), 71: ("NA, null, nan", "texts like others"), 72: ("True for 1", REFUSED),
        73: ("empty", REFUSED), 74: ("spaces around", ACCEPTED), 75: ("a zero-width space", REFUSED),
        76: ("a right-to-left mark", "refused, shown escaped"), 77: ("full-width digits", REFUSED),
        78: ("é in two code points", REFUSED), 79: ("a letter of another alphabet", REFUSED),
        80: ("another case", REFUSED), 81: ("dates in another form", REFUSED),
        82: ("another form of time zone", REFUSED),
        83: ("another order", ACCEPTED), 84: ("far too many rows", "refused early"), 85: ("another data set", REFUSED),
    },
    "Values": {
        86: ("empty, NaN, NA, null, -", REFUSED), 87: ("inf", REFUSED), 88: ("1e400", REFUSED),
        89: ("50%, $5, 1,000, 0x1F and the like", REFUSED), 90: ("other minus signs and digits", REFUSED),
        91: ("True for a number", REFUSED), 92: ("a label in another case", "a wrong answer"),
        93: ("a label nobody knows", "a wrong answer"), 94: ("no label", REFUSED), 95: ("0.5 for 0 or 1", REFUSED),
        96: ("a probability outside 0 to 1", REFUSED), 97: ("the same in each row", "a defined score"),
        98: ("numbers beyond 1e100", REFUSED), 99: ("-0.0, the smallest numbers, .5 and 5.", ACCEPTED),
        100: ("formulas of spreadsheets", "data; escaped where exported"), 101: ("markup in an id", "shown as text"),
    },
}  # fmt: skip

N, T, C, R, H = (f"inputs/test_{name}.py::" for name in ("names", "transport", "changes", "real_clients", "host_doors"))
CUT = f"{R}test_110_111_113_of_what_is_cut_short_or_has_no_length_nothing_is_kept"
FIFTY = f"{R}test_115_116_fifty_at_once_from_a_team_of_four_get_exactly_its_attempts"
SHOWN = f"{N}test_102_to_107_a_name_is_shown_clean_and_names_nothing"
BLOCKED = f"{H}test_125_to_131_a_faulty_truth_is_blocked_and_a_strange_one_is_warned_of"

REST: dict[str, dict[int, Entry]] = {
    "File name and transport": {
        102: Entry("a path as a name", "its last part is shown", (SHOWN,)),
        103: Entry("a path of Windows", "its last part is shown", (SHOWN,)),
        104: Entry("NUL, line ends, right-to-left marks in a name", "taken out", (SHOWN,)),
        105: Entry("a name of 300 letters", "cut at 120", (SHOWN,)),
        106: Entry(
            "CON; no name",
            "a name like others; a part without one is no file",
            (SHOWN, f"{N}test_106_a_part_without_a_name_is_no_file"),
        ),
        107: Entry(
            "quotes in a name",
            "one header with one name, `filename*` for other letters",
            (SHOWN, f"{N}test_107_a_download_has_one_name_in_one_header"),
        ),
        108: Entry("a link in a zip", REFUSED, (f"{N}test_108_a_link_in_a_zip_is_refused_and_followed_nowhere",)),
        109: Entry(
            "more bytes than allowed",
            "stopped while they come in",
            (
                f"{T}test_109_a_file_over_the_limit_is_stopped_while_it_comes_in",
                f"{T}test_109_a_competition_may_take_less_than_the_site",
            ),
        ),
        110: Entry(
            "a wrong Content-Length",
            "nothing is taken of a form that is not whole",
            (
                f"{T}test_110_113_of_a_form_that_ends_too_early_nothing_is_taken",
                f"{T}test_110_what_comes_behind_the_named_length_is_not_read",
                f"{T}test_110_a_length_that_is_none_takes_nothing",
                CUT,
            ),
        ),
        111: Entry("a body in chunks", "411", (f"{T}test_111_a_body_in_chunks_is_told_what_it_lacks", CUT)),
        112: Entry(
            "200 slow uploads",
            "nobody else waits",
            (
                f"{R}test_112_two_hundred_slow_uploads_keep_nobody_waiting",
                "leaderboard/test_slow_clients.py::test_a_page_comes_while_slow_uploads_are_under_way",
            ),
        ),
        113: Entry(
            "cut in the middle", "no row; again is fine", (f"{T}test_113_a_retry_after_a_cut_is_taken_once", CUT)
        ),
        114: Entry(
            "double click, back button",
            "one row",
            (
                f"{T}test_114_a_double_click_and_the_back_button_hand_in_once",
                f"{T}test_114_the_same_key_of_a_program_hands_in_once",
            ),
        ),
        115: Entry(
            "two tabs at the last attempt",
            "one is refused",
            (
                f"{T}test_115_of_two_tabs_at_the_last_attempt_one_is_refused",
                f"{C}test_115_an_attempt_taken_while_the_file_came_in_is_seen",
                FIFTY,
            ),
        ),
        116: Entry("fifty at once from a team of four", "exactly the limit", (FIFTY,)),
        117: Entry(
            "the second of the deadline",
            "the last byte decides, by the database's clock, without grace",
            (
                f"{C}test_117_the_last_byte_decides_to_the_second",
                f"{C}test_117_a_file_begun_in_time_counts_by_its_last_byte",
                f"{C}test_117_119_only_the_clock_of_the_database_counts",
            ),
        ),
        118: Entry(
            "a new day, clocks that change",
            "midnight UTC",
            (f"{C}test_118_attempts_start_again_at_midnight_utc_also_when_the_clocks_change",),
        ),
        119: Entry(
            "a browser's wrong clock", "not looked at", (f"{C}test_117_119_only_the_clock_of_the_database_counts",)
        ),
        120: Entry(
            "two files, no file, repeated fields",
            "refused; words: one of them",
            (
                f"{T}test_120_of_two_files_none_is_taken_by_chance",
                f"{T}test_120_a_form_without_a_file_asks_for_one",
                f"{T}test_120_repeated_words_harm_nobody",
            ),
        ),
        121: Entry("10⁵ parts", "400", (f"{T}test_121_a_hundred_thousand_parts_are_not_counted_to_the_end",)),
        122: Entry(
            "closed, put off or deleted meanwhile",
            "said, nothing kept",
            (
                f"{C}test_122_a_competition_that_closed_between_looking_and_sending",
                f"{C}test_122_a_competition_whose_opening_was_put_off",
                f"{C}test_122_a_deadline_that_was_brought_forward_while_the_file_came_in",
                f"{C}test_122_a_competition_that_was_deleted",
                f"{C}test_122_a_competition_that_was_deleted_while_the_file_came_in",
            ),
        ),
        123: Entry(
            "removed from the team meanwhile",
            "hands in for nobody; for the new team where there is one",
            (
                f"{C}test_123_who_was_removed_while_the_file_came_in_hands_in_for_nobody",
                f"{C}test_123_who_changed_teams_while_the_file_came_in_hands_in_for_the_new_one",
            ),
        ),
        124: Entry(
            "the same bytes again",
            "pointed out; the page asks before it is taken, a program sees by the hash",
            (
                f"{T}test_124_the_same_bytes_again_are_pointed_out_and_asked_about",
                f"{T}test_124_a_program_sees_by_the_hash",
            ),
        ),
    },
    "Host's files": {
        125: Entry("repeated ids", "blocked", (BLOCKED,)),
        126: Entry("no answer", "blocked", (BLOCKED,)),
        127: Entry("a part empty, or with one class for AUC", "blocked", (BLOCKED,)),
        128: Entry("unknown words in the split", "blocked", (BLOCKED,)),
        129: Entry("other ids than the sample submission", "blocked", (BLOCKED,)),
        130: Entry("sorted by the answer", "warned of", (BLOCKED,)),
        131: Entry("a group in both parts", "warned of", (BLOCKED,)),
        132: Entry(
            "the answers as a data file",
            "blocked in red",
            (
                f"{H}test_132_the_answers_as_a_data_file_are_blocked_in_red",
                f"{H}test_132_answers_that_students_have_already_are_not_published",
                f"{H}test_132_a_folder_whose_data_hold_the_answers_is_not_imported",
            ),
        ),
    },
}

LIST: dict[str, dict[int, Entry]] = {
    **{
        title: {number: Entry(*words, proofs=FILE) for number, words in numbers.items()}
        for title, numbers in FILES.items()
    },
    **REST,
}
"""All of it, by section and number."""

INTRODUCTION = """# Inputs

What may come in instead of a good file, and what becomes of it. Every file of numbers 1 to 101 goes through the form of
the Submit page and through the API (`tests/inputs/test_doors.py`), and comes to the library as a submission and as a
truth (`metrics/tests/test_inputs_submissions.py`, `test_inputs_truths.py`). Those that fit the commonest truth also
come to the host's check (`tests/inputs/test_host_doors.py`). The others have tests of their own, in `tests/inputs/`.

A refused file costs no attempt. Its problems are told with line, column, count and at most five examples of 40
characters, and never with a true answer or with the part that a row is in. Which files are refused follows from the
file, the ids and the sample submission alone, so that no answer can be found by trying: numbers are from -1e100 to
1e100, for scores of which only the order matters as large as they like.

Beside the list, files are mutated by the thousand and read a second time with the `csv` module alone
(`tests/inputs/plain_reader.py`): `python -m bench.inputs` does it with 100,000, `tests/inputs/test_mutations.py` with
2,000. Both readings refuse a file, or both find the same cells and scores.

This page is written by `python -m tests.inputs.table`.
"""


def page() -> str:
    """docs/inputs.md."""
    lines = [INTRODUCTION]
    for title, entries in LIST.items():
        has_proofs = title in REST
        lines += [f"## {title}\n", "| | comes in | becomes |" + " proved by |" * has_proofs]
        lines.append("|---|---|---|" + "---|" * has_proofs)
        for number, entry in entries.items():
            proofs = ", ".join(f"`{proof.partition('::')[2]}`" for proof in entry.proofs)
            lines.append(f"| {number} | {entry.what} | {entry.becomes} |" + f" {proofs} |" * has_proofs)
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page())
