"""A file whose values are written otherwise is converted in one round, whatever else a spreadsheet did to it."""

from typing import Any

import pytest

import metrics
from metrics.reading.cures import cures_for, text_columns_for
from metrics.reading.spreadsheet import convert_spreadsheet

LABELS = "id,y\n1,01\n2,02\n3,10\n"
PETS = "id,y\n1,cat\n2,dog\n3,cat\n"
YES = "id,y\n1,True\n2,False\n3,True\n"
BITS = "id,y\n1,1\n2,0\n3,1\n"
LISTS = "id,y\n1,1 5\n2,3\n3,5 1\n"
BARS = "id,y\n1,red|blue\n2,blue\n3,blue|red\n"
PHRASES = "id,y\n1,a survey|census\n2,census\n3,a survey\n"
PARTS = "id,a,b\n1,cat,0.5\n2,dog,1.5\n"
PRICES = "id,y\n1,1010\n2,980\n3,90\n"
NUMBERS = "id,y\n1,0.5\n2,1.5\n3,-2\n"

CASES: list[tuple[str, dict[str, Any], str, str]] = [
    ("accuracy", {}, LABELS.replace("10", "03"), "id,y\n1,1\n2,2\n3,3\n"),
    ("f1", {"average": "macro"}, LABELS, "id;y\n1;1\n2;2.0\n3;10\n"),
    ("accuracy", {}, PETS, "id,y\n1,Cat\n2,Dog\n3,Cat\n"),
    ("accuracy", {}, PETS, "id,y\n1,'cat'\n2,'dog'\n3,'cat'\n"),
    ("accuracy", {}, PETS, 'id,y\n1,"[""cat""]"\n2,"[""dog""]"\n3,"[""CAT""]"\n'),
    ("accuracy", {}, YES, "id,y\n1,1\n2,0\n3,1\n"),
    ("accuracy", {}, YES, "id;y\n1;WAHR\n2;FALSCH\n3;WAHR\n".replace("WAHR", "TRUE").replace("FALSCH", "FALSE")),
    ("accuracy", {}, BITS, "id,y\n1,yes\n2,no\n3,yes\n"),
    ("binary_f1", {}, BITS, "id,y\n1,True\n2,False\n3,True\n"),
    ("map_at_k", {"k": 3}, LISTS, 'id,y\n1,"[1, 5]"\n2,[3]\n3,"[5, 1]"\n'),
    ("map_at_k", {"k": 3}, LISTS, "id;y\n1;1,5\n2;3,\n3;5,1\n"),
    (
        "map_at_k",
        {"k": 3},
        LISTS,
        "\ufeffID;Y\r\n1;[5.0 1.0]\r\n".replace("[5.0 1.0]", "[1. 5.]") + "2;[3.]\r\n3;[5. 1.]\r\n",
    ),
    ("multilabel_f1", {}, LISTS, 'id,y\n1,"{1,5}"\n2,{3}\n3,"{1,5}"\n'),
    ("multilabel_f1", {"separator": "|"}, BARS, "id,y\n1,\"['red', 'blue']\"\n2,['blue']\n3,\"['Blue', 'red']\"\n"),
    ("jaccard", {"separator": "|"}, BARS, "id,y\n1,red;blue\n2,blue;\n3,blue;red\n"),
    ("coleridge_fbeta", {}, PHRASES, "id,y\n1,\"['a survey', 'census']\"\n2,['census']\n3,['a survey']\n"),
    ("global_average_precision", {}, PETS, "id,y\n1,\"('cat', 0.9)\"\n2,\"('dog', 0.8)\"\n3,\"('cat', 0.7)\"\n"),
    ("global_average_precision", {}, PETS, "id,y\n1,cat:0.9\n2,dog:0.8\n3,cat:0.7\n"),
    ("composite_score", {"parts": "1 accuracy a\n-1 rmse b"}, PARTS, "id;a;b\n1;Cat;0,5\n2;Dog;1,5\n"),
    ("rmse", {}, NUMBERS, "id;y\n1;0,5\n2;1,5\n3;\u22122\n"),
    ("rmse", {}, NUMBERS, "id,y\n1,50%\n2,150%\n3,-200%\n"),
    ("rmse", {}, NUMBERS, "id,y\n1,[0.5]\n2,[1.5]\n3,[-2.]\n"),
    ("accuracy", {}, PETS, '"id,y"\n"1,cat"\n"2,dog"\n"3,cat"\n'),
    ("accuracy", {}, PETS, 'id,y\n"1,cat"\n"2,dog"\n"3,cat"\n'),
    ("accuracy", {}, PETS, '"id,""y"""\n"1,""cat"""\n"2,""dog"""\n"3,""cat"""\n'),
    ("rmse", {}, NUMBERS, '"id;y"\n"1;0,5"\n"2;1,5"\n"3;-2"\n'),
    ("rmse", {}, PRICES, "id,y\n1,1.010\n2,980\n3,90\n"),
    ("rmse", {}, PRICES, "id;y\n1;1.010\n2;980\n3;90\n"),
    ("mae", {}, PRICES.replace("980", "1200980"), "id,y\n1,1.010\n2,1.200.980\n3,90\n"),
]


@pytest.mark.parametrize(("key", "params", "truth", "file"), CASES)
def test_a_file_in_another_writing_is_converted_to_a_perfect_one(
    key: str, params: dict[str, Any], truth: str, file: str
) -> None:
    prepared = metrics.prepare(key, truth.encode(), params)
    with pytest.raises(metrics.SubmissionError):
        prepared.check(file.encode())
    found = convert_spreadsheet(
        file.encode(),
        is_truth=False,
        expected=prepared.expected_header,
        ids=prepared.ids.texts,
        cures=cures_for(prepared),
        text_columns=text_columns_for(prepared),
    )
    assert found is not None
    assert all(found.changes)
    result = prepared.evaluate(found.text)
    assert (result.overall, result.warnings) == (prepared.evaluate(prepared.perfect_submission()).overall, ())
