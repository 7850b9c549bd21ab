"""Tables as Excel and Parquet save them: read as they are shown, refused within limits, never computed."""

import gzip
import io
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import metrics
from metrics.core.errors import Refused
from metrics.reading.sources import unpack

TRUTH = b"id,y,Usage\n1,0.5,Public\n2,1.5,Private\n3,-2,Public\n"
LIMIT = 100_000_000
_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/></Types>'
)
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def cell(place: str, value: object) -> str:
    if isinstance(value, str) and value.startswith("="):
        return f'<c r="{place}"><f>{value[1:]}</f><v>7</v></c>'
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'


def workbook(*sheets: str, extra: tuple[tuple[str, bytes], ...] = ()) -> bytes:
    """An Excel file of sheets, each given as the XML of its rows."""
    listed = "".join(f'<sheet name="S{n}" sheetId="{n}" r:id="r{n}"/>' for n in range(1, len(sheets) + 1))
    led = "".join(
        f'<Relationship Id="r{n}" Type="{_RELATION}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n in range(1, len(sheets) + 1)
    )
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    members: list[tuple[str, str | bytes]] = [
        ("[Content_Types].xml", _TYPES),
        (
            "_rels/.rels",
            f'<Relationships xmlns="{package}"><Relationship Id="a" Type="{_RELATION}/officeDocument"'
            ' Target="xl/workbook.xml"/></Relationships>',
        ),
        ("xl/workbook.xml", f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATION}"><sheets>{listed}</sheets></workbook>'),
        ("xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{package}">{led}</Relationships>'),
        *(
            (f"xl/worksheets/sheet{n}.xml", f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>')
            for n, rows in enumerate(sheets, 1)
        ),
        *extra,
    ]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


def changed(data: bytes, change: Callable[[str, bytes], bytes]) -> bytes:
    """The workbook with its parts replaced."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
    return out.getvalue()


def rows(*lines: tuple[object, ...], first: int = 1) -> str:
    return "".join(
        f'<row r="{number}">'
        + "".join(cell(f"{chr(65 + place)}{number}", value) for place, value in enumerate(line) if value is not None)
        + "</row>"
        for number, line in enumerate(lines, first)
    )


def parquet(**columns: object) -> bytes:
    out = io.BytesIO()
    pa.parquet.write_table(pa.table(columns), out)
    return out.getvalue()


def read(data: bytes) -> tuple[str, list[str]]:
    """The CSV of a file, and the notes on how it was read."""
    notes: list[metrics.Problem] = []
    text = unpack(data, LIMIT, notes).decode()
    return text, [note.message for note in notes]


def with_states(data: bytes, **states: str) -> bytes:
    """The workbook with some of its sheets hidden."""

    def change(name: str, part: bytes) -> bytes:
        for sheet, state in states.items() if name == "xl/workbook.xml" else ():
            part = part.replace(f'name="{sheet}"'.encode(), f'name="{sheet}" state="{state}"'.encode())
        return part

    return changed(data, change)


def with_formats(data: bytes, *numbers: int) -> bytes:
    """The workbook with styles: cells with ``s="1"`` have the first of these formats, and so on."""
    forms = "".join(f'<xf numFmtId="{number}"/>' for number in (0, *numbers))
    relation = f'<Relationship Id="st" Type="{_RELATION}/styles" Target="styles.xml"/></Relationships>'

    def change(name: str, part: bytes) -> bytes:
        return part.replace(b"</Relationships>", relation.encode()) if name.endswith("workbook.xml.rels") else part

    out = io.BytesIO(changed(data, change))
    with zipfile.ZipFile(out, "a") as archive:
        archive.writestr("xl/styles.xml", f'<styleSheet xmlns="{_MAIN}"><cellXfs>{forms}</cellXfs></styleSheet>')
    return out.getvalue()


def dates(*days: float, form: int, title: str = "") -> bytes:
    """A table of days (of Excel's calendar), all cells in the same format."""
    head = "".join(f'<row r="{row}">{line}</row>' for row, line in enumerate(filter(None, [title, _DAY_AND_Y]), 1))
    below = "".join(f'<row><c s="1"><v>{day!r}</v></c><c><v>1</v></c></row>' for day in days)
    return with_formats(workbook(head + below), form)


_DAY_AND_Y = '<c t="inlineStr"><is><t>day</t></is></c><c t="inlineStr"><is><t>y</t></is></c>'
MIDNIGHT, NOON = 46082.0, 46082.5


def problem_of(data: bytes, limit: int = LIMIT) -> metrics.Problem:
    with pytest.raises(Refused) as caught:
        unpack(data, limit)
    (problem,) = caught.value.problems
    return problem


GOOD = rows(("id", "y"), (1, 0.5), (2, 1.5), (3, -2))


def test_an_excel_file_scores_as_its_csv_does() -> None:
    as_csv = metrics.evaluate("rmse", TRUTH, b"id,y\n1,0.5\n2,1.5\n3,-1\n")
    as_excel = metrics.evaluate("rmse", TRUTH, workbook(rows(("id", "y"), (1, 0.5), (2, 1.5), (3, -1))))
    assert as_excel.public == as_csv.public
    assert as_excel.private == as_csv.private


def test_a_parquet_file_scores_as_its_csv_does() -> None:
    as_csv = metrics.evaluate("rmse", TRUTH, b"id,y\n1,0.1\n2,1.5\n3,-1\n")
    as_parquet = metrics.evaluate("rmse", TRUTH, parquet(id=[1, 2, 3], y=[0.1, 1.5, -1]))
    assert as_parquet.public == as_csv.public
    assert as_parquet.private == as_csv.private


def test_a_truth_may_be_either() -> None:
    good = b"id,y\n1,0.5\n2,1.5\n3,-2\n"
    sheet = workbook(rows(("id", "y", "Usage"), (1, 0.5, "Public"), (2, 1.5, "Private"), (3, -2, "Public")))
    table = parquet(id=[1, 2, 3], y=[0.5, 1.5, -2], Usage=["Public", "Private", "Public"])
    assert metrics.evaluate("rmse", sheet, good).public == 0
    assert metrics.evaluate("rmse", table, good).private == 0


def test_numbers_keep_all_their_digits() -> None:
    values = [0.1, 1e-7, 123456789.123456789, float(np.nextafter(1, 2)), 2.0**60]
    assert [
        float(line.split(b",")[1]) for line in unpack(parquet(id=range(5), y=values), LIMIT).splitlines()[1:]
    ] == values
    sheet = workbook(rows(("id", "y"), *((n, repr(value).strip("'")) for n, value in enumerate(values))))
    assert [float(line.split(b",")[1]) for line in unpack(sheet, LIMIT).splitlines()[1:]] == values


def test_cells_are_written_as_csv_files_write_them() -> None:
    table = parquet(
        id=pa.array(["a", "b"]).dictionary_encode(),
        yes=[True, None],
        day=[date(2026, 1, 2), None],
        part=pa.array([0.1, 3], pa.float32()),
    )
    found = pd.read_csv(io.BytesIO(unpack(table, LIMIT)), dtype=str, keep_default_na=False)
    assert found.to_numpy().tolist() == [["a", "True", "2026-01-02", "0.1"], ["b", "", "", "3"]]


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Vienna"])
@pytest.mark.parametrize(
    "times",
    [
        ["2026-03-01", "2026-03-02"],
        ["2026-03-01", "2026-03-01 12:00"],
        ["2026-03-01 00:00:00.5", "2026-03-02"],
        ["1960-03-01 00:00:00.000001", None],
        [None, None],
    ],
)
def test_times_of_a_parquet_file_are_written_as_pandas_writes_them(times: list[Any], zone: str | None) -> None:
    frame = pd.DataFrame({"id": pd.to_datetime(times, format="mixed").tz_localize(zone), "y": [1, 2]})
    out = io.BytesIO()
    frame.to_parquet(out, index=False)
    assert unpack(out.getvalue(), LIMIT).replace(b'"', b"") == frame.to_csv(index=False).encode()


def test_messages_name_the_rows_of_the_sheet() -> None:
    with pytest.raises(metrics.SubmissionError) as caught:
        metrics.evaluate("rmse", TRUTH, workbook(rows(("id", "y"), (1, 0.5), (2, "many"), (3, -2), first=3)))
    (problem,) = caught.value.problems
    assert problem.line == 5


def test_the_first_filled_sheet_counts() -> None:
    assert unpack(workbook("", GOOD, rows(("other",), (1,))), LIMIT) == b"id,y\n1,0.5\n2,1.5\n3,-2\n"


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_hidden_sheets_are_not_read(state: str) -> None:
    other = rows(("other",), (1,))
    data = with_states(workbook(other, other, GOOD, other), S1=state, S2=state)
    text, notes = read(data)
    assert text == "id,y\n1,0.5\n2,1.5\n3,-2\n"
    assert '"S3"' in "".join(notes), "Bo reads which of the sheets it was"
    assert metrics.evaluate("rmse", TRUTH, data).warnings[0].code == "read_sheet"
    assert problem_of(with_states(workbook(GOOD, ""), S1=state)).code == "empty"


def test_a_refusal_names_the_sheet_too() -> None:
    other_ids = rows(("id", "y"), (7, 0.5), (8, 1.5), (9, -2))
    for first, code in ((rows(("Notes",), ("read me",)), "column_missing"), (other_ids, "unknown_ids")):
        with pytest.raises(metrics.SubmissionError) as caught:
            metrics.evaluate("rmse", TRUTH, workbook(first, GOOD))
        codes = [problem.code for problem in caught.value.problems]
        assert (codes[0], codes[1]) == (code, "read_sheet")
        assert "to the front" in caught.value.problems[1].message


def test_the_only_sheet_needs_no_name() -> None:
    assert read(workbook(GOOD))[1] == []


@pytest.mark.parametrize("form", [14, 22], ids=["shown as dates", "shown with times"])
@pytest.mark.parametrize(
    ("days", "texts"),
    [
        ((MIDNIGHT, MIDNIGHT + 1), ["2026-03-01", "2026-03-02"]),
        ((MIDNIGHT, NOON, MIDNIGHT + 1), ["2026-03-01 00:00:00", "2026-03-01 12:00:00", "2026-03-02 00:00:00"]),
        ((MIDNIGHT, MIDNIGHT + 1 / 24), ["2026-03-01 00:00:00", "2026-03-01 01:00:00"]),
    ],
    ids=["days", "with a noon", "hours"],
)
def test_a_column_of_dates_is_written_in_one_way(days: tuple[float, ...], texts: list[str], form: int) -> None:
    assert [line.partition(",")[0] for line in read(dates(*days, form=form))[0].splitlines()[1:]] == texts


def test_the_time_of_an_export_above_the_table_makes_no_times_of_its_dates() -> None:
    title = f'<c s="1"><v>{NOON!r}</v></c>'
    text = read(dates(MIDNIGHT, MIDNIGHT + 1, form=22, title=title))[0]
    assert text.splitlines()[2:] == ["2026-03-01,1", "2026-03-02,1"]


def test_cells_whose_formula_failed_are_named_and_no_empty_cells() -> None:
    failed = GOOD + '<row r="5"><c r="A5"><v>4</v></c><c r="B5" t="e"><f>1/0</f><v>#DIV/0!</v></c></row>'
    text, notes = read(workbook(failed))
    assert text.endswith("4,#DIV/0!\n")
    assert "#DIV/0!" in notes[0]
    assert "row 5" in notes[0]
    with pytest.raises(metrics.SubmissionError, match="#DIV/0!"):
        metrics.evaluate("rmse", TRUTH[:-1] + b"\n4,1,Public\n", workbook(failed))


def test_what_is_around_the_cells_does_not_matter() -> None:
    around = (
        '<dimension ref="A1:XFD1048576"/><sheetData>',
        "</sheetData><controls><control><from><xdr:col>9</xdr:col><xdr:row>900</xdr:row></from></control></controls>",
    )
    styled = GOOD + '<row r="1048576"><c r="A1048576" s="1"/><c r="XFD1048576" s="1"/></row>'
    sheet = changed(
        workbook(styled),
        lambda _name, data: data.replace(b"<sheetData>", around[0].encode()).replace(
            b"</sheetData>", around[1].encode()
        ),
    )
    assert unpack(sheet, LIMIT) == b"id,y\n1,0.5\n2,1.5\n3,-2\n"


@pytest.mark.parametrize("number", ["1e300", "-1e18", "nan", "99999999999"])
@pytest.mark.parametrize("form", range(1, 4))
def test_a_date_that_is_none_is_refused_or_read_and_never_more_than_that(number: str, form: int) -> None:
    styles = (
        '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy"/></numFmts><cellXfs><xf numFmtId="0"/>'
        '<xf numFmtId="14"/><xf numFmtId="46"/><xf numFmtId="164"/></cellXfs></styleSheet>'
    )
    data = workbook(f'<row><c r="A1" s="{form}"><v>{number}</v></c></row>', extra=(("xl/styles.xml", styles.encode()),))
    with suppress(Refused):
        assert unpack(data, LIMIT)


def test_shared_texts_are_read_where_cells_show_them() -> None:
    texts = '<sst><si><t>id</t></si><si><r><t>a</t></r><r><t xml:space="preserve"> b</t></r></si><si/></sst>'
    cells = [f'<c t="s"><v>{number}</v>\n</c>' for number in range(3)]
    shown = f"<row>{cells[0]}{cells[1]}</row><row>{cells[1]}{cells[2]}</row>"
    sheet = workbook(shown, extra=(("xl/sharedStrings.xml", texts.encode()),))
    assert unpack(sheet, LIMIT) == b"id,a b\na b,\n"


def test_no_formula_runs_and_no_link_is_followed() -> None:
    linked = workbook(
        rows(("id", "y"), (1, "=SUM(A1:A9)"), (2, "=[1]Other!A1")),
        extra=(("xl/externalLinks/externalLink1.xml", b"<externalLink/>"),),
    )
    assert unpack(linked, LIMIT) == b"id,y\n1,7\n2,7\n"


def test_an_empty_workbook_is_refused() -> None:
    assert problem_of(workbook("")).code == "empty"


@pytest.mark.parametrize(
    "data",
    [workbook(GOOD)[:-40], workbook(GOOD)[:300], parquet(id=[1], y=[2])[:-9], b"PAR1" + bytes(50)],
    ids=["xlsx end", "xlsx middle", "parquet end", "parquet zeros"],
)
def test_a_damaged_file_is_refused(data: bytes) -> None:
    assert problem_of(data).code == "container"


def test_a_sheet_with_one_cell_far_away_is_refused_at_once() -> None:
    began = time.process_time()
    assert problem_of(workbook(rows(("id", "y"), (1, 2)) + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'))
    assert time.process_time() - began < 5


def test_a_bomb_stops_at_the_limit() -> None:
    zeros = workbook(rows(("id",), ("0" * 30_000_000,)))
    assert len(zeros) < 200_000
    assert problem_of(zeros, 10_000_000).code == "too_large"
    nulls = parquet(id=np.zeros(2_000_000))
    assert len(nulls) < 200_000
    assert problem_of(nulls, 1_000_000).code == "too_large"


def test_lists_in_a_column_are_refused_by_name() -> None:
    with pytest.raises(metrics.SubmissionError, match='"y"'):
        metrics.prepare("rmse", b"id,y\n1,2\n").evaluate(parquet(id=[1], y=[[1, 2]]))


def test_an_excel_file_in_an_archive_is_refused() -> None:
    assert "Excel" in problem_of(gzip.compress(workbook(GOOD))).message


def test_the_first_look_leaves_both_to_the_reader() -> None:
    for data in (workbook(GOOD), parquet(id=[1], y=[2])):
        assert metrics.sniff(data, len(data), ["id", "y"]) == []


@pytest.mark.parametrize("separator", ["", ";"])
def test_lists_in_parquet_are_read_as_the_metric_reads_lists(separator: str) -> None:
    lists = [["cat", "dog"], [], ["dog"]]
    rows = [f"{place},{(separator or ' ').join(items)}" for place, items in enumerate(lists)]
    truth = metrics.prepare("multilabel_f1", ("id,y\n" + "\n".join(rows)).encode(), {"separator": separator})
    file = parquet(id=[0, 1, 2], y=lists)
    assert (truth.evaluate(file).overall, truth.evaluate(file).warnings) == (1, ())
    assert metrics.evaluate("multilabel_f1", file, file, {"separator": separator}).overall == 1


def test_ids_in_an_index_with_a_name_are_read_from_parquet() -> None:
    import pandas as pd

    truth = b"id,y\n0,1.5\n1,2\n2,4\n"
    for index in (pd.RangeIndex(3, name="id"), pd.Index([0, 1, 2], name="id"), pd.Index(list("012"), name="id")):
        out = io.BytesIO()
        pd.DataFrame({"y": [1.5, 2, 4]}, index=index).to_parquet(out)
        assert metrics.evaluate("rmse", truth, out.getvalue()).overall == 0
        assert metrics.evaluate("rmse", out.getvalue(), truth).overall == 0
    out = io.BytesIO()
    pd.DataFrame({"id": [0, 1, 2], "y": [1.5, 2, 4]}, index=pd.RangeIndex(3, name="row")).to_parquet(out)
    assert metrics.evaluate("rmse", truth, out.getvalue()).overall == 0
