"""One input of the list, and the files that most of them are submissions for."""

import io
import zipfile
from dataclasses import dataclass

NUMBERS = b"id,y\n1,0.5\n2,1.5\n3,-2\n"
"""The truth of most cases; RMSE."""

WORDS = b"id,y\nNA,cat\nnull,dog\n007,cat\n7,dog\n"
"""Ids that readers change on the way; accuracy."""

DICE = b"id,y\n1,0\n2,1\n"
NAMES = "id,y\nx,1\ncaf\u00e9,2\n".encode()
LARGE = b"id,y\n9007199254740993,1\n5,2\n"
PADDED = b"id,y\n007,1\n008,2\n"
DAYS = b"id,y\n2020-01-02,1\n2020-01-13,2\n"
MOMENTS = b"id,y\n2020-01-02T00:00:00Z,1\n2020-01-03T06:30:00Z,2\n"
TEXTS = b"id,y\n1,a\n2,b\n3,c\n"

SAME = frozenset({"as the submission"})
NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Case:
    """One input. ``codes`` are those of all its problems as a submission for ``truth``; none where it is accepted.
    ``host`` are those of what blocks it as a truth file. ``says`` must be among the words for the student."""

    number: str
    data: bytes
    codes: frozenset[str] = NOTHING
    says: tuple[str, ...] = ()
    truth: bytes = NUMBERS
    metric: str = "rmse"
    host: frozenset[str] = SAME
    line: int | None = None

    @property
    def blocking(self) -> frozenset[str]:
        """The codes of the blocking findings where a host offers these bytes as the truth."""
        return self.codes if self.host == SAME else self.host


def case(number: str, data: bytes | str, codes: str = "", says: str | tuple[str, ...] = (), **rest: object) -> Case:
    host = rest.pop("host", None)
    return Case(
        number,
        data if isinstance(data, bytes) else data.encode(),
        frozenset(codes.split()),
        (says,) if isinstance(says, str) else says,
        host=SAME if host is None else frozenset(str(host).split()),
        **rest,  # type: ignore[arg-type]
    )


def zipped(*members: tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


class Bomb:
    """Unpickling this would be seen."""

    exploded = False

    def __reduce__(self) -> tuple[object, ...]:
        return setattr, (Bomb, "exploded", True)
