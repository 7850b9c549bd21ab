"""Headers as people write them, in every container and for every reader: read, and the reader says how."""

import gzip
import io
from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.parquet
import pytest

import metrics
from metrics.core.prepare import prepare
from metrics.reading.column_names import first_lines, header_place, matched_names
from metrics.reading.headers import header_notes, read_header
from metrics.tests.hostile_case import zipped
from metrics.tests.test_workbooks import rows, workbook

Row = tuple[object, ...]

TRUTH = b"id,House price (EUR)\n1,0.5\n2,1.5\n3,-2\n"
BODY: list[Row] = [(1, 0.5), (2, 1.5), (3, -2)]
NAMES = [
    ("id", "House price (EUR)"),
    ("ID", "HOUSE PRICE (EUR)"),
    (" Id ", "House  price  (EUR)"),
    ("id", "House\u00a0price [EUR]"),
    ("\u200bid", "House\u200b price\u00a0(EUR)\u200f"),
    ("[id]", "house price EUR"),
    ("(Id)", "House price"),
]
TITLES: list[list[Row]] = [
    [],
    [("Results of Bo",)],
    [("Results",)],
    [("Results of Bo",), ()],
    [("Results, spring 2026",), ()],
    [("Results", "spring"), (), ("by R",), ()],
    [(), ("Results",), (), ()],
]


def csv_of(table: Sequence[Row]) -> bytes:
    quoted = [[f'"{cell}"' if "," in str(cell) else str(cell) for cell in row] for row in table]
    return "".join(",".join(row) + "\n" for row in quoted).encode()


def parquet_of(table: Sequence[Row]) -> bytes:
    names, *body = table
    out = io.BytesIO()
    pa.parquet.write_table(pa.table(list(map(list, zip(*body, strict=True))), names=list(map(str, names))), out)
    return out.getvalue()


CONTAINERS: dict[str, Callable[[Sequence[Row]], bytes]] = {
    "csv": csv_of,
    "csv with a mark": lambda table: b"\xef\xbb\xbf" + csv_of(table),
    "csv of Windows": lambda table: csv_of(table).replace(b"\n", b"\r\n"),
    "gz": lambda table: gzip.compress(csv_of(table)),
    "zip": lambda table: zipped(("Results/sub.csv", csv_of(table))),
    "xlsx": lambda table: workbook(rows(*table)),
    "parquet": parquet_of,
}


@pytest.mark.parametrize("names", NAMES, ids=[repr(" ".join(one)) for one in NAMES])
@pytest.mark.parametrize(
    ("container", "number"),
    [(name, number) for name in CONTAINERS for number in range(len(TITLES)) if not (number and name == "parquet")],
)
def test_a_submission_with_other_titles_scores_and_says_how_it_was_read(
    names: Row, number: int, container: str
) -> None:
    titles = TITLES[number]
    data = CONTAINERS[container]([*titles, names, *BODY])
    result = metrics.evaluate("rmse", TRUTH, data)
    assert result.overall == 0
    has_titles = any(cell for title in titles for cell in title)
    codes = ["read_header"] * has_titles + ["read_names"] * (names != NAMES[0])
    assert [note.code for note in result.warnings] == codes
    assert all(note.is_note for note in result.warnings)
    if has_titles:
        assert f"row {len(titles) + 1};" in result.warnings[0].message
    expected = ["id", "House price (EUR)"]
    assert metrics.sniff(data, len(data), expected) == [], "the first look agrees with the reader"


@pytest.mark.parametrize("titles", TITLES, ids=[str(number) for number in range(len(TITLES))])
@pytest.mark.parametrize("container", sorted(CONTAINERS.keys() - {"parquet"}))
@pytest.mark.parametrize("usage", ["Usage", "Split"])
def test_a_truth_with_titles_is_read_and_ada_is_told(titles: list[Row], container: str, usage: str) -> None:
    body = [(n, value, part) for (n, value), part in zip(BODY, ["Public", "Private", "Public"], strict=True)]
    data = CONTAINERS[container]([*titles, ("id", "House  price", usage), *body])
    has_titles = any(cell for title in titles for cell in title)
    report = metrics.check_truth("rmse", data, is_quick=True)
    if usage == "Usage":
        assert report.ok
        assert report.submission_columns == ("id", "House price")
        assert ("read_header" in [finding.code for finding in report.findings]) == has_titles
        assert prepare("rmse", data, id_column="ID").rows == 3
    else:
        assert [finding.code for finding in report.findings if finding.blocking] == ["target_columns"]


@pytest.mark.parametrize("separator", [";", "\t", "|"])
@pytest.mark.parametrize("titles", ["", "Results\n", "Results of Bo\n\n", "sep={}\n", "sep={}\nResults of Bo\n"])
def test_another_separator_is_called_by_its_name_below_titles_too(separator: str, titles: str) -> None:
    text = titles.format(separator) + "ID,House  price,Usage\n1,0.5,Public\n2,1.5,Private\n".replace(",", separator)
    if titles.startswith("sep") or separator != "\t":
        assert [problem.code for problem in metrics.sniff(text.encode(), len(text), ["id", "House price"])] == [
            "separator"
        ]
    assert [one.code for one in metrics.check_truth("rmse", text.encode()).findings] == ["separator"]


@pytest.mark.parametrize("title", ["Pond survey, spring 2026", "Pond survey, spring 2026, group B"])
def test_a_title_with_commas_is_no_header(title: str) -> None:
    below = f"{title}\n".encode() + TRUTH
    assert metrics.evaluate("rmse", below, TRUTH).overall == metrics.evaluate("rmse", TRUTH, below).overall == 0
    assert [note.line for note in header_notes(below)] == [2]


def test_the_line_sep_is_no_header() -> None:
    assert metrics.evaluate("rmse", TRUTH, b"sep=,\n" + TRUTH).overall == 0
    assert metrics.evaluate("rmse", b"sep=,\n" + TRUTH, TRUTH).overall == 0
    assert read_header(b"sep=,\n" + TRUTH) == ["id", "House price (EUR)"]
    assert [note.line for note in header_notes(b"Results of Bo\n\n" + TRUTH)] == [3]


@pytest.mark.parametrize(
    "text",
    [
        "id,y\n1,2\n3,4\n",
        "id,y\n\n1,2\n3,4\n",
        "id,label\n\na,cat\nb,dog\n",
        "id,y\n1,0,5\n2,0,7\n",
        "id,label\na,cat,\nb,dog,\n",
        "id,label\na,New York, NY\nb,Paris, FR\n",
        "label\na,cat\nb,dog\n",
        "Sample ID, Plant species\na, newt\nb, toad\n",
        "Sample ID, Plant height\na, NA\nb, 3\n",
        "Sample ID, Plant height\n1, 2\n3, 4\n",
        ",id,y\n0,a,1\n1,b,2\n",
        "1,2\n3,4\n5,6\n",
        "id\n1\n2\n",
        "# by R\nid,y\n1,2\n",
        "id;y\n1;0,5\n2;1,5\n",
        "id;street;air (°C);cars\nMS-1;High Street;16,6;18.049\nMS-2;Mill Lane;7,4;1.172\n",
        "",
    ],
)
def test_rows_are_never_taken_for_titles(text: str) -> None:
    assert header_place(first_lines(text)) == 0


def test_rows_above_the_header_of_a_submission_are_not_lost() -> None:
    with pytest.raises(metrics.SubmissionError) as caught:
        metrics.evaluate("rmse", TRUTH, b"1,0.5\n2,1.5\nid,House price (EUR)\n3,-2\n")
    assert [problem.code for problem in caught.value.problems] == ["header_missing"]


@pytest.mark.parametrize("header", ["0", "House price (EUR)", "x", "id,House price (EUR)"])
def test_predictions_alone_are_told_that_the_ids_are_missing(header: str) -> None:
    with pytest.raises(metrics.SubmissionError) as caught:
        metrics.evaluate("rmse", TRUTH, f"{header}\n0.5\n1.5\n-2\n".encode())
    problem = caught.value.problems[0]
    assert (problem.code, problem.column) == ("column_missing", "id") or "ids or predictions" in problem.message


@pytest.mark.parametrize(
    ("names", "expected", "found"),
    [
        (["a", "A"], ["A", "a"], ["a", "A"]),
        (["y (a)", "y (b)"], ["id", "y"], ["y (a)", "y (b)"]),
        (["y", "Y"], ["id", "y"], ["y", "Y"]),
        (["Price (EUR)", "Price (USD)"], ["price (usd)", "price (eur)"], ["price (eur)", "price (usd)"]),
        (["STRASSE", "e\u0301"], ["Straße", "\u00e9"], ["Straße", "\u00e9"]),
    ],
)
def test_a_column_is_only_taken_for_another_if_no_third_could_be_meant(
    names: list[str], expected: list[str], found: list[str]
) -> None:
    assert matched_names(names, expected) == found


def test_two_columns_that_become_equal_are_an_error() -> None:
    for data in (b"id,House price (EUR),house  PRICE (eur)\n1,0.5,1\n2,1.5,1\n3,-2,1\n",):
        with pytest.raises(metrics.SubmissionError) as caught:
            metrics.evaluate("rmse", TRUTH, data)
        assert "column_repeated" in [problem.code for problem in caught.value.problems]
        assert "column_repeated" in [finding.code for finding in metrics.check_truth("rmse", data).findings]


@pytest.mark.parametrize("truth", ["1 2 3", "1.0 2.0 3.0", "1 2.0 3"])
@pytest.mark.parametrize("names", ["1,2,3", "1.0,2.0,3.0"])
def test_columns_of_classes_that_pandas_took_for_numbers_are_read(truth: str, names: str) -> None:
    rows = "".join(f"r{place},{label}\n" for place, label in enumerate(truth.split()))
    file = f"id,{names}\nr0,1,0,0\nr1,0,1,0\nr2,0,0,1\n"
    assert metrics.evaluate("multiclass_log_loss", f"id,y\n{rows}".encode(), file.encode()).overall < 1e-9
