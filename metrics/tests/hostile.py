"""The list of inputs: every way a CSV goes wrong, with its number, and what is said about it.

The same bytes come as a submission and as a truth file, in the library and on the site.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import pickle

from metrics.tests.hostile_case import (
    DAYS,
    DICE,
    LARGE,
    MOMENTS,
    NAMES,
    NUMBERS,
    PADDED,
    TEXTS,
    WORDS,
    Bomb,
    Case,
    case,
    zipped,
)

NOUGHTS = gzip.compress(b"id,y\n" + b"1,0.5\n" * 2_000_000)
EICAR = r"X5O!P%@AP[4\PZX54(P^)7CC)7}" + "$EICAR-STANDARD-ANTIVIRUS-" + "TEST-FILE!$H+H*"

CONTAINERS = [
    case("1", b"", "empty_file", "0 bytes"),
    case("2", b"\n \r\n\n", "no_rows", "no rows"),
    case("3", b"id,y\n", "no_rows", "header but no rows; 3 expected", line=1),
    case("4", b"\xef\xbb\xbf" + NUMBERS),
    case("5", NUMBERS.decode().encode("utf-16"), "encoding", "CSV UTF-8", line=1),
    case("6", NUMBERS.decode().encode("utf-16-le"), "control_character", "NUL", line=1),
    case("6 with é", "id,y\n1,é\n".encode("utf-16-le"), "encoding", "NUL"),
    case("7", b"id,y\n1,0.5\n2,caf\xe9\n3,1\n", "encoding", "Line 3, byte 6", line=3),
    case("8", b"id,y\n1,0.5\n2,1\n3,\xe2\x82", "encoding", "Line 4", line=4),
    case("9", b"id,y\n1,\xed\xa0\x80\n", "encoding", "surrogate", line=2),
    case("10", b"id,y\n1,0.5\n2,\x001\n3,1\n", "control_character", "Line 3, byte 3: NUL", line=3),
    case("11", zipped(("[Content_Types].xml", b"<x/>"), ("xl/workbook.xml", b"<x/>")), "container", "Excel"),
    case("12", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "container", "old Excel"),
    case("13", zipped(("sub.csv", NUMBERS))),
    case("13 two members", zipped(("a.csv", NUMBERS), ("b.csv", NUMBERS)), "container", "2 files"),
    case("13 a path", zipped(("../../a.csv", NUMBERS)), "container", "not allowed"),
    case("14", gzip.compress(NUMBERS)),
    case("14 cut off", gzip.compress(NUMBERS)[:-6], "container", "cut off"),
    case("15", bz2.compress(NUMBERS), "container", "bzip2"),
    case("16", lzma.compress(NUMBERS), "container", "xz"),
    case("17", b"\x28\xb5\x2f\xfd\x04\x00", "container", "Zstandard"),
    case("18 7z", b"7z\xbc\xaf\x27\x1c\x00\x04", "container", "7-Zip"),
    case("18 rar", b"Rar!\x1a\x07\x01\x00", "container", "RAR"),
    case("19", zipped(("sub.csv", b"id,y\n" + b"1,0.5\n" * 2_000_000)), "container", "100 times its size"),
    case("20", NOUGHTS, "container", "100 times its size"),
    case("21", b"PAR1\x15\x04\x15\x10", "container", "Parquet"),
    case("22", b"\x93NUMPY\x01\x00v\x00", "container", "NumPy"),
    case("23", pickle.dumps(Bomb()), "container", "pickle"),
    case("24 pdf", b"%PDF-1.7\n", "container", "PDF"),
    case("24 png", b"\x89PNG\r\n\x1a\n", "container", "PNG"),
    case("25", b"\n <!DOCTYPE html><html><title>Log in</title>", "container", "web page"),
    case("26", b'[{"id": 1, "y": 2}]', "container", "JSON"),
    case("27", b"{\\rtf1\\ansi", "container", "RTF"),
    case("28", b"#!/bin/sh\nrm -rf /\n", "container", "script"),
    case("29", f"id,y\n1,{EICAR}\n2,1\n3,1\n", "not_a_number", "no plain number"),
]

LINES = [
    case("30", NUMBERS.replace(b"\n", b"\r\n")),
    case("31", NUMBERS.replace(b"\n", b"\r")),
    case("32", b"id,y\r\n1,0.5\n2,1.5\r3,-2\r\n"),
    case("33", b"id,y\n1,0.5\n2,1.5\n3,-2"),
    case("34", b"\n\nid,y\n\n1,0.5\n2,1.5\n  \n\t\n3,-2\n\n\n"),
    case("35", NUMBERS + b"\x1a", "control_character", "Line 5: the file ends with Ctrl-Z", line=5),
    case("36", b"id,y\n1," + b"0" * 100_000 + b"\n", "long_line", "Line 2 is longer than 65,536", line=2),
    case("36 quoted", b'id,y\n1,0.5\n2,"' + b"0" * 70_000 + b'"\n3,1\n', "long_line", "Line 3", line=3),
    case("36 header", b"id,y" + b"," * 70_000 + b"\n1,0.5\n", "long_line", "Line 1", line=1),
    case("37", b"id,y\n1," + b"7" * 10_000_000 + b"\n", "long_line", "Line 2 is longer", line=2),
    case("38", b'id,y\n"1,0.5\n2,1.5\n3,-2\n', "quote_open", "opened on or after line 2 is never closed", line=2),
    case("38 later", b'id,y\n1,0.5\n2,"1.5\n3,-2\n', "quote_open", "line 3", line=3),
    case(
        "39 ids",
        b'id,y\n1,0.5\n"2,1.5\n3",-2\n',
        "line_break unknown_ids missing_ids",
        ("lines 3–4", "a quote is missing"),
        host="line_break",
        line=3,
    ),
    case(
        "39 values",
        b'id,y\n1,"0.5\n2,1.5"\n3,-2\n',
        "line_break missing_ids",
        ("lines 2–3", '"2"'),
        host="line_break",
        line=2,
    ),
    case("39 all", b'id,y\n"1,0.5\n2,1.5\n3,-2"\n', "row_width", ("Lines 2–4", "a quote is missing"), line=2),
    case(
        "39 labels",
        b'id,y\n1,"a\n2,b"\n3,c\n',
        "line_break missing_ids",
        "lines 2–3",
        truth=TEXTS,
        metric="accuracy",
        host="line_break",
    ),
    case(
        "39 text",
        b'id,y\n1,"a\n2,b\n3,c"\n',
        "missing_ids",
        ('"2", "3"', "lines 2–4", "Is a quote missing"),
        truth=TEXTS,
        metric="word_jaccard",
        host="",
    ),
    case("40", b'id,y\n"1"x,0.5\n2,1.5\n3,-2\n', "quote", "wrong place", line=2),
    case("40 inside", b'id,y\n1,0.5\n2,1"5"\n3,-2\n', "quote", "line 3", line=3),
    case(
        "41",
        b'id,y\n"1\n1",0.5\n2,1.5\n3,-2\n',
        "line_break unknown_ids missing_ids",
        "lines 2–3",
        host="line_break",
        line=2,
    ),
    case("42", b"id,y\n1,\x1b[31m5\n2,1\n3,1\n", "control_character", "0x1B", line=2),
    case("42 in UTF-8", b"id,y\n1,5\n2,\xc2\x9b1\n3,1\n", "control_character", "0x9B", line=3),
]

COLUMNS = [
    case("43", b"id;y\n1;0.5\n", "separator", 'semicolons: line 1 is "id;y"', line=1),
    case("43 quoted", b'"id";"y"\n"1";"0,5"\n', "separator", "semicolons", line=1),
    case("43 decimal comma", b"id;y\n1;0,5\n2;1,5\n3;-2,0\n", "separator", "(0.5, not 0,5)", line=1),
    case("43 header by hand", b"id,y\n1;0.5\n2;1.5\n3;-2\n", "row_width", "the header by commas", line=2),
    case("44", b"id\ty\n1\t0.5\n", "separator", "tabs", line=1),
    case("45", b"id|y\n1|0.5\n", "separator", "vertical bars", line=1),
    case(
        "46",
        b"id,y\n1,0,5\n2,1.5\n3,-2\n",
        "row_width",
        "Line 2 has 3 values; the header names 2. If the comma",
        line=2,
    ),
    case("46 all rows", b"id,y\n1,0,5\n2,1,5\n3,-2,0\n", "row_width", "write 0.5 instead of 0,5", line=2),
    case("46 quoted", b'id,y\n1,"0,5"\n2,1.5\n3,-2\n', "decimal_comma", "write 0.5", line=2),
    case(
        "47", b"id,y\n1,0.5,\n2,1.5,\n3,-2,\n", "row_width", ("3 rows have another number", "ends with a comma"), line=2
    ),
    case(
        "48",
        b"id,y\n1,0.5,\n2,1.5\n3,-2\n",
        "row_width",
        "Line 2 has 3 values; the header names 2. The row ends",
        line=2,
    ),
    case("49", b"id,y,\n1,0.5,\n2,1.5,\n3,-2,\n", "column_unnamed", "ends with a comma", line=1),
    case("49 in the header alone", b"id,y,\n1,0.5\n2,1.5\n3,-2\n", "column_unnamed", "ends with a comma", line=1),
    case("50", b"id,y\n1,0.5\n2,1.5,9\n3,-2\n", "row_width", "Line 3 has 3 values", line=3),
    case("51", b"id,y\n1,0.5\n2\n3,-2\n", "row_width", "Line 3 has 1 value;", line=3),
    case("52", NUMBERS.replace(b"id", b"ID")),
    case("52 twice", b"id,y,Y\n1,0.5,1\n2,1,1\n3,1,1\n", "column_repeated", '"y" and "Y"', line=1),
    case("52 or so", NUMBERS.replace(b"y", b"Y_"), "column_missing", '"Y_" instead', host="", line=1),
    case("52 in a title", b"My best file\n\n" + NUMBERS),
    case("52 below rows", b"3,-2\n1,0.5\nid,y\n2,1.5\n", "header_missing", line=1),
    case("53", NUMBERS.replace(b"id,y", b" id ,\xc2\xa0y\t")),
    case("54", NUMBERS.replace(b"id,y", b"\xe2\x80\x8bid,y\xe2\x80\x8b")),
    case("54 a second mark", b"\xef\xbb\xbf\xef\xbb\xbf" + NUMBERS),
    case("54 inside", NUMBERS.replace(b"id", b"i\xe2\x80\x8bd")),
    case("55", NUMBERS.removeprefix(b"id,y\n"), "header_missing", "must be: id,y", line=1),
    case("56", NUMBERS.replace(b"y", b"value"), "column_missing column_extra", ('"y" is missing', '"value"'), host=""),
    case("57", b"id,y,y\n1,0.5,1\n", "column_repeated", "2 times", line=1),
    case("58", b"id,y,z\n1,0.5,1\n", "column_extra", '"z"', host="target_columns", line=1),
    case("59", b"y,id\n0.5,1\n1.5,2\n-2,3\n"),
    case("60", b",id,y\n0,1,0.5\n1,2,1.5\n2,3,-2\n", "column_unnamed", "index=False", line=1),
    case("60 pandas", b"Unnamed: 0,id,y\n0,1,0.5\n", "column_extra", "index=False", host="target_columns", line=1),
    case("60 named", b"index,id,y\n0,1,0.5\n1,2,1\n", "column_extra", "index=False", host="target_columns", line=1),
    case("61", b"# my best model\n" + NUMBERS, "comment", ("is a comment", "must be: id,y"), line=1),
    case(
        "62",
        b"id,y," + b",".join(b"c%d" % number for number in range(9998)) + b"\n",
        "too_many_columns",
        "10,000",
        line=1,
    ),
    case(
        "62 fewer",
        b"id,y," + b",".join(b"c%d" % n for n in range(1000)),
        "column_extra",
        "1,000 columns",
        host="no_rows",
    ),
]

IDS = [
    case("63", b"id,y\n1,0.5\n", "missing_ids", '2 ids of 3 missing: "2", "3".', host=""),
    case("64", NUMBERS + b"4,1\n5,1\n", "unknown_ids", '2 ids unknown: "4" (line 5)', host="", line=5),
    case("65", NUMBERS + b"1,1\n", "repeated_ids", '"1" (line 5, first on 2)', line=5),
    case("66", b"id,y\n7,1\n8,2\n", "unknown_ids missing_ids", "Leading zeros differ", truth=PADDED, host=""),
    case("67", b"id,y\n7.0,1\n8.0,2\n", "unknown_ids missing_ids", "not as numbers", truth=PADDED, host=""),
    case("68", b"id,y\n1.0,0.5\n2.00,1.5\n3,-2\n"),
    case("69", b"id,y\n1e0,1\n2,2\n3,1\n", "unknown_ids missing_ids", "not as numbers", host=""),
    case("70", LARGE, truth=LARGE),
    case(
        "70 as a float",
        LARGE.replace(b"93,", b"92,"),
        "unknown_ids missing_ids",
        "Digits of a long number are lost",
        truth=LARGE,
        host="",
    ),
    case("71", WORDS, truth=WORDS, metric="accuracy"),
    case(
        "71 lost",
        WORDS.replace(b"NA", b""),
        "blank_id missing_ids",
        "line 2",
        truth=WORDS,
        metric="accuracy",
        host="blank_id",
    ),
    case(
        "72",
        b"id,y\nTrue,1\nFalse,2\n",
        "unknown_ids missing_ids",
        "as true and false",
        truth=b"id,y\n1,1\n0,2\n",
        host="",
    ),
    case("73", b"id,y\n,1\n2,1\n3,1\n", "blank_id missing_ids", "1 row without an id: line 2", host="blank_id", line=2),
    case("74", b"id,y\n 1 ,0.5\n2\xc2\xa0, 1.5\n3,-2\t\n"),
    case("75", "id,y\n1\u200b,1\n2,1\n3,1\n", "unknown_ids missing_ids", ("Invisible characters", "\\u200b"), host=""),
    case("76", "id,y\n\u202e1,1\n2,1\n3,1\n", "unknown_ids missing_ids", ("Invisible characters", "\\u202e"), host=""),
    case("77", "id,y\n１,1\n2,1\n3,1\n", "unknown_ids missing_ids", "other code points", host=""),
    case("78", "id,y\nx,1\ncafe\u0301,2\n", "unknown_ids missing_ids", "other code points", truth=NAMES, host=""),
    case("79", "id,y\nх,1\ncafé,2\n", "unknown_ids missing_ids", "another alphabet", truth=NAMES, host=""),
    case("80", "id,y\nX,1\ncafé,2\n", "unknown_ids missing_ids", "case differ", truth=NAMES, host=""),
    case("81", b"id,y\n1/2/2020,1\n1/13/2020,1\n", "unknown_ids missing_ids", "Dates are written", truth=DAYS, host=""),
    case("81 dots", b"id,y\n02.01.2020,1\n13.01.2020,1\n", "unknown_ids missing_ids", "Dates are", truth=DAYS, host=""),
    case(
        "82",
        b"id,y\n2020-01-02T00:00:00+00:00,1\n2020-01-03T06:30:00+00:00,2\n",
        "unknown_ids missing_ids",
        ("Dates are written", 'expected "2020-01-02T00:00:00Z"'),
        truth=MOMENTS,
        host="",
    ),
    case("82 exactly", MOMENTS, truth=MOMENTS),
    case("83", b"id,y\n3,-2\n1,0.5\n2,1.5\n"),
    case("84", b"id,y\n" + b"123456,0.5\n" * 300_000, "too_many_rows", "3 are expected", host="repeated_ids"),
    case("84 quoted", b"id,y\n" + b'"123456",0.5\n' * 300_000, "too_many_rows", "300,000 rows", host="repeated_ids"),
    case("85", b"id,y\n11,1\n12,1\n13,1\n14,1\n", "unknown_ids missing_ids", "another data set", host=""),
]


def value(number: str, cell: str, codes: str, says: str | tuple[str, ...], **rest: object) -> Case:
    """Row 2 of ``NUMBERS`` with another value."""
    return case(number, f"id,y\n1,0.5\n2,{cell}\n3,-2\n", codes, says, line=3, **rest)


VALUES = [
    *(
        value(f"86 {cell or 'empty'}", cell, "missing_value", "is missing")
        for cell in ("", "NaN", "NA", "null", "None", "-")
    ),
    value("87 inf", "inf", "not_finite", "not finite"),
    value("87 Infinity", "-Infinity", "not_finite", "not finite"),
    value("88", "1e400", "not_finite", ("not finite", '"1e400"')),
    value("89 %", "50%", "not_a_number", ("write 0.5", '"50%"')),
    value("89 $", "$5", "not_a_number", '"$5"'),
    value("89 1,000", '"1,000"', "decimal_comma", "divides thousands"),
    value("89 1 000", "1 000", "not_a_number", "write 1000"),
    value("89 nbsp", "1\u00a0000", "not_a_number", ("write 1000", "\\xa0")),
    value("89 1.000,5", '"1.000,5"', "not_a_number", "write 1000"),
    value("89 1_000", "1_000", "not_a_number", "write 1000"),
    value("89 0x1F", "0x1F", "not_a_number", "no plain number"),
    value("89 1d5", "1d5", "not_a_number", "no plain number"),
    value("89 1.2.3", "1.2.3", "not_a_number", "no plain number"),
    value("89 .", ".", "not_a_number", "no plain number"),
    value("89 e5", "e5", "not_a_number", "no plain number"),
    value("89 .e5", ".e5", "not_a_number", "no plain number"),
    value("90 minus", "−0.5", "not_a_number", "minus sign"),
    value("90 wide minus", "－1", "not_a_number", "minus sign"),
    value("90 Arabic", "٣", "not_a_number", "0 to 9"),
    value("91", "True", "not_a_number", "write 1 and 0"),
    case("92", WORDS.replace(b"cat", b"Cat"), truth=WORDS, metric="accuracy"),
    case("93", WORDS.replace(b"cat", b"axolotl"), truth=WORDS, metric="accuracy"),
    case("94", WORDS.replace(b"cat", b"", 1), "missing_value", '(id "NA")', truth=WORDS, metric="accuracy", line=2),
    case("95", b"id,y\n1,0.5\n2,1\n", "not_binary", "neither 0 nor 1", truth=DICE, metric="binary_f1", line=2),
    case(
        "96",
        b"id,y\n1,1.5\n2,-0.1\n",
        "not_a_probability",
        "outside 0 to 1",
        truth=DICE,
        metric="log_loss",
        host="not_binary",
    ),
    case("97", b"id,y\n1,3\n2,3\n", truth=DICE, metric="roc_auc", host="not_binary"),
    case("98", b"id,y\n2,1\n1,1e308\n3,1\n", "too_large_values", "too large", line=3),
    case("99", b"id,y\n1,-0.0\n2,5e-324\n3,-2\n"),
    case("99 points", b"id,y\n1,.5\n2,-5.\n3,+.5E+3\n"),
    case("100 ids", b"id,y\n=cmd|' /C calc'!A1,1\n+1,1\n@SUM(1),2\n", "unknown_ids missing_ids", "=cmd", host=""),
    value("100 values", "=cmd|' /C calc'!A1", "not_a_number", "=cmd"),
    case("100 texts", b"id,y\n1,=cmd\n2,+1\n3,@SUM\n", truth=TEXTS, metric="word_jaccard"),
    case(
        "101", b"id,y\n<img src=x onerror=y>,1\n2,1\n3,1\n", "unknown_ids missing_ids", "<img src=x onerror=y>", host=""
    ),
]

SECTIONS = {
    "Container and encoding": CONTAINERS,
    "Lines and quotes": LINES,
    "Columns": COLUMNS,
    "Ids": IDS,
    "Values": VALUES,
}
CASES = [one for section in SECTIONS.values() for one in section]
