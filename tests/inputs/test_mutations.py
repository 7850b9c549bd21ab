"""Two thousand files that something happened to: none crashes the reader, none is misread, no good one is refused."""

from __future__ import annotations

import random
from collections import Counter

import pytest

import metrics
from metrics.tests.hostile_case import zipped
from tests.inputs.agreement import WORLDS, Disagreement, World, compare, one, written
from tests.inputs.mutations import MUTATIONS, Mutation
from tests.inputs.plain_reader import Unreadable, rows_of

pytestmark = pytest.mark.thorough

FILES = 2_000
PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_a_mutated_file_is_read_as_the_csv_module_reads_it_or_refused(part: int) -> None:
    results: Counter[str] = Counter()
    for number in range(part, FILES, PARTS):
        name, data = one(f"test-{number}")
        try:
            results[compare(WORLDS[name], data)] += 1
        except Disagreement as error:
            raise AssertionError(f"file {number}, {name}: {error}\n{data!r}") from error
    # It would prove nothing if every file were refused, or for the same reason.
    assert results["accepted"] > FILES / PARTS / 6
    assert len(results) > 12


@pytest.mark.parametrize("world", WORLDS.values(), ids=list(WORLDS))
def test_valid_files_are_accepted_however_they_are_written(world: World) -> None:
    for seed in range(15):
        assert compare(world, world.submission(random.Random(seed))) == "accepted"


@pytest.mark.parametrize("mutation", [mutation for mutation, _ in MUTATIONS], ids=lambda mutation: mutation.__name__)
def test_every_mutation_changes_files(mutation: Mutation) -> None:
    dice = random.Random(1)
    files = [WORLDS["labels"].submission(dice) for _ in range(50)]
    assert sum(mutation(dice, data) != data for data in files) > 25


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"id,y\n1,a\nb,2\n", "ids"),
        (b"id,y\n1,2,3\n", "width"),
        (b'id,y\n1,a"b\n', "a quote in a bare cell"),
        (b'id,y\n1, "a"\n', "a quote in a bare cell"),
        (b'id,y\n1,"a"b\n', "quotes"),
        (b'id,y\n1,"a\n', "quotes"),
        (b"id,Z\n1,2\n", "header"),
        (b"1,2\nid,y\n", "header"),
        (b'"id\n",y\n1,2\n', "a header over several lines"),
        (b"\n \n", "no rows"),
        (b"id,y\n1,\xff\n", "bytes"),
        (b"id,y\n1,\x00\n", "characters"),
        (b"id,y\n", "missing ids"),
        (b"x" + zipped(("a.csv", b"id,y\n1,2\n")), "bytes"),
    ],
)
def test_the_plain_reader_refuses_by_the_rules(data: bytes, why: str) -> None:
    with pytest.raises(Unreadable, match=f"^{why}$"):
        rows_of(data, ["id", "y"], ["1"])


def test_the_plain_reader_reads_what_the_rules_allow() -> None:
    for data in (
        b"\xef\xbb\xbf\n \t\n\xe2\x80\x8bid , y\r\n\r\n 1.00 ,\xc2\xa0a \r \t\n",
        b'y,id\n"a\n",1',
        b"My file\n\n \xe2\x80\x8bID, Y\n1,a\n",
        b"mine,2026\n\nid,y\n1,a\n",
        zipped(("a.csv", b"id,y\n1,a\n")),
    ):
        assert rows_of(data, ["id", "y"], ["1"]) == {"1": {"y": "a"}}
    assert rows_of(b'id,y\n1,"a\n""b"""\n', ["id", "y"], ["1"]) == {"1": {"y": 'a\n"b"'}}


def test_a_misreading_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    world = WORLDS["numbers"]
    rows = [[name, str(place)] for place, name in enumerate(world.ids)]
    data = written(world.header, rows)
    assert compare(world, data) == "accepted"
    true = metrics.Truth.read_submission

    def shifted(self: metrics.Truth, submission: bytes) -> object:
        prediction, table, places = true(self, submission)
        return prediction[::-1], table, places

    with monkeypatch.context() as patch:
        patch.setattr(metrics.Truth, "read_submission", shifted)
        with pytest.raises(Disagreement, match="read as"):
            compare(world, data)
    with monkeypatch.context() as patch:
        patch.setattr("tests.inputs.agreement.rows_of", lambda *arguments: (_ for _ in ()).throw(Unreadable("no")))
        with pytest.raises(Disagreement, match="accepted against the rules"):
            compare(world, data)
    monkeypatch.setattr("metrics.reading.sources.unpack", lambda *arguments: b"id,y\n")
    with pytest.raises(Disagreement, match="a good file is refused"):
        compare(world, data)


def test_an_archive_with_something_before_its_file_is_damaged() -> None:  # 13
    good = zipped(("mine.csv", written(["id", "y"], [[one, "1"] for one in WORLDS["numbers"].ids])))
    assert compare(WORLDS["numbers"], good) == "accepted"
    assert compare(WORLDS["numbers"], good[:40] + good) == "container"


def test_a_mark_at_the_start_of_the_first_id_belongs_to_the_id() -> None:  # 54, 75
    """Readers drop a byte-order mark where they begin, and ours begins behind the header."""
    rows = "".join(f"{name},1\n" for name in WORLDS["numbers"].ids)
    for end in ("\n", "\r\n", "\r"):
        data = f"id,y\n\ufeff{rows}".replace("\n", end).encode()
        assert compare(WORLDS["numbers"], data) == "unknown_ids"
        with_a_fault = data + b'1,"a"b'
        assert compare(WORLDS["numbers"], with_a_fault) == "quote"


def test_a_mark_before_blank_lines_is_no_header() -> None:  # 2
    for data in (b"\xef\xbb\xbf\n", b"\xef\xbb\xbf\r\n\t", b"\xef\xbb\xbf"):
        assert compare(WORLDS["numbers"], data) == "no_rows"
