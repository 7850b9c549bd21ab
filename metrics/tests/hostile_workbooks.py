"""Workbooks that want more room or time than there is, each a few megabytes at most."""

import io
import zipfile
import zlib
from collections.abc import Iterator

from metrics.tests.test_workbooks import GOOD, changed, workbook

FAR = "XFD1048576"
_HUGE = "x" * 10_000_000
_LONG = "n" * 100_000


def with_cell(mark: str) -> bytes:
    """A good table, and one more row."""
    return workbook(f'{GOOD}<row r="1048576">{mark}</row>')


def with_text(value: str, times: int = 100_000) -> bytes:
    """A huge shared text (the first of two), shown by this value in so many cells."""
    cells = f'<row><c t="s"><v>{value}</v></c></row>' * times
    return workbook(cells, extra=(("xl/sharedStrings.xml", f"<sst><si><t>{_HUGE}</t></si><si/></sst>".encode()),))


def with_sheets(count: int, identifier: str, target: str) -> bytes:
    """Many sheets of which each is empty but costs as much as a large one."""

    def change(name: str, data: bytes) -> bytes:
        if name == "xl/workbook.xml":
            sheets = "".join(f'<sheet name="s{n}" sheetId="{n}" r:id="{identifier.format(n)}"/>' for n in range(count))
            return data.replace(b"<sheets>", f"<sheets>{sheets}".encode())
        if name.endswith(".rels") and "workbook" in name:
            led = "".join(
                f'<Relationship Id="{one}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/'
                f'worksheet" Target="{target.format(n)}"/>'
                for n, one in enumerate(dict.fromkeys(identifier.format(n) for n in range(count)))
            )
            return data.replace(b"</Relationships>", f"{led}</Relationships>".encode())
        return data

    empty = '<row><c r="A1"/></row>' * 400_000
    return changed(workbook(empty), change)


def with_hidden_end() -> bytes:
    """A sheet whose announced size ends before the far cell that follows."""
    shown = b"<worksheet></worksheet>"
    more = f'<sheetData><row><c r="A1"><v>1</v></c><c r="{FAR}"><v>1</v></c></row></sheetData>'.encode()

    def change(name: str, data: bytes) -> bytes:
        return shown + more if name.endswith("sheet1.xml") else data

    data = changed(workbook(GOOD), change)
    size, lie = (len(shown + more)).to_bytes(4, "little"), len(shown).to_bytes(4, "little")
    checksum, matching = (zlib.crc32(part).to_bytes(4, "little") for part in (shown + more, shown))
    return data.replace(size, lie).replace(checksum, matching)


def with_foreign_part(name: str, root: str) -> bytes:
    """A far cell in a part that is no sheet, which the list of sheets calls one."""
    far = f'<{root}><sheetData><row><c r="A1"><v>1</v></c><c r="{FAR}"><v>1</v></c></row></sheetData></{root}>'

    def change(member: str, data: bytes) -> bytes:
        return data.replace(b"worksheets/sheet1.xml", name.encode())

    return changed(workbook(GOOD, extra=((f"xl/{name}", far.encode()),)), change)


def with_archive(members: int, size: int = 0) -> bytes:
    """A workbook among many other files."""
    return workbook(GOOD, extra=tuple((f"xl/worksheets/x{n}.xml", bytes(size)) for n in range(members)))


def open_document() -> bytes:
    """A table of LibreOffice with one cell repeated over all rows, which calls itself Excel's."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<nothing/>")
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr(
            "content.xml",
            "<office:document-content><office:body><office:spreadsheet><table:table table:name='a'>"
            "<table:table-row table:number-rows-repeated='1000000'><table:table-cell table:number-columns-repeated="
            "'16000' office:value-type='float' office:value='1'/></table:table-row></table:table>"
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return out.getvalue()


def hidden_in_wide_characters() -> bytes:
    """UTF-16 whose bytes, read one by one, spell a far cell."""
    hidden = f'<worksheet><sheetData><row><c r="A1"><v>1</v></c><c r="{FAR}"><v>1</v></c></row></sheetData></worksheet>'
    hidden += " " * (len(hidden) % 2)
    text = "<?xml version='1.0' encoding='UTF-16'?><a>" + hidden.encode().decode("utf-16-be") + "</a>"
    data = b"\xfe\xff" + text.encode("utf-16-be")
    return changed(workbook(GOOD), lambda name, old: data if name.endswith("sheet1.xml") else old)


def with_doctype() -> bytes:
    """Entities that grow tenfold nine times."""
    entities = '<!ENTITY e0 "lol">' + "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    return changed(
        workbook(GOOD),
        lambda name, old: (
            f"<!DOCTYPE w [{entities}]>".encode() + old.replace(b"<v>1</v>", b"<v>&e9;</v>")
            if name.endswith("sheet1.xml")
            else old
        ),
    )


def with_merged_cells() -> bytes:
    """A long name, which the reader copies for each group of merged cells."""

    def change(name: str, data: bytes) -> bytes:
        if name == "xl/workbook.xml":
            return data.replace(b'name="S1"', f'name="{_LONG}"'.encode())
        return data.replace(b"</sheetData>", b"</sheetData>" + b'<mergeCell ref="A1:B2"/>' * 500_000)

    return changed(workbook(GOOD), change)


def hostile() -> Iterator[tuple[str, bytes]]:
    """Each by what it does."""
    one = "<v>1</v></c>"
    yield "far cell", with_cell(f'<c r="{FAR}">{one}')
    yield "far cell in lower case", with_cell(f'<c r="{FAR.lower()}">{one}')
    yield "far cell with a prefix", with_cell(f'<x:c r="{FAR}"><x:v>1</x:v></x:c>')
    yield "far cell behind other attributes", with_cell(f'<c s="0" t="n" r="{FAR}">{one}')
    yield "far cell in single quotes", with_cell(f"<c r='{FAR}'>{one}")
    yield "far cell with white space", with_cell(f'<c\n\tr \n=\n "{FAR}"\n>{one}')
    yield "far cell with an entity", with_cell(f'<c r="&#88;{FAR[1:]}">{one}')
    yield "far cell with zeros", with_cell(f'<c r="XFD01048576">{one}')
    yield "far cell behind a mark in an attribute", with_cell(f'<c x="&gt;>" r="{FAR}">{one}')
    yield "far cell without a place", with_cell("<c/>" * 16_383 + f"<c>{one}")
    yield "far cell in a row of its own spelling", workbook(f'{GOOD}<row r="A1048576"><c/><c r="XFC1"/><c>{one}</row>')
    yield "far cell beyond all columns", with_cell(f'<c r="ZZZ1048576">{one}')
    yield "far cell outside of the rows", workbook(f'{GOOD}<c r="{FAR}">{one}')
    yield (
        "far cell with a small dimension",
        changed(
            with_cell(f'<c r="{FAR}">{one}'),
            lambda name, data: data.replace(b"<sheetData>", b'<dimension ref="A1:B4"/><sheetData>'),
        ),
    )
    yield (
        "far cell in a table within the table",
        workbook(f'{GOOD}<sheetData><row><c r="{FAR}">{one}</row></sheetData>'),
    )
    yield "far cell behind the announced end", with_hidden_end()
    yield "far cell in the shared texts", with_foreign_part("sharedStrings.xml", "sst")
    yield "far cell in the styles", with_foreign_part("styles.xml", "styleSheet")
    yield "far cell in wide characters", hidden_in_wide_characters()
    yield "far cell in an open document", open_document()
    yield "20,000 sheets by one name", with_sheets(20_000, "r1", "worksheets/sheet1.xml")
    yield "20,000 names of one sheet", with_sheets(20_000, "x{}", "worksheets/sheet1.xml")
    yield "20,000 sheets that are not there", with_sheets(20_000, "x{}", "worksheets/none{}.xml")
    yield "huge text in 100,000 cells", with_text("0")
    yield "huge text by a number that is none", with_text("+1")
    yield "huge text by a number on two lines", with_text("1\n")
    yield "huge text by a number with a comment", with_text("0<!-- -->1")
    yield "huge text by an entity", with_text("&#48;")
    yield (
        "huge text in pieces",
        workbook(
            '<row><c t="s"><v>0</v></c></row>' * 100_000,
            extra=(("xl/sharedStrings.xml", b"<sst><si>" + b"<r><t>xxxxxxxxxx</t></r>" * 500_000 + b"</si></sst>"),),
        ),
    )
    yield "bomb in a cell", workbook(f"<row><c><v>{'0' * 260_000_000}</v></c></row>")
    yield "bomb of many parts", with_archive(60, 5_000_000)
    yield "bomb of empty cells", workbook("<row/>" * 8_000_000)
    yield "20,000 files", with_archive(20_000)
    yield "a million elements in each other", workbook("<a>" * 1_000_000 + "</a>" * 1_000_000)
    yield "entities that grow", with_doctype()
    yield "half a million merged cells with a long name", with_merged_cells()
