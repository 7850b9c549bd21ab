"""Names that people give: tidied, and compared as an eye compares them.

Unicode has many letters that look alike. A name counts as taken when another one has the same skeleton: compatibility
forms unified, letters of other scripts that look like a Latin one replaced by it, case ignored.
"""

from __future__ import annotations

import unicodedata

from django.utils.text import slugify

# What fonts draw like the letter before the colon.
_ALIKE = (
    "a:аɑα A:АΑ B:ВΒ b:ЬƄ C:СϹ c:сϲ d:ԁ E:ЕΕ e:еҽ g:ɡ H:НΗ h:һհ i:іɩ j:јϳ J:Ј K:КΚ k:кκ l:I1|ІΙӀӏǀ M:МΜ N:Ν n:ոп "
    "O:ОΟՕ o:оοօσ0 P:РΡ p:рρ q:ԛ S:Ѕ s:ѕ T:ТΤ u:սυ v:ѵν w:ԝѡ X:ХΧ x:хχ Y:ΥҮ y:уγү Z:Ζ"
)
_LATIN = {ord(other): group[0] for group in _ALIKE.split() for other in group[2:]}


# Letters that are no others with an accent; `ß` is `ss` in small letters.
_SPELT = str.maketrans({"æ": "ae", "ø": "o", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})


def address_of(title: str) -> str:
    """A title as part of an address; empty where no letter is Latin."""
    return slugify(title.casefold().translate(_SPELT))


def tidy(text: str) -> str:
    """Compatibility forms unified, visible characters only, single spaces."""
    unified = unicodedata.normalize("NFKC", text)
    visible = "".join(c for c in unified if c.isspace() or unicodedata.category(c)[0] != "C")
    return " ".join(visible.split())


def skeleton(name: str) -> str:
    """What an eye keeps of a name; two names with one skeleton look the same."""
    bases = unicodedata.normalize("NFD", tidy(name)).translate(_LATIN)
    return unicodedata.normalize("NFC", bases).casefold()
