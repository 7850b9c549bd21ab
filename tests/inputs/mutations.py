"""Valid submissions, and everything that happens to files on their way: seeded, so that each can be made again."""

from __future__ import annotations

import codecs
import gzip
import random
from collections.abc import Callable, Sequence

from metrics.tests.hostile_case import zipped

Mutation = Callable[[random.Random, bytes], bytes]

PIECES = (
    b'"', b'""', b",", b",,", b";", b"\t", b"|", b" ", b"  ", b"\n", b"\r", b"\r\n", b"\n\n", b"\\", b"'", b"#", b"=",
    b"\x00", b"\x0b", b"\x1a", b"\x1b[31m", b"\x7f", b"\xef\xbb\xbf", b"\xc2\xa0", b"\xe2\x80\x8b", b"\xe2\x80\xa8",
    b"\xc2\x85", b"\xc2\x9b", b"\xe2\x80\xae", b"\xe3\x80\x80", b"\xff", b"\xe9", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80",
    b"e\xcc\x81", b"\xc3\xa9", b"-", b"+", b".", b"0", b"1", b"e", b"{", b"[", b"<", b"PK", b"id", b"id,y\n",
)  # fmt: skip

VALUES = (
    "", " ", "NaN", "NA", "null", "None", "-", "inf", "-Infinity", "1e400", "1e-400", "-1e-400", "5e-324", "-0.0",
    "+1", "-1", "1.", ".5", "5", "05", "005.50", "1e3", "1E+2", "1e-2", "1e0000000001",
    "0.1000000000000000055511151231",
    "9007199254740993", "123456789012345678901234567890", "1.7976931348623157e308", "0x1F", "1d5", "1.2.3", "1_000",
    "1,000", "0,5", "50%", "$5", "−0.5", "٣", "１", "True", "false", "a", "b", "cat", "Cat", "dog ", "a b", "b  a",
    "a a b", "A|b", "one two", "1", "0", "1.0", "0.50", "1e0", "=cmd|' /C calc'!A1", "@SUM(1)", "<img src=x>", "é",
    "e\u0301", "x\u00a0y", "\u200b", "\u202e1", "'1'", "1 2", "1\u20282", "\u00850.5", "z" * 60,
    "0" * 400 + "1", "1" + "0" * 400, "0." + "3" * 900, "ß", "İ", "𝟏", "²", "½", "¼", "1e", "e1", "--1", "+-1", "1-",
    "0e0", "00", "-00.0", "nan(1)", "infinity", "1e+", "1f", "1L", "0b1", "0o7", "1 e5",
)  # fmt: skip

ENDINGS = (b"\r\n", b"\r", b"\n\n", b"\n \n", b"\n\t\n", b" \n", b"\xc2\xa0\n", b"\n\xe2\x80\xa8\n", b",\n", b"\x85\n")


def submission(dice: random.Random, header: Sequence[str], ids: Sequence[str], cell: Callable[[], str]) -> bytes:
    """A valid file as many programs would write it: rows and columns in any order, quotes where somebody likes them."""
    order = list(range(len(header)))
    names = list(ids)
    if dice.random() < 0.3:
        dice.shuffle(order)
    if dice.random() < 0.3:
        dice.shuffle(names)
    likes_quotes = dice.choice((0.0, 0.0, 0.1, 1.0))
    rows = [header, *([name, *(cell() for _ in header[1:])] for name in names)]
    lines = [",".join(_written(dice, row[place], likes_quotes) for place in order) for row in rows]
    end = dice.choice(("\n", "\n", "\n", "\n", "\r\n", "\r\n", "\r"))
    return (end.join(lines) + dice.choice((end, ""))).encode()


def _written(dice: random.Random, text: str, likes_quotes: float) -> str:
    if any(mark in text for mark in ',"\n') or dice.random() < likes_quotes:
        return '"' + text.replace('"', '""') + '"'
    return text


# --- one mutation each ------------------------------------------------------------------------------------------


def flip(dice: random.Random, data: bytes) -> bytes:
    place = dice.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << dice.randrange(8)]) + data[place + 1 :]


def insert(dice: random.Random, data: bytes) -> bytes:
    place = dice.randrange(len(data) + 1)
    return data[:place] + dice.choice(PIECES) + data[place:]


def put_next_to_a_separator(dice: random.Random, data: bytes) -> bytes:
    places = [place for place, byte in enumerate(data) if byte in b',\n\r"'] or [0]
    place = dice.choice(places) + dice.randrange(2)
    return data[:place] + dice.choice(PIECES) + data[place:]


def delete(dice: random.Random, data: bytes) -> bytes:
    place = dice.randrange(len(data))
    return data[:place] + data[place + dice.choice((1, 1, 1, 2, 5)) :]


def cut_off(dice: random.Random, data: bytes) -> bytes:
    return data[: dice.randrange(len(data) + 1)]


def doubled_piece(dice: random.Random, data: bytes) -> bytes:
    place = dice.randrange(len(data))
    return data[:place] + data[place : place + dice.randrange(1, 12)] + data[place:]


def a_line(dice: random.Random, data: bytes) -> bytes:
    """Deleted, doubled, swapped, joined with the next, emptied, or a remark put before it."""
    lines = data.split(b"\n")
    one, other = dice.randrange(len(lines)), dice.randrange(len(lines))
    match dice.randrange(8):
        case 0:
            del lines[one]
        case 1:
            lines.insert(other, lines[one])
        case 2:
            lines[one], lines[other] = lines[other], lines[one]
        case 3:
            lines[one : one + 2] = [b"".join(lines[one : one + 2])]
        case 4:
            lines.insert(one, dice.choice((b"", b"", b" ", b"\t \t", b"\xc2\xa0", b"# a remark", b",", b'""', b'" "')))
        case 5:
            half = len(lines[one]) // 2
            lines[one : one + 1] = [lines[one][:half], lines[one][half:]]
        case 6:
            lines[1:] = dice.sample(lines[1:], len(lines) - 1)
        case _:
            lines[one] = lines[one] + b","
    return b"\n".join(lines)


def a_cell(dice: random.Random, data: bytes) -> bytes:
    """One cell is something else, quoted or not."""
    lines = data.split(b"\n")
    line = dice.randrange(len(lines))
    cells = lines[line].split(b",")
    place = dice.randrange(len(cells))
    text = dice.choice(VALUES)
    cells[place] = _written(dice, text, 0.3).encode() if dice.random() < 0.8 else text.encode()
    lines[line] = b",".join(cells)
    return b"\n".join(lines)


def another_form(dice: random.Random, data: bytes) -> bytes:
    """A cell is written in another way: padded, quoted, with more digits, another case, a sign."""
    lines = data.split(b"\n")
    line = dice.randrange(len(lines))
    cells = lines[line].split(b",")
    place = dice.randrange(len(cells))
    cell = cells[place].rstrip(b"\r")
    forms = (
        b" " + cell, cell + b"\t", b"\xc2\xa0" + cell, cell + b"\xe3\x80\x80", b'"' + cell + b'"',
        b'" ' + cell + b'\n"',
        b' "' + cell + b'"', b'"' + cell + b'" ', cell + b".0", cell + b"0", b"0" + cell, b"+" + cell, b"-" + cell,
        cell + b"e0", cell.upper(), cell.swapcase(), cell + b".00", cell + b"e", cell + b"\xe2\x80\x8b", cell + b"\x0c",
        cell.replace(b".", b","), b"'" + cell + b"'", b'"""' + cell + b'"""', cell[:-1], b'"' + cell, cell + b'"',
    )  # fmt: skip
    cells[place] = dice.choice(forms)
    lines[line] = b",".join(cells)
    return b"\n".join(lines)


def a_column(dice: random.Random, data: bytes) -> bytes:
    """A column swapped, doubled, dropped, or an index written along."""
    rows = [line.split(b",") for line in data.split(b"\n")]
    what = dice.randrange(4)
    for number, row in enumerate(rows):
        if what == 0:
            row.reverse()
        elif what == 1:
            row.append(row[0])
        elif what == 2:
            del row[-1]
        elif number < len(rows) - 1:
            row.insert(0, b"%d" % (number - 1) if number else b"")
    return b"\n".join(b",".join(row) for row in rows)


def separators(dice: random.Random, data: bytes) -> bytes:
    other = dice.choice((b";", b"\t", b"|", b", ", b" ,", b",,", b"\xef\xbc\x8c"))
    return data.replace(b",", other, dice.choice((1, 2, -1)))


def line_ends(dice: random.Random, data: bytes) -> bytes:
    return data.replace(b"\n", dice.choice(ENDINGS), dice.choice((1, 3, -1)))


def encoding(dice: random.Random, data: bytes) -> bytes:
    text = data.decode("utf-8", "replace")
    match dice.randrange(8):
        case 0:
            return text.encode("utf-16")
        case 1:
            return text.encode("utf-16-le")
        case 2:
            return text.encode("latin-1", "replace")
        case 3:
            return codecs.BOM_UTF8 + codecs.BOM_UTF8 + data
        case 4:
            return text.encode("utf-32")
        case 5:
            return text.encode("cp037", "replace")
        case _:
            return codecs.BOM_UTF8 + data


def container(dice: random.Random, data: bytes) -> bytes:
    if dice.random() < 0.5:
        return gzip.compress(data, mtime=0)
    return zipped(("mine.csv", data))


def another_header(dice: random.Random, data: bytes) -> bytes:
    header, _, rest = data.partition(b"\n")
    names = [
        header.upper(), header.title(), b"\xe2\x80\x8b" + header, header + b",", header.replace(b",", b" , "), b"",
        header + b",z", b"\n\n" + header, b" \n" + header, header + b"\n" + header, b'"' + header + b'"', b"#" + header,
        header.replace(b"y", b"Y"), header.replace(b",", b"\xef\xbb\xbf,\xc2\xa0"), header.replace(b"id", b'"id"'),
        header.replace(b"id", b'"id\n"'), header.replace(b"id", b"\x1bid"), header.replace(b"id", b'i"d'),
    ]  # fmt: skip
    return dice.choice(names) + b"\n" + rest


MUTATIONS: tuple[tuple[Mutation, int], ...] = (
    (flip, 2),
    (insert, 3),
    (put_next_to_a_separator, 4),
    (delete, 2),
    (cut_off, 1),
    (doubled_piece, 1),
    (a_line, 5),
    (a_cell, 6),
    (another_form, 9),
    (a_column, 1),
    (separators, 1),
    (line_ends, 3),
    (encoding, 2),
    (container, 1),
    (another_header, 2),
)
_KINDS, _WEIGHTS = zip(*MUTATIONS, strict=True)


def mutated(dice: random.Random, data: bytes) -> bytes:
    """The file after nothing, or up to five mutations one after the other."""
    for mutation in dice.choices(_KINDS, _WEIGHTS, k=dice.choice((0, 1, 1, 1, 1, 2, 2, 3, 5))):
        if data:
            data = mutation(dice, data)
    return data
