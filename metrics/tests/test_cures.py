"""A file whose values are written otherwise is converted in one round, whatever else a spreadsheet did to it."""

from collections.abc import Callable
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
BIG = "id,y\n1,1234.5\n2,12345.25\n3,17\n"
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
    ("rmse", {}, NUMBERS, "id,y\n1,٠٫٥\n2,١٫٥\n3,-٢\n"),
    ("rmse", {}, NUMBERS, 'id,y\n1,"50,0 %"\n2,150％\n3,-200%\n'),
    ("rmse", {}, BIG, 'id,y\n1,"1 234,5"\n2,"12\u202f345,25"\n3,17\n'),
    ("rmse", {}, BIG, "id,y\n1,1'234.5\n2,12’345.25\n3,17\n"),
    ("rmse", {}, BIG, 'id,y\n1,"1,234.5"\n2,"12,345.25"\n3,17\n'),
    ("rmse", {}, BIG, 'id,y\n1,"1.234,5"\n2,"12.345,25"\n3,17\n'),
    ("rmse", {}, PRICES.replace("980", "1234567"), 'id,y\n1,1010\n2,"12,34,567"\n3,90\n'),
    ("rmse", {}, PRICES, 'id,y\n1,"1,010"\n2,980\n3,90\n'),
    ("log_loss", {}, BITS, "id,y\n1,Wahr\n2,Falsch\n3,Wahr\n"),
    ("accuracy", {}, PETS, '"id,y"\n"1,cat"\n"2,dog"\n"3,cat"\n'),
    ("accuracy", {}, PETS, 'id,y\n"1,cat"\n"2,dog"\n"3,cat"\n'),
    ("accuracy", {}, PETS, '"id,""y"""\n"1,""cat"""\n"2,""dog"""\n"3,""cat"""\n'),
    ("rmse", {}, NUMBERS, '"id;y"\n"1;0,5"\n"2;1,5"\n"3;-2"\n'),
    ("rmse", {}, PRICES, "id,y\n1,1.010\n2,980\n3,90\n"),
    ("rmse", {}, PRICES, "id;y\n1;1.010\n2;980\n3;90\n"),
    ("mae", {}, PRICES.replace("980", "1200980"), "id,y\n1,1.010\n2,1.200.980\n3,90\n"),
]


Write = Callable[[str], str]
NAMES = ("cat", "dog", "emu", "fox")
BY_NUMBER = ("0", "1", "2", "10")
DAYS = ("2026-03-15", "2026-03-16", "2026-11-17", "2026-12-31")
WRITINGS: dict[str, tuple[tuple[str, ...], Write]] = {
    "guillemets": (NAMES, lambda text: f"«{text}»"),
    "French guillemets": (NAMES, lambda text: f"«\u00a0{text}\u00a0»"),
    "German guillemets": (NAMES, lambda text: f"»{text}«"),
    "German quotes": (NAMES, lambda text: f"„{text}“"),
    "single quotes": (NAMES, lambda text: f"‚{text}‘"),
    "corner brackets": (NAMES, lambda text: f"「{text}」"),
    "full brackets": (NAMES, lambda text: f"（{text}）"),
    "bold": (NAMES, lambda text: f"**{text}**"),
    "a sentence": (NAMES, lambda text: f"{text}."),
    "an answer": (NAMES, lambda text: f"Answer: {text}"),
    "a class": (NAMES, lambda text: f"class {text}"),
    "a unit": (NAMES, lambda text: f"{text} kg"),
    "a list": (NAMES, lambda text: f"- {text}"),
    "a numbered list": (NAMES, lambda text: f"1. {text}"),
    "a score": (NAMES, lambda text: f"{text}:0.93"),
    "a score in per cent": (NAMES, lambda text: f"{text} (93 %)"),
    "a tuple with a score": (NAMES, lambda text: f"('{text}', 0.9)"),
    "full width": (NAMES, lambda text: "".join(chr(ord(letter) + 0xFEE0) for letter in text)),
    "bold letters of formulas": (NAMES, lambda text: "".join(chr(ord(letter) + 0x1D3B9) for letter in text)),
    "Cyrillic letters": (("A", "B", "C", "E"), lambda text: text.translate(str.maketrans("ABCE", "АВСЕ"))),
    "Greek letters": (("A", "B", "E", "H"), lambda text: text.translate(str.maketrans("ABEH", "ΑΒΕΗ"))),
    "labels of a network": (BY_NUMBER, lambda text: f"LABEL_{text}"),
    "labels of fastText": (BY_NUMBER, lambda text: f"__label__{text}"),
    "stars": (BY_NUMBER, lambda text: f"{text} stars"),
    "Arabic digits": (BY_NUMBER, lambda text: text.translate(str.maketrans("0123", "٠١٢٣"))),
    "numbers alone": (("class_0", "class_1", "class_2", "class_10"), lambda text: text.removeprefix("class_")),
    "another word": (("class_0", "class_1", "class_2", "class_10"), lambda text: text.replace("class", "klasse")),
    "no accents": (("café", "thé"), lambda text: "café" if text == "thé" else "cafe"),
    "JSON": (("café", "thé"), lambda text: text.replace("é", "\\u00e9")),
    "addresses": (("café", "thé"), lambda text: text.replace("é", "%C3%A9")),
    "Mac Roman": (("café", "thé"), lambda text: text.encode().decode("mac_roman")),
    "Windows-1250": (("café", "thé"), lambda text: text.encode().decode("cp1250")),
    "Windows-1251": (("пруд", "река"), lambda text: text.encode().decode("cp1251")),
    "camel case": (("New York", "Los Angeles", "San Jose"), lambda text: text.replace(" ", "")),
    "days of Germans": (DAYS, lambda text: ".".join(text.split("-")[::-1])),
    "days of Americans": (DAYS, lambda text: "{1}/{2}/{0}".format(*text.split("-"))),
    "midnights": (DAYS, lambda text: f"{text}T00:00:00"),
    "Polish": (("False", "True"), lambda text: {"False": "FAŁSZ", "True": "PRAWDA"}[text]),
    "Swedish": (("no", "yes"), lambda text: {"no": "Nej", "yes": "Ja"}[text]),
    "English": (("nein", "ja"), lambda text: {"nein": "False", "ja": "True"}[text]),
    "ticks": (("0", "1"), lambda text: "✗✓"[int(text)]),
}


def converted(truth: metrics.Truth, file: bytes) -> bytes:
    found = convert_spreadsheet(
        file,
        is_truth=False,
        expected=truth.expected_header,
        ids=truth.ids.texts,
        cures=cures_for(truth),
        text_columns=text_columns_for(truth),
        words=truth.constant_prediction,
    )
    assert found is not None
    assert all(found.changes)
    return found.text


@pytest.mark.parametrize("key", ["accuracy", "f1", "multilabel_f1"])
@pytest.mark.parametrize("writing", WRITINGS)
def test_labels_in_any_writing_are_refused_and_converted_or_told(writing: str, key: str) -> None:
    labels, write = WRITINGS[writing]
    if key == "multilabel_f1" and {*labels[0], *write(labels[0])} & {*" \u00a0/"}:
        return
    cells = [labels[place % len(labels)] for place in range(8)]
    truth = metrics.prepare(key, file_of(cells))
    assert truth.evaluate(file_of(cells)).warnings == ()
    other = list(map(write, cells))
    if writing == "no accents":
        assert truth.evaluate(file_of(other)).warnings
        return
    with pytest.raises(metrics.SubmissionError):
        truth.evaluate(file_of(other))
    result = truth.evaluate(converted(truth, file_of(other)))
    assert (result.overall, result.warnings) == (1, ())
    some = truth.evaluate(file_of([*other[:4], *cells[4:]]))
    assert some.warnings


@pytest.mark.parametrize("invisible", "\u200c\u200d\u200f\u034f\u2060\ufe0f\u00ad")
def test_invisible_characters_of_labels_do_not_count(invisible: str) -> None:
    cells = [f"{one[0]}{invisible}{one[1:]}" for one in NAMES]
    assert metrics.evaluate("accuracy", file_of(NAMES), file_of(cells)).overall == 1


def file_of(cells: Any) -> bytes:
    return ("id,y\n" + "".join(f'{place},"{cell}"\n' for place, cell in enumerate(cells))).encode()


@pytest.mark.parametrize("encoding", ["cp1251", "koi8_r", "cp1250", "cp1253", "gb18030", "mac_roman", "cp1252"])
def test_a_file_in_another_encoding_has_the_labels_that_were_meant(encoding: str) -> None:
    words = {"cp1250": "źródło rzeka jeżioro łąka", "cp1253": "λίμνη ποτάμι πηγή", "gb18030": "池塘 河流 湖泊"}
    labels = words.get(encoding, "пруд река озеро" if encoding in ("cp1251", "koi8_r") else "étang rivière été").split()
    cells = [labels[place % len(labels)] for place in range(12)]
    truth = metrics.prepare("accuracy", file_of(cells))
    data = file_of(cells).decode().encode(encoding)
    assert truth.evaluate(converted(truth, data)).overall == 1


@pytest.mark.parametrize(
    "labels", ["no si da ja nl de", "A- A A+ B C#", ">50K <=50K", "St. U.S. Germany", "nan NaN cat", "* ** ***"]
)
def test_labels_that_only_look_like_another_writing_are_left_alone(labels: str) -> None:
    file = file_of(labels.split() * 3)
    result = metrics.evaluate("accuracy", file, file)
    assert (result.overall, [one.code for one in result.warnings if one.count > 3]) == (1, [])


def test_labels_that_begin_below_the_least_one_are_told() -> None:
    truth = metrics.prepare("accuracy", file_of("1231"))
    assert truth.evaluate(file_of("1231")).warnings == truth.evaluate(file_of("2222")).warnings == ()
    for cells in ("0120", "2342"):
        assert "Labels begin at another number" in truth.evaluate(file_of(cells)).warnings[0].message
    assert truth.evaluate(file_of("2422")).warnings == ()


@pytest.mark.parametrize(("key", "params", "truth", "file"), CASES)
def test_a_file_in_another_writing_is_converted_to_a_perfect_one(
    key: str, params: dict[str, Any], truth: str, file: str
) -> None:
    prepared = metrics.prepare(key, truth.encode(), params)
    with pytest.raises(metrics.SubmissionError):
        prepared.check(file.encode())
    result = prepared.evaluate(converted(prepared, file.encode()))
    assert (result.overall, result.warnings) == (prepared.evaluate(prepared.perfect_submission()).overall, ())
