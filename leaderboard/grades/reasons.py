"""The reasons of a mark: a code with facts, turned into whole sentences in the reader's language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Reason:
    """One reason of a mark: a code, and the facts for its sentence. Scores and points are formatted already."""

    code: str
    facts: Facts = field(default_factory=dict)

    def __str__(self) -> str:
        if self.code in _SENTENCES:
            return _SENTENCES[self.code](self.facts)
        return _("%(subject)s: %(points)s.") % {"subject": self.subject, "points": _count_points(self.facts["points"])}

    @property
    def subject(self) -> str:
        """The reason without the points: “Place 14 of 61 teams”."""
        subject = _SUBJECTS[self.code](self.facts)
        return f"{self.facts['name']}: {subject}" if self.facts.get("is_named") else subject

    @classmethod
    def of(cls, code: str, /, **facts: Any) -> Reason:
        return cls(code, facts)

    def as_json(self) -> dict[str, Any]:
        return {"code": self.code, **self.facts}

    @classmethod
    def from_json(cls, stored: Facts) -> Reason:
        """The reason stored by `as_json`."""
        return cls(stored["code"], {name: fact for name, fact in stored.items() if name != "code"})


def _count_points(text: str) -> str:
    return ngettext("%(points)s point", "%(points)s points", 1 if text == "1" else 2) % {"points": text}


def _name_day(facts: Facts) -> str:
    return date_format(date.fromisoformat(facts["day"]), "j F")


def _name_score(facts: Facts) -> str:
    """The score with its board: “Private score 0.8312”."""
    boards = {"public": _("Public score %(score)s"), "private": _("Private score %(score)s")}
    text = boards.get(facts["board"], "%(score)s") % facts
    return _("%(score)s of %(day)s") % {"score": text, "day": _name_day(facts)} if facts.get("day") else text


def anchor_words(anchor: list[str]) -> str:
    """An anchor as text: ““high” 0.80”, “the best of the class 0.871”."""
    kind, name, by, score = anchor
    figures = {
        "best": _("the best of the class"),
        "median": _("the median of the class"),
        "mean": _("the mean of the class"),
    }
    words = figures.get(name, name) if kind == "class" else _("“%(name)s”") % {"name": name} if name else ""
    return " ".join(filter(None, (words, by, score)))


def _say_between(facts: Facts) -> str:
    ends = {end: f"{anchor_words(facts[end])} ({_count_points(facts[f'{end}_points'])})" for end in ("low", "high")}
    return _("%(score)s lies between %(low)s and %(high)s") % {"score": _name_score(facts), **ends}


def _with_anchor(facts: Facts, pattern: str) -> str:
    return pattern % {"score": _name_score(facts), "anchor": anchor_words(facts["anchor"])}


def _add_board(facts: Facts, text: str) -> str:
    if facts["board"] == "public":
        return _("%(fact)s on the public board") % {"fact": text}
    return text


def _name_place(facts: Facts) -> str:
    if "competitions" in facts:
        return _("Average place %(place)s in %(competitions)s competitions") % facts
    return _add_board(facts, _("Place %(place)s of %(total)s teams") % facts)


def _count_files(facts: Facts) -> str:
    if facts.get("day"):
        if not facts["files"]:
            return _("No submission by %(day)s") % {"day": _name_day(facts)}
        text = ngettext("%(files)s submission by %(day)s", "%(files)s submissions by %(day)s", facts["files"])
        return text % {"files": facts["files"], "day": _name_day(facts)}
    if not facts["files"]:
        return _("No submission scored in time")
    text = ngettext("%(files)s submission scored in time", "%(files)s submissions scored in time", facts["files"])
    return text % facts


def _name_top(facts: Facts) -> str:
    if float(facts["number"]) == 100:
        return _("In the ranking")
    return _("Among the best %(number)s %% of the teams") % facts


_SUBJECTS: dict[str, Callable[[Facts], str]] = {
    "between": _say_between,
    "reaches": lambda facts: _with_anchor(facts, _("%(score)s reaches %(anchor)s")),
    "below": lambda facts: _with_anchor(facts, _("%(score)s doesn't reach %(anchor)s")),
    "top": _name_top,
    "first": lambda facts: _("Among the first %(number)s of the teams") % facts,
    "place": _name_place,
    "baselines": lambda facts: _add_board(facts, _("%(reached)s of %(total)s baselines reached") % facts),
    "files": _count_files,
    "members": lambda facts: _("Team of %(members)s") % facts,
    "attached": lambda facts: _("Work attached") if facts["attached"] else _("No work attached"),
    "by_hand": lambda facts: _("%(name)s, given by hand") % facts,
    "no_hand": lambda facts: _("%(name)s: no points by hand yet") % facts,
    "missing": lambda facts: _("%(name)s: no score in time") % facts,
}


def _say_factor(facts: Facts) -> str:
    subject = Reason.from_json(facts["what"]).subject
    return _("%(subject)s: %(percent)s %% of these points, %(points)s.") % {**facts, "subject": subject}


def periods_words(number: int, hours: str) -> str:
    """Late periods as text: “3 days”."""
    units = {
        "24": ngettext("%(number)s day", "%(number)s days", number),
        "1": ngettext("%(number)s hour", "%(number)s hours", number),
        "1/60": ngettext("%(number)s minute", "%(number)s minutes", number),
        "168": ngettext("%(number)s week", "%(number)s weeks", number),
    }
    other = ngettext("%(number)s period of %(hours)s hours", "%(number)s periods of %(hours)s hours", number)
    return units.get(hours, other) % {"number": number, "hours": hours}


def _say_late(facts: Facts) -> str:
    late = {**facts, "late": periods_words(facts["periods"], facts["hours"])}
    if facts["unit"] == "percent":
        return _("%(late)s late: %(off)s %% off, %(points)s.") % late
    return _("%(late)s late: %(off)s points off, %(points)s.") % late


def _say_slack(facts: Facts) -> str:
    late = periods_words(facts["periods"], facts["hours"])
    return _("%(late)s late, %(used)s of your late days used (%(left)s left).") % {**facts, "late": late}


_SENTENCES: dict[str, Callable[[Facts], str]] = {
    "disqualified": lambda facts: (
        _("Disqualified: 0 (%(reason)s).") % {"reason": facts["reason"] or _("no reason given")}
    ),
    "has_time": lambda facts: _("Still has time, so no grade yet."),
    "no_file": lambda facts: _("No scored submission, so no grade."),
    "no_file_is_zero": lambda facts: _("No scored submission: 0."),
    "no_file_but_hand": lambda facts: _("No scored submission, so only points by hand count."),
    "never_joined": lambda facts: _("Hasn't joined, so no grade."),
    "never_joined_is_zero": lambda facts: _("Hasn't joined: 0."),
    "never_joined_but_hand": lambda facts: _("Hasn't joined, so only points by hand count."),
    "too_late": lambda facts: _("Submitted too late to count."),
    "factor": _say_factor,
    "late": _say_late,
    "slack": _say_slack,
    "later_is_less": lambda facts: _("A later submission with a better score would give only %(points)s.") % facts,
    "together": lambda facts: _("Together %(points)s.") % facts,
    "at_most": lambda facts: _("At most %(points)s.") % facts,
    "at_least": lambda facts: _("At least %(points)s.") % facts,
    "rounded": lambda facts: _("Rounded to %(points)s.") % facts,
    "override": lambda facts: _("Set to %(points)s by %(by)s: %(reason)s") % facts,
    "part": lambda facts: _("%(title)s: %(points)s of %(most)s, %(weighted)s of %(weight)s here.") % facts,
    "part_missing": lambda facts: _("%(title)s: no grade, 0 of %(weight)s here.") % facts,
    "no_parts": lambda facts: _("No released grade in any competition, so no grade."),
    "dropped": lambda facts: _("%(title)s is dropped as the lowest.") % facts,
}
