"""Reasons for a mark: stored as a code with its facts, shown in the reader's language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

Fact = str | int
Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Reason:
    """One reason. Numbers among its facts are written already, as the mark was made of them."""

    code: str
    facts: Mapping[str, Fact] = field(default_factory=dict)

    def __str__(self) -> str:
        return _WORDS[self.code](self.facts)

    def as_json(self) -> dict[str, Fact]:
        return {"code": self.code, **self.facts}

    @classmethod
    def from_json(cls, stored: str | Facts) -> Reason:
        """Read what `as_json` gave. A plain sentence of an earlier version is shown as it is."""
        if isinstance(stored, str):
            return reason_text("sentence", sentence=stored)
        return cls(stored["code"], {name: fact for name, fact in stored.items() if name != "code"})


def reason_text(code: str, /, **facts: Fact) -> Reason:
    return Reason(code, facts)


def _scored(facts: Facts) -> dict[str, Any]:
    """The facts, with the score said together with its board."""
    boards = {"public": _("public score"), "private": _("private score")}
    return {**facts, "score": f"{boards.get(facts['board'], '')} {facts['score']}".strip()}


def _disqualified(facts: Facts) -> str:
    return _("Disqualified, so 0: %(reason)s") % {"reason": facts["reason"] or _("no reason was written")}


def _late(facts: Facts) -> str:
    days = ngettext("%(days)s day late", "%(days)s days late", facts["days"]) % facts
    return _("%(days)s, %(less)s %% less: %(points)s") % {**facts, "days": days}


def _valid_files(facts: Facts) -> str:
    return ngettext("%(number)s valid file", "%(number)s valid files", facts["files"]) % {"number": facts["files"]}


def _took_part(facts: Facts) -> str:
    return _("%(files)s, %(more)s more: %(points)s") % {**facts, "files": _valid_files(facts)}


def _took_no_part(facts: Facts) -> str:
    words = _("%(files)s in time; the points for taking part need %(needed)s")
    return words % {"files": _valid_files(facts), "needed": facts["needed"]}


def _reaches(facts: Facts) -> str:
    words = _("%(score)s reaches %(anchor)s") % _scored(facts)
    # Grades that were released earlier have the points within the words for the step.
    return f"{words}: {facts['points']}" if "points" in facts else words


def _share(facts: Facts) -> str:
    return _("%(score)s, %(above)s of %(total)s teams are better") % _scored(facts)


_WORDS: dict[str, Callable[[Facts], str]] = {
    "sentence": lambda facts: str(facts["sentence"]),
    "disqualified": _disqualified,
    "no_file": lambda facts: _("No scored file, so no grade"),
    "no_file_is_zero": lambda facts: _("No scored file: 0"),
    "never_joined": lambda facts: _("Never joined, so no grade"),
    "never_joined_is_zero": lambda facts: _("Never joined: 0"),
    "below": lambda facts: _("%(score)s is below %(anchor)s: 0") % _scored(facts),
    "reaches": _reaches,
    "between": lambda facts: _("%(score)s lies between %(low)s and %(high)s: %(points)s") % _scored(facts),
    "share": lambda facts: f"{_share(facts)}: " + _("the top %(percent)s %% get %(points)s") % facts,
    "share_is_zero": lambda facts: f"{_share(facts)}: 0",
    "late": _late,
    "late_is_no_more": lambda facts: (
        _("a late file with %(score)s and %(less)s %% less gives %(points)s and no more") % _scored(facts)
    ),
    "took_part": lambda facts: _took_part(facts),
    "took_no_part": _took_no_part,
    "at_most": lambda facts: _("at most %(points)s") % facts,
    "at_least": lambda facts: _("at least %(points)s for a scored file") % facts,
    "rounded": lambda facts: _("rounded to %(points)s") % facts,
}
