"""Texts as they were meant before a program damaged their letters or spaces."""

import html
import json
import re
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import unquote

_ENTITY = re.compile(r"&(?:#\d+|#x[0-9a-fA-F]+|[a-zA-Z]{2,8});")
# Windows-1252 has other signs than Latin-1 at 27 of these bytes.
_BYTES_OF_1252 = {ord(sign): byte for byte in range(0x80, 0xA0) if (sign := bytes([byte]).decode("cp1252", "ignore"))}
_OTHER_ENCODINGS = {"latin-1": 1, "mac_roman": 1, "cp1250": 1, "cp1251": 2}
"""Encodings as which UTF-8 is read, and the fewest letters that must become one for it not to be by chance."""
_LONE = re.compile(r"(?<![^\x00-\x7f])[^\x00-\x7f](?![^\x00-\x7f])")
_ESCAPES = re.compile(r"(?:\\u[0-9a-fA-F]{4})+")
HIDDEN = "[\u00ad\u034f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe0e\ufe0f\ufeff]"
_TWO_SCRIPTS = re.compile(r"(?=\w*[A-Za-z])(?=\w*[\u0400-\u04ff])\w+")
LATIN_LOOKS = str.maketrans("асеіјорѕухАВСЕНІЈКМОРЅТХΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aceijopsyxABCEHIJKMOPSTXABEZHIKMNOPTYX")
"""Letters of Cyrillic and Greek that look like Latin ones."""
_FORMULA = re.compile(r'="(.*)"', re.DOTALL)
_PLAIN = dict.fromkeys("‘’‚‛‹›´", "'") | dict.fromkeys("“”„‟«»", '"') | dict.fromkeys("\u2010\u2011\u2013", "-")
CURLY = (
    ("'", "‘", "’"),
    ('"', "“", "”"),
    ('"', "«", "»"),
    ('"', "„", "“"),
    (" - ", " \u2013 ", " \u2013 "),
    ("...", "\u2026", "\u2026"),
)
"""Plain signs, and those that word processors write in their place: in front of a word, and elsewhere."""
RUNS = ("  ", " - ", "...", "''")
_TOKENS = re.compile(
    r" *(?:</?(?:s|p|pad|unk|eos|bos|mask|br ?/?)>|\[(?:CLS|SEP|PAD|UNK|MASK)\]|<\|[a-z_]{1,20}\|>) *"
    r"| ##|[ \u0120\u2581]*[\u0120\u2581]"
)
"""What programs put between the words of a text: tokens, tags, and marks of pieces."""
_SPACES = re.compile(" {2,}")


def mend_letters(text: str) -> str:
    """The text without damage to its letters: saved twice, written as HTML, JSON, an address or a formula of a
    spreadsheet, or with Cyrillic letters in a Latin word.

    >>> mend_letters("M\u00c3\u00bcller"), mend_letters("R&amp;D"), mend_letters("Müller")
    ('Müller', 'R&D', 'Müller')
    """
    found = html.unescape(text) if "&" in text and _ENTITY.search(text) else text
    if found[:2] == '="' and (formula := _FORMULA.fullmatch(found)):
        found = formula[1]
    if "\\u" in found:
        found = _ESCAPES.sub(lambda escapes: json.loads(f'"{escapes[0]}"'), found)
    if "%" in found and " " not in found and "\ufffd" not in (plain := unquote(found)):
        found = plain
    if found.isascii() or any("\ud800" <= letter <= "\udfff" for letter in found):
        return found if found.isascii() else text
    return _TWO_SCRIPTS.sub(lambda word: word[0].translate(LATIN_LOOKS), mend_double_utf8(found))


def mend_double_utf8(text: str) -> str:
    """“Müller” for “MÃ¼ller”: the text of UTF-8 that was read in another encoding and saved as UTF-8 again."""
    if _LONE.search(text):  # a letter beyond ASCII has at least two bytes in UTF-8
        return text
    for encoding, least in _OTHER_ENCODINGS.items():
        letters = text.translate(_BYTES_OF_1252) if encoding == "latin-1" else text
        with suppress(UnicodeError):
            found = letters.encode(encoding).decode("utf-8")
            if len(text) - len(found) >= least:
                return mend_double_utf8(found)
    return text


def with_plain_signs(text: str, known: set[str]) -> str:
    """The text with plain letters, spaces, quotes and hyphens for those that only look like them, and without hidden
    characters. Characters in ``known`` stay. Several spaces become one, unless ``known`` has two spaces.

    >>> with_plain_signs("the  \ufb01rst\u00a0of \u201cten\u201d", set("é"))
    'the first of "ten"'
    """
    if "`" in text and "`" not in known:
        text = text.replace("``", '"').replace("`", "'")
    if "''" in text and "''" not in known:
        text = text.replace("''", '"')
    if text.isascii():
        return text if "  " not in text or "  " in known else _SPACES.sub(" ", text)
    odd = {sign for sign in text if not sign.isascii()} - known
    plain = {ord(sign): "" if re.match(HIDDEN, sign) else unicodedata.normalize("NFKC", sign) for sign in odd}
    found = unicodedata.normalize("NFC", text.translate(plain | {ord(sign): _PLAIN[sign] for sign in odd & {*_PLAIN}}))
    return found if "  " in known else _SPACES.sub(" ", found)


def without_tokens(text: str) -> str:
    """The text without what programs put between its words.

    >>> without_tokens("[CLS] a pond [SEP]"), without_tokens("▁a▁pond"), without_tokens("a po ##nd")
    ('a pond', 'a pond', 'a pond')
    """
    if not any(sign in text for sign in "<[#\u0120\u2581"):
        return text
    return _TOKENS.sub(lambda token: "" if token[0] == " ##" else " ", text).strip()


def with_signs(text: str, known: set[str], curly: Iterable[tuple[str, str, str]]) -> str:
    """The text with plain signs in place of those that are not ``known``, and with ``curly`` ones for others.

    >>> with_signs("it's - so", set("–’"), CURLY)
    'it’s – so'
    """
    found = with_plain_signs(text, known)
    for plain, opening, closing in curly:
        if plain in found:
            found = re.sub(rf"(?<!\S){re.escape(plain)}", opening, found).replace(plain, closing)
    return found
