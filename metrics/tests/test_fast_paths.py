"""Fast paths return what slow and plain code does."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import metrics
from metrics import global_average_precision
from metrics.core import buckets as buckets_module
from metrics.core import uncertainty as uncertainty_module
from metrics.core.arrays import Coded
from metrics.numerics import sums as sums_module
from metrics.numerics import tokens
from metrics.numerics.ranks import closed_up, dense_ranks, in_order, ranks_of, roc_influence, wins
from metrics.reading import columns as columns_module
from metrics.reading import numbers as numbers_module
from metrics.reading import tables
from metrics.reading.columns import Cells, to_decimal
from metrics.reading.headers import ANY_HEADER
from metrics.reading.ids import Ids
from metrics.reading.label_kinds import RankedLabel
from metrics.tests.worlds import world

KINDS_OF_IDS: dict[str, Callable[[random.Random], str]] = {
    "one length": lambda dice: f"img_{dice.randrange(500):08d}",
    "numbers": lambda dice: str(dice.randrange(500)),
    "long": lambda dice: "x" * dice.choice((0, 7, 8, 9, 56, 63, 64)) + str(dice.randrange(50)),
    "very long": lambda dice: "x" * dice.choice((1, 200)) + str(dice.randrange(50)),
    "other letters": lambda dice: "".join(dice.choice("aßé語🙂") for _ in range(dice.randrange(5))),
}


def check_lookup(known: list[str], asked: list[str]) -> None:
    """Compare ids with a dictionary that has the first row of equal texts."""
    rows: dict[str, int] = {}
    for row, text in enumerate(known):
        rows.setdefault(text, row)
    found = Ids(pa.array(known, pa.string())).find(pa.array(asked, pa.string()))
    assert found.tolist() == [rows.get(text, -1) for text in asked]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", KINDS_OF_IDS)
def test_an_id_is_found_where_a_dictionary_finds_it(kind: str, seed: int) -> None:
    dice = random.Random(seed)
    known = [KINDS_OF_IDS[kind](dice) for _ in range(dice.choice((1, 30, 300)))]
    asked = [KINDS_OF_IDS[kind](dice) for _ in range(dice.choice((1, 300)))]
    check_lookup(known, asked + known)
    check_lookup(list(dict.fromkeys(known)), known)


def test_ids_with_one_beginning_are_different_ids() -> None:
    check_lookup(["a", "ab", "abcdefgh", "abcdefghi"], ["abcdefg", "abcdefgh", "abcdefghi", "abcdefghij", "b", ""])
    check_lookup(["a"], [])
    check_lookup([], ["a"])
    check_lookup([""], ["", "a"])


def test_a_slice_of_a_column_is_looked_up_by_its_own_cells() -> None:
    column = pa.array([f"img_{number}" for number in range(50)])
    assert Ids(column[10:]).find(column[5:20]).tolist() == [-1] * 5 + list(range(10))


def values_of_many_kinds(dice: np.random.Generator, rows: int) -> dict[str, np.ndarray]:
    return {
        "even": dice.random(rows),
        "few": np.round(dice.random(rows), 2),
        "six digits": np.round(dice.normal(size=rows) / 300, 6),
        "few digits but one": np.append(np.round(dice.random(rows - 1), 2), 1 / 3),
        "whole": dice.integers(-rows, rows, rows).astype(float),
        "large steps": dice.integers(0, 9, rows) * 1e300,
        "nearly the same": 1 + dice.integers(0, 9, rows) * 2.0**-52,
        "crowded": dice.random(rows) ** 40,
        "far apart": dice.normal(size=rows) * 10.0 ** dice.integers(-300, 300, rows),
        "tiny": dice.integers(0, 9, rows) * 5e-324,
        "zeros of both signs": dice.choice([0.0, -0.0, 1.0], rows),
        "one": np.full(rows, 3.5),
    }


@pytest.mark.parametrize("rows", [1, 60, 6000])
def test_ranks_are_the_places_among_the_sorted_distinct_values(rows: int) -> None:
    for name, values in values_of_many_kinds(np.random.default_rng(rows), rows).items():
        expected = np.unique(values, return_inverse=True)[1]
        assert dense_ranks(values).tolist() == expected.tolist(), name
        some = np.random.default_rng(3).choice(rows, rows // 2 + 1)
        assert ranks_of(values).take(some).places.tolist() == dense_ranks(values[some]).tolist(), name
    assert closed_up(np.array([7, 2, 7, 5])).tolist() == [2, 0, 2, 1]


def test_a_part_of_the_ranks_tells_what_the_part_alone_would_tell() -> None:
    dice = np.random.default_rng(4)
    truth, scores = dice.integers(0, 2, 300).astype(float), np.round(dice.random(300), 1)
    rows = dice.permutation(300)[:120]
    part = ranks_of(scores).take(rows)
    for told in (wins, roc_influence):
        assert told(truth[rows], part).tolist() == told(truth[rows], scores[rows]).tolist()
    ups, downs = scores[truth == 1], scores[truth == 0]
    expected = [(up > downs).sum() + 0.5 * (up == downs).sum() for up in ups]
    assert wins(truth, scores)[truth == 1, 0].tolist() == expected


def test_sorted_answers_keep_their_ranking_in_every_part() -> None:
    dice = random.Random(8)
    names = ["a", "b", ""]
    truth = pa.array([dice.choice(names) for _ in range(90)]).dictionary_encode()
    coded = Coded(np.array(truth.indices), list(truth.dictionary.to_pylist()))
    said = _cells([dice.choice(("", f"{dice.choice('ab')} {dice.randint(0, 9) / 10}")) for _ in range(90)])
    answers = RankedLabel().read([said], coded)
    rows = np.array(dice.sample(range(90), 40))
    truth_of_part, fresh = coded.take(rows), answers.take(rows)
    part = in_order(answers).take(rows)
    for told in (global_average_precision.rows, global_average_precision.influence):
        assert told(truth_of_part, part).tolist() == told(truth_of_part, fresh).tolist()


def _cells(texts: list[str]) -> Cells:
    data = "id,y\n" + "".join(f'{row},"{text}"\n' for row, text in enumerate(texts))
    return Cells(tables.read_table(data.encode(), ANY_HEADER), "y", "id")


@pytest.mark.parametrize("odd", ["", "plain", "a,b", 'q"', "two\nlines", "\r", "ß🙂", " lead", "#", "\ufeff"])
@pytest.mark.parametrize("width", [1, 2, 3])
def test_columns_are_written_as_their_cells(width: int, odd: str) -> None:
    columns = [["one", odd, "", f"{place}"] for place in range(width)]
    arrays = list(map(tables.text_array, columns))
    assert [array.to_pylist() for array in arrays] == columns
    names = [f"n,{place}" for place in range(width)]
    assert tables.columns_csv(names, arrays) == tables.csv_bytes(names, zip(*columns, strict=True))


def test_ids_of_one_hash_are_still_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metrics.core.prepare.hashes_of", lambda ids: np.zeros(len(ids), np.uint64))
    assert metrics.check_truth("mae", b"id,y\na,1\nb,2\n").ok
    assert [one.code for one in metrics.check_truth("mae", b"id,y\na,1\na,2\n").findings] == ["repeated_ids"]


def test_a_column_of_texts_that_hardly_repeat_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns_module, "_TRIED", 4)
    for answers, is_left in (("abca", True), ("abab", False), ("abc", False), ("abcaaaaaaa", True)):
        data = "id,y\n" + "".join(f"{row},{answer}\n" for row, answer in enumerate(answers))
        table = tables.read_table(data.encode(), ANY_HEADER)
        coded = Cells(table, "y", "id").coded(may_repeat=True)
        assert [coded.values[code] for code in coded.codes] == list(answers)
        assert (coded.size == len(coded)) is (is_left or len(set(answers)) == len(answers))


@pytest.mark.parametrize("block", [1, 2, 5])
def test_blocks_change_nothing(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(block)
    texts = [" ".join(dice.choices(["b", "A", "a", "ß", "c"], k=dice.randrange(5))) for _ in range(17)]
    ids = pa.array([f"{text}{row}" for row, text in enumerate(texts)])
    numbers = np.array([1e16, 1.0, -1e16, 0.1, 3e-300])

    def cut() -> tokens.Tokens:
        return tokens.tokens(pa.array(texts), None, tokens.in_words(lowercase=True), distinct=True)

    whole, hashes, total = cut(), buckets_module.hashes_of(ids), sums_module.exact_sum(numbers)
    for module, name in (
        (tokens, "BLOCK"),
        (buckets_module, "_BYTES"),
        (sums_module, "_BLOCK"),
    ):
        monkeypatch.setattr(module, name, block)
    parts = cut()
    assert (parts.vocabulary, parts.codes.tolist(), parts.starts.tolist()) == (
        whole.vocabulary,
        whole.codes.tolist(),
        whole.starts.tolist(),
    )
    assert buckets_module.hashes_of(ids).tolist() == hashes.tolist()
    assert sums_module.exact_sum(numbers) == total


WRITTEN = (".5", "5.", "-.5", "+5.", "+.5e3", "5.e3", "-5.E-2", ".0", "0.", "00.50", "1e0000000001", "+1", "12.25")
NONE = (".", "+.", "e5", ".e5", "5.e", "5.e+", "..5", "5..", ".5.", "+-.5", "5. 5", "inf", "0x.8")


@pytest.mark.parametrize("text", WRITTEN)
def test_a_point_at_either_end_is_read_the_same_in_a_hurry_and_in_an_explained_file(text: str) -> None:
    quick, slow = _cells([text, "2"]), _cells([text, "2", "?"])
    assert numbers_module.read_numbers(quick).tolist() == [float(text), 2.0]
    assert numbers_module.read_numbers(slow).tolist()[:2] == [float(text), 2.0]
    assert quick.problems == []
    assert [problem.count for problem in slow.problems] == [1]
    assert float(to_decimal(text) or 0) == float(text)


@pytest.mark.parametrize("text", NONE)
def test_a_point_or_an_exponent_alone_is_no_number(text: str) -> None:
    cells = _cells([text, "2"])
    assert np.isnan(numbers_module.read_numbers(cells)[0])
    assert [problem.line for problem in cells.problems] == [2]
    assert to_decimal(text) is None


def test_rows_are_counted_by_the_lines_on_which_they_begin() -> None:
    data = b'\n \nid,y\n1,a\n\n"2\n\n3",b\n4,c\n\n'
    table = tables.read_table(data, ANY_HEADER)
    assert table.lines.tolist() == [4, 6, 9]
    table.let_go(())
    assert table.lines.tolist() == [4, 6, 9]


@pytest.mark.parametrize("seed", range(20))
def test_all_pieces_are_read_together_as_one_by_one(seed: int) -> None:
    dice = random.Random(seed)
    letters = ["a", "B", "Σ", "İ", "ß", "\u00a0", "\x1c", "\u2003", ""]
    texts = ["".join(dice.choices(letters, k=dice.randrange(4))) for _ in range(dice.randrange(6))]

    def read(reader: tokens.Reader) -> list[list[str]]:
        found, counts = reader(texts)
        flat = iter(found)
        pieces = [[next(flat) for _ in range(count)] for count in ([1] * len(texts) if counts is None else counts)]
        assert list(flat) == []
        return pieces

    assert read(tokens.in_words(lowercase=True)) == [text.lower().split() for text in texts]
    assert read(tokens.in_words(lowercase=False)) == [text.split() for text in texts]
    assert read(tokens.words_in_order) == [[text] if text.strip() else [] for text in texts]


@pytest.mark.thorough
@pytest.mark.parametrize("metric", metrics.catalogue(), ids=lambda metric: metric.key)
def test_all_resamples_are_summed_up_together_as_one_by_one(
    metric: metrics.Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    together = uncertainty_module.totals_of

    def compared(total: Any, drawn: np.ndarray) -> np.ndarray | None:
        quick, slow = together(total, drawn), [total(sums) for sums in drawn]
        assert (None in slow) if quick is None else quick.tolist() == pytest.approx(slow, rel=1e-15, nan_ok=True)
        seen.append(metric.key)
        return quick

    monkeypatch.setattr(uncertainty_module, "totals_of", compared)
    found = world(metric, 1)
    result = metrics.prepare(metric.key, found.truth_csv()).evaluate(found.submission_csv(), uncertainty=True)
    assert set(result.uncertainty) == {"public", "private", "overall"}
    assert seen or metric.computation.is_whole


def test_a_total_that_misreads_columns_is_asked_one_by_one() -> None:
    drawn = np.random.default_rng(1).random((200, 2))

    def share(sums: np.ndarray) -> float:
        return float(sums[0] / sums.sum()) if sums.ndim == 1 else sums[0] / sums.sum()

    assert uncertainty_module.totals_of(share, drawn).tolist() == [share(sums) for sums in drawn]  # type: ignore[union-attr]
