"""A class list that a spreadsheet saved in an old encoding has the right names, and is called a guess."""

from __future__ import annotations

import contextlib
import csv
import io
from itertools import product

import pytest

from leaderboard.classroom import roster_files
from metrics.reading.encodings import encoding_title

FRENCH = "Stéphane Agnès,Éloïse Lefèvre,François Béranger,Hélène Dupré,Noémie Côté,Benoît Lacroix"
GERMAN = "Jürgen Müller,Björn Schröder,Ännchen Weiß,Jörg Groß,Anna Köhler,François Weiß"
SPANISH = "José Núñez,María Peña,Íñigo Muñoz,Sofía Gutiérrez,Begoña López,Ángel Pérez"
SWEDISH = "Åsa Sjöberg,Björn Åkesson,Göran Ström,Märta Öhman,Linnéa Nyström,Pär Ågren"
POLISH = "Łukasz Żółć,Agnieszka Wiśniewska,Paweł Wójcik,Małgorzata Król,Stanisław Nowak,Żaneta Świątek"
CZECH = "Jiří Dvořák,Kateřina Nováková,Tomáš Černý,Zdeněk Růžička,Věra Krejčí,Ondřej Šťastný"
HUNGARIAN = "Erdős Pál,Szűcs Ágnes,Fülöp Gergő,Győri Ildikó,Tóth László,Bőhm Tímea"
RUSSIAN = "Иван Петров,Ольга Смирнова,Сергей Кузнецов,Анна Щербакова,Юрий Чехов,Павел Эренбург"
CHINESE = "王伟,李娜,张敏,刘洋,陈静,赵磊"
LISTS = {
    "cp1252": (
        FRENCH,
        GERMAN,
        SPANISH,
        SWEDISH,
        "João Gonçalves,Inês Simões,Márcia Araújo,Sebastião Brandão,Luís Magalhães,Tânia Falcão",
        "Niccolò Cantù,Noè Forlì,Mosè Saccà,Nicolò Donà,Salomè Viganò,Giosuè Rubattù",
        "Søren Kierkegård,Åse Østergaard,Jørgen Bærentsen,Bjørn Ødegård,Kåre Næss,Lærke Mølgaard",
        "Renée Daniëls,Joël Brouwer,Loïs de Groot,Zoë van Dijk,Desirée Citroën,André Kuipers",
    ),
    "cp1250": (
        POLISH,
        CZECH,
        HUNGARIAN,
        "Ľubomír Šťastný,Mária Kováčová,Zuzana Ďurišová,Juraj Hudák,Žofia Mäsiarová,Štefan Baláž",
        "Đorđe Kovačić,Željka Šarić,Tomislav Babić,Marko Čović,Šime Perić,Nikola Đukić",
        "Ştefan Popescu,Ioana Ţuţea,Mihăiţă Stănescu,Cătălin Bălan,Adrian Lupaşcu,Ileana Păun",
    ),
    "cp1251": (
        RUSSIAN,
        "Тарас Шевченко,Олена Їжакевич,Юрій Ґалаґан,Наталія Ковальчук,Євген Коваль,Ірина Кравець",
    ),
    "cp1253": ("Γιώργος Παπαδόπουλος,Μαρία Νικολάου,Ελένη Γεωργίου,Κώστας Δημητρίου,Άννα Ιωάννου,Ήλιος Χατζής",),
    "cp1254": ("Ayşe Yılmaz,Çağrı Öztürk,İbrahim Şahin,Gül Doğan,Uğur Çelik,Şule Aydın",),
    "cp1257": (
        "Žydrūnas Jankauskas,Eglė Kazlauskienė,Jūratė Petrauskaitė,Rūta Ąžuolaitė,Jonas Vaičiūnas,Ugnė Šimkutė",
        "Jānis Bērziņš,Līga Kalniņa,Ģirts Ozoliņš,Pēteris Krūmiņš,Kārlis Zariņš,Dace Ķeniņa",
    ),
    "gb18030": (CHINESE,),
    "big5": ("王小明,林美玲,陳建宏,張雅婷,李淑芬,黃志偉",),
    "cp932": ("山田太郎,佐藤花子,鈴木一郎,高橋美咲,伊藤さくら,加藤ユウキ",),
    "cp949": ("김민수,이영희,박지훈,최수진,정우성,강하늘",),
    "mac_roman": (FRENCH, GERMAN, SPANISH, SWEDISH),
    "mac_latin2": (POLISH, CZECH),
    "iso8859_2": (POLISH, CZECH),
    "koi8_r": (RUSSIAN,),
    "cp850": (FRENCH, GERMAN),
}
CASES = [(encoding, names) for encoding, lists in LISTS.items() for names in lists]


def class_list(names: str, delimiter: str = ";", header: str = "Name;Email") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(
        [header.split(";"), *([name, f"s{place}@uni.example.org"] for place, name in enumerate(names.split(",")))]
    )
    return text.getvalue()


@pytest.mark.parametrize(("encoding", "names"), CASES)
@pytest.mark.parametrize("change", [str, str.upper, str.lower])
def test_names_are_right_and_the_encoding_is_called_a_guess(encoding: str, names: str, change: type[str]) -> None:
    try:
        lists = [class_list(change(names), delimiter).encode(encoding) for delimiter in ";,\t"]
    except UnicodeEncodeError:
        pytest.skip("no such letter in the other case")
    if encoding == "koi8_r" and change is not str:
        pytest.skip("in the other case the letters are plausible in Windows-1251")
    for data in lists:
        reading = roster_files.read_roster(roster_files.decode_roster(data))
        assert [line.values["name"] for line in reading.lines] == change(names).split(",")
        assert len(reading.notes) == 1
        assert reading.notes == [f"Read as {encoding_title(encoding)}; check the names."] or encoding == "iso8859_2"


@pytest.mark.parametrize(
    ("encoding", "title", "name"),
    [
        ("cp1254", "Öğrenci No;Adı Soyadı", "Ayşe Yılmaz"),
        ("cp1250", "Číslo studenta;Příjmení a jméno", "Šárka Novotná"),
        ("cp1251", "Номер студента;ФИО", "Пётр"),
        ("cp1251", "№ студ. билета;ФИО", "Иванов И. И."),
        ("cp1252", "Matrikelnummer;Name\u00a0", "Ida Berg\u00a0"),
        ("iso8859_2", "Osobní číslo;Příjmení a jméno", "Šimon Šťastný"),
    ],
)
def test_titles_tell_the_encoding_of_a_single_name(encoding: str, title: str, name: str) -> None:
    reading = roster_files.read_roster(roster_files.decode_roster(f"{title}\n00123;{name}\n".encode(encoding)))
    assert [line.values["name"] for line in reading.lines] == [name.strip()]


@pytest.mark.parametrize(("encoding", "names"), CASES)
def test_unicode_is_no_guess(encoding: str, names: str) -> None:
    for unicode in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"):
        reading = roster_files.read_roster(roster_files.decode_roster(class_list(names).encode(unicode)))
        assert [line.values["name"] for line in reading.lines] == names.split(",")
        assert reading.notes == []


def is_unicode(data: bytes) -> bool:
    try:
        return bool(data.decode())
    except UnicodeDecodeError:
        return False


@pytest.mark.parametrize(("encoding", "names"), CASES)
def test_one_name_of_each_list_is_read_or_at_least_called_a_guess(encoding: str, names: str) -> None:
    for name in names.split(","):
        data = class_list(name).encode(encoding)
        reading = roster_files.read_roster(roster_files.decode_roster(data))
        assert bool(reading.notes) is not is_unicode(data)
        assert len(reading.lines) + len(reading.skipped) == 1


@pytest.mark.parametrize(
    ("encoding", "letters"),
    [("gb18030", "王小明李伟"), ("cp932", "山田中村木"), ("cp1251", "жандр"), ("cp1252", "üaeoß")],
)
def test_a_long_list_is_no_damaged_unicode(encoding: str, letters: str) -> None:
    """Damaged, thousands of names become few different ones."""
    text = class_list(",".join(map("".join, product(letters, repeat=4))))
    decoded = roster_files.decode_roster(text.encode(encoding))
    assert decoded == roster_files.RosterText(text, encoding_title(encoding))


@pytest.mark.parametrize("names", [FRENCH, GERMAN, SPANISH, SWEDISH, POLISH, CZECH, RUSSIAN, CHINESE])
@pytest.mark.parametrize("mark", ["utf-8", "utf-8-sig"])
def test_unicode_that_was_read_as_windows_1252_and_saved_again_is_mended(names: str, mark: str) -> None:
    data = class_list(names).encode(mark)
    # As Windows reads it: bytes without a sign stay as they are.
    twice = "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in data)
    reading = roster_files.read_roster(roster_files.decode_roster(twice.encode(mark)))
    assert [line.values["name"] for line in reading.lines] == names.split(",")
    assert len(reading.notes) == 1


def test_a_question_mark_in_a_name_is_told() -> None:
    notes = roster_files.read_roster("Name\nIda Berg\nJ?rgen M?ller\nWho?\n").notes
    assert len(notes) == 1
    assert "J?rgen" in notes[0]


def test_a_few_damaged_letters_in_unicode_are_told_with_their_rows() -> None:
    data = class_list(GERMAN).encode().replace("Köhler".encode(), "Köhler".encode("cp1252"))
    reading = roster_files.read_roster(roster_files.decode_roster(data))
    assert [line.values["name"] for line in reading.lines] == [name for name in GERMAN.split(",") if "Kö" not in name]
    assert [(line.number, line.is_bad) for line in reading.skipped] == [(6, True)]


@pytest.mark.parametrize("data", [b"\xff", b"Name\n\x81\x8d\x90\n", bytes(range(256)), b"Name;Email\n\xff\xfe;x\n" * 9])
def test_no_bytes_make_it_stumble(data: bytes) -> None:
    with contextlib.suppress(roster_files.UnreadableRoster):
        roster_files.read_roster(roster_files.decode_roster(data))
