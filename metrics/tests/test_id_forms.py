"""Ids that were written otherwise on the way: converted where each can mean one of the expected only."""

import random

import pytest

from metrics.reading.headers import ExpectedHeader
from metrics.reading.id_problems import written_as_expected
from metrics.reading.spreadsheet import convert_spreadsheet

HOURS = ["2026-03-01 00:00:00", "2026-03-01 01:00:00", "2026-03-13 00:00:00"]


@pytest.mark.parametrize(
    ("expected", "written"),
    [
        (["2026-03-01", "2026-03-13"], ["1.3.2026", "13.3.2026"]),
        (["2026-03-01", "2026-03-13"], ["3/1/2026", "3/13/2026"]),
        (["2026-03-01", "2026-03-13"], ["2026-03-01 00:00:00", "2026-03-13T00:00"]),
        (["2026-03-01", "2026-03-13"], ["2026/3/1", "2026/3/13"]),
        (["1.3.2026", "13.3.2026"], ["2026-03-01", "2026-03-13"]),
        (HOURS, ["2026-03-01", "2026-03-01 01:00", "2026-03-13"]),
        (HOURS, ["01.03.2026 00:00", "01.03.2026 1:00", "13.03.2026 00:00"]),
        (["2026-03-01T00:00:00Z", "2026-03-01T06:30:00Z"], ["2026-03-01 00:00:00+00:00", "2026-03-01 06:30:00+0000"]),
        (["007", "010"], ["7", "10"]),
        (["007", "010"], ["7.0", "10.0"]),
        (["7", "100000"], ["07", "1e+05"]),
        (["IMG_007", "IMG_010"], ["img_7", "img_10"]),
        (["caf\u00e9", "th\u00e9"], ["cafe\u0301", "\u200bth\u00e9"]),
    ],
)
def test_an_id_is_written_as_expected(expected: list[str], written: list[str]) -> None:
    wanted = dict(zip(written, expected, strict=True))
    assert written_as_expected(written, expected) == {name: one for name, one in wanted.items() if name != one}
    table = "".join(f"{name},{number}\n" for number, name in enumerate(written))
    found = convert_spreadsheet(
        f"id,y\n{table}".encode(), is_truth=False, expected=ExpectedHeader(("id", "y")), ids=expected
    )
    assert found is not None
    assert found.text.decode() == "id,y\n" + "".join(f"{name},{number}\n" for number, name in enumerate(expected))
    assert expected[-1] in found.changes[0] or expected[0] in found.changes[0] or expected[1] in found.changes[0]


@pytest.mark.parametrize(
    ("expected", "written"),
    [
        (["2026-03-01", "2026-01-03"], ["1.3.2026", "3.1.2026"]),
        (["2026-03-01", "2026-03-13"], ["1.3.26", "13.3.26"]),
        (["2026-03-01", "2026-03-13"], ["2026-03-01 01:00:00", "2026-03-13 00:00:00"]),
        (["2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"], ["2026-03-01 00:00:00", "2026-03-02 00:00:00"]),
        (["2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"], ["2026-03-01 01:00:00+01:00", "2026-03-02 01:00:00+01:00"]),
        (["7", "007"], ["07", "7"]),
        (["7", "8"], ["07", "7"]),
        (["7", "8"], ["07", "9"]),
        (["9007199254740993", "5"], ["9.007199254740992e15", "5"]),
        (["a", "b"], ["a", "b"]),
    ],
)
def test_where_another_id_could_be_meant_nothing_is_offered(expected: list[str], written: list[str]) -> None:
    assert written_as_expected(written, expected) is None


def test_ids_in_the_expected_writing_never_change() -> None:
    for seed in range(50):
        dice = random.Random(seed)
        expected = [dice.choice(["{}", "0{}", "x{}", "2026-01-{:02}"]).format(number) for number in range(1, 20)]
        written = [name.upper() if dice.random() < 0.3 else name for name in dice.sample(expected, 15)]
        found = written_as_expected(written, expected) or {}
        assert not set(found) & set(expected)
        assert all(name.upper() == twin.upper() for name, twin in found.items())
