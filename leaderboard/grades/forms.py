"""Forms for grade rules: one for each term and factor, one for the rest.

What is typed goes to `from_values` of the rules, which names every fault at its row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext_lazy as _

from leaderboard.competitions.models import Competition

from .queries import CourseCompetition
from .reading import RuleFault, decimal_text, parse_number
from .rules import MAX_ROWS, MAX_TERMS, QUANTITIES

SPARE_ROWS = 2
MODES = (("line", _("rising to")), ("steps", _("step at")))
QUANTITY_NAMES = {
    "score": _("Score"),
    "place": _("Place in the ranking"),
    "baselines": _("Number of baselines reached"),
    "files": _("Number of scored submissions"),
    "members": _("Size of the team"),
    "attached": _("Work attached (1) or not (0)"),
    "by_hand": _("Points by hand"),
}
ANCHORS = (
    ("number", _("the value")),
    ("class:best", _("best of the class")),
    ("class:median", _("median of the class")),
    ("class:mean", _("mean of the class")),
    ("place", _("among the first …")),
    ("top", _("among the best … %")),
    ("last", _("the last")),
)


def _number_field(label: Any, **more: Any) -> forms.CharField:
    field = forms.CharField(label=label, required=False, max_length=60, **more)
    field.widget.attrs |= {"inputmode": "decimal", "autocomplete": "off"}
    return field


class AnchorForm(forms.Form):
    """One row of a term: a place on the scale and its points. A row without points is ignored."""

    mode = forms.ChoiceField(label=_("Line or step"), choices=MODES, required=False)
    at = forms.ChoiceField(label=_("at"), required=False)
    number = _number_field(_("Value, or better by"))
    points = _number_field(_("Points"))
    beat = forms.BooleanField(label=_("must be better"), required=False)

    def __init__(self, *args: Any, baselines: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The first is what a browser sends of a row that nothing was chosen in; it suits every quantity.
        choices = [ANCHORS[0], *((f"baseline:{name}", f"“{name}”") for name in baselines), *ANCHORS[1:]]
        self.fields["at"].choices = choices  # type: ignore[attr-defined]

    @classmethod
    def initial_of(cls, mode: str, row: Any) -> dict[str, Any]:
        """The initial values for a stored [place, points]."""
        place, points = row
        found: dict[str, Any] = {"mode": mode, "points": points}
        if not isinstance(place, Mapping):
            return found | ({"at": "last"} if place == "last" else {"at": "number", "number": place})
        kind = next(iter(place))
        found |= {"number": place.get("better_by", ""), "beat": place.get("beat", False)}
        if kind in ("baseline", "class"):
            return found | {"at": f"{kind}:{place[kind]}"}
        return found | {"at": "number" if kind == "score" else kind, "number": place[kind]}

    @property
    def row(self) -> list[Any]:
        """The row for `GradeRules.from_values`."""
        data, (kind, _colon, name) = self.cleaned_data, self.cleaned_data["at"].partition(":")
        beat = {"beat": True} if data["beat"] else {}
        if kind == "last":
            return ["last", data["points"]]
        if kind in ("baseline", "class"):
            return [{kind: name, "better_by": data["number"] or None, **beat}, data["points"]]
        return [{"score" if kind == "number" else kind: data["number"], **beat}, data["points"]]


class TermForm(forms.Form):
    """One term or factor, with its rows."""

    name = forms.CharField(label=_("Name"), max_length=120, required=False)
    of = forms.ChoiceField(label=_("Points for"), choices=[(name, QUANTITY_NAMES[name]) for name in QUANTITIES])
    board = forms.ChoiceField(label=_("Board"), choices=(("private", _("private")), ("public", _("public"))))
    sources = forms.MultipleChoiceField(label=_("From these competitions"), required=False)
    until = _number_field(_("Submissions until"), help_text=_("Hours after the deadline; −240 is ten days before it."))
    below = _number_field(_("Otherwise"))
    late = forms.BooleanField(label=_("Counts in full even if late"), required=False)
    remove = forms.BooleanField(label=_("Remove"), required=False)

    def __init__(
        self,
        data: Any,
        *,
        prefix: str,
        values: Mapping[str, Any],
        baselines: Sequence[str],
        others: Sequence[Any],
        add: str,
    ) -> None:
        initial = {**values, "sources": values.get("from", ()), "late": values.get("late") is False}
        super().__init__(data, prefix=prefix, initial=initial)
        self.is_factor, self.is_bonus = prefix.startswith("factors"), prefix.startswith("plus")
        self.fields["sources"].choices = others  # type: ignore[attr-defined]
        if len(others) < 2 and not self.is_bonus:
            del self.fields["sources"]
        if self.is_factor:
            del self.fields["late"]
        stored = [(mode, row) for mode in ("line", "steps") for row in values.get(mode, ())]
        number = len(stored) + SPARE_ROWS
        if data is not None:
            filled = [place for place in range(2 * MAX_ROWS) if data.get(f"{prefix}-{place}-points", "").strip()]
            shown = sum(f"{prefix}-{place}-points" in data for place in range(2 * MAX_ROWS))
            number = max(max(filled, default=-1) + 1 + SPARE_ROWS, shown + (add == f"row:{prefix}"))
        self.rows = [
            AnchorForm(
                data,
                prefix=f"{prefix}-{place}",
                initial=AnchorForm.initial_of(*stored[place]) if place < len(stored) else self._usual(values),
                baselines=baselines,
            )
            for place in range(min(2 * MAX_ROWS, number))
        ]

    def _usual(self, values: Mapping[str, Any]) -> dict[str, Any]:
        is_line = values.get("line") or not values.get("steps")
        return {"mode": "line" if is_line else "steps", "at": "number"}

    def is_valid(self) -> bool:
        return all([super().is_valid(), *(row.is_valid() for row in self.rows)])

    @property
    def is_left_out(self) -> bool:
        """Whether the term was removed, or added and not filled in."""
        is_empty = not self.cleaned_data["name"] and not any(row.cleaned_data["points"] for row in self.rows)
        return bool(self.cleaned_data["remove"] or is_empty)

    def values(self, where: str, places: dict[str, forms.Form]) -> dict[str, Any]:
        """The term for `GradeRules.from_values`; `places` learns which form is where."""
        data = self.cleaned_data
        values: dict[str, Any] = {
            "name": data["name"] or None,
            "of": data["of"],
            "board": data["board"],
            "from": data.get("sources") or None,
            "until": data["until"] or None,
            "below": data["below"] or None,
            "late": not data.get("late"),
            "line": [],
            "steps": [],
        }
        places[where] = self
        for row in self.rows:
            if row.cleaned_data["points"]:
                mode = row.cleaned_data["mode"] or "line"
                places[f"{where}.{mode}.{len(values[mode])}"] = row
                values[mode].append(row.row)
        return values


class RulesForm(forms.Form):
    """Grade rules: their limits, and cards of terms in the lists named by `CARDS`."""

    CARDS: ClassVar[Sequence[str]]
    # New cards begin with these values.
    NEW_CARD: ClassVar[Mapping[str, Any]] = {}

    title = forms.CharField(
        label=_("Assignment name"),
        max_length=120,
        required=False,
        help_text=_("The column name in files for Canvas, Moodle and Brightspace."),
    )
    out_of = _number_field(_("Full mark"))
    cap = _number_field(_("At most"), help_text=_("Above the full mark for a bonus. Empty: the full mark."))

    def __init__(
        self,
        data: Any,
        rules: Mapping[str, Any],
        *,
        competitions: Sequence[Competition | CourseCompetition],
        baselines: Iterable[str] = (),
        add: str = "",
    ) -> None:
        """`competitions` are those of the course; `add` is the list that gets one more card, or `row:` with the prefix
        of a card that gets one more row."""
        super().__init__(data, initial=self.initial_of(rules))
        # A deleted baseline stays among the choices: otherwise saving would drop it unnoticed.
        known = list(dict.fromkeys([*baselines, *_baselines_in(rules)]))
        counts = {kind: self._count_cards(data, kind, rules) for kind in self.CARDS}
        self.cards = {
            kind: [
                TermForm(
                    data if number < counts[kind] else None,
                    prefix=f"{kind}-{number}",
                    values=dict(enumerate(rules.get(kind, ()))).get(number, self.NEW_CARD),
                    baselines=known,
                    others=[(competition.slug, competition.title) for competition in competitions],
                    add=add,
                )
                for number in range(min(MAX_TERMS, counts[kind] + (add == kind)))
            ]
            for kind in self.CARDS
        }
        self.places: dict[str, forms.Form] = {}

    def initial_of(self, rules: Mapping[str, Any]) -> dict[str, Any]:
        """The initial values for rules as JSON."""
        raise NotImplementedError

    @staticmethod
    def _count_cards(data: Any, kind: str, rules: Mapping[str, Any]) -> int:
        if data is None:
            return len(rules.get(kind, ())) or int(kind == "terms")
        return sum(f"{kind}-{number}-of" in data for number in range(MAX_TERMS))

    def is_valid(self) -> bool:
        cards = (card for cards in self.cards.values() for card in cards)
        return all([super().is_valid(), *(card.is_valid() for card in cards)])

    @property
    def rule_values(self) -> dict[str, Any]:
        """The values for `from_values`."""
        values = dict(self.cleaned_data)
        for kind, cards in self.cards.items():
            cards_in_use = [card for card in cards if not card.is_left_out]
            values[kind] = [card.values(f"{kind}.{number}", self.places) for number, card in enumerate(cards_in_use)]
        return {name: None if value == "" else value for name, value in values.items()}

    def add_faults(self, faults: Iterable[RuleFault]) -> None:
        """Show each fault in its card or row, and above all cards."""
        for fault in faults:
            place = self.places.get(fault.where) or self.places.get(".".join(fault.where.split(".")[:2]))
            if place is not None:
                place.add_error("points" if isinstance(place, AnchorForm) else "name", fault.text)
            self.add_error("off" if fault.where.startswith("late") else None, str(fault))


def _baselines_in(rules: Mapping[str, Any]) -> set[str]:
    """Baselines that rules name; those of a picture may still lack scores."""
    terms = [term for kind in GradeRulesForm.CARDS for term in rules.get(kind, ())]
    places = [place for term in terms for place, _points in (*term.get("line", ()), *term.get("steps", ()))]
    return {place["baseline"] for place in places if isinstance(place, Mapping) and "baseline" in place}


class GradeRulesForm(RulesForm):
    """All grade rules of a competition."""

    CARDS = ("terms", "factors")
    LATE = ("every_hours", "off", "unit", "then", "grace_minutes")

    least = _number_field(_("At least"))
    decimals = forms.IntegerField(label=_("Decimal places"), min_value=0, max_value=3, help_text=_("0.5 rounds up."))
    no_file = forms.ChoiceField(
        label=_("Without a scored submission"),
        choices=(("none", _("no grade")), ("zero", _("0 points")), ("rest", _("points by hand only"))),
    )
    every_hours = _number_field(_("Every … hours"))
    off = _number_field(
        _("Cost in all"), help_text=_("Of the 1st, 2nd … period, such as 10, 20, 30. Empty: late work doesn't count.")
    )
    unit = forms.ChoiceField(label=_("Unit"), choices=(("percent", _("percent")), ("points", _("points"))))
    then = forms.ChoiceField(
        label=_("After that"),
        choices=(
            ("stay", _("no more")),
            ("add", _("the same again")),
            ("zero", _("late work counts 0")),
        ),
    )
    grace_minutes = _number_field(_("Free minutes"))

    def initial_of(self, rules: Mapping[str, Any]) -> dict[str, Any]:
        late = rules.get("late") or {}
        usual = {"out_of": "100", "least": "0", "decimals": 1, "every_hours": "24"}
        return {**usual, **rules, **late, "off": ", ".join(map(str, late.get("off", ())))}

    @property
    def late_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.LATE]

    @property
    def limits(self) -> list[forms.BoundField]:
        return [self[name] for name in ("out_of", "cap", "least", "decimals", "no_file")]

    @property
    def rule_values(self) -> dict[str, Any]:
        values = super().rule_values
        late = {name: values.pop(name) for name in self.LATE}
        if off := [part for part in (late["off"] or "").replace(";", ",").split(",") if part.strip()]:
            values["late"] = {**late, "off": off}
        return values


class CourseRulesForm(RulesForm):
    """The grade rules of a course: a weight for each competition, bonus, limits, late days."""

    CARDS = ("plus",)
    NEW_CARD: ClassVar[Mapping[str, Any]] = {"of": "by_hand"}

    decimals = forms.IntegerField(label=_("Decimal places"), min_value=0, max_value=3, required=False)
    drop_lowest = forms.IntegerField(label=_("Drop the lowest"), min_value=0, required=False)
    periods = forms.IntegerField(
        label=_("Late days for the term"),
        min_value=0,
        required=False,
        help_text=_("Late periods that cost nothing, in the order of deadlines."),
    )
    most = forms.IntegerField(label=_("At most in one competition"), min_value=0, required=False)

    def __init__(self, data: Any, rules: Mapping[str, Any], *, competitions: Sequence[Competition], add: str) -> None:
        super().__init__(data, rules, competitions=competitions, add=add)
        weights = {part["competition"]: part["weight"] for part in rules.get("parts", ())}
        # The name of the field of each competition's weight.
        self.parts = {competition.slug: f"weight-{competition.slug}" for competition in competitions}
        for competition in competitions:
            name = self.parts[competition.slug]
            self.fields[name] = _number_field(competition.title)
            self.initial[name] = weights.get(competition.slug, "")

    def initial_of(self, rules: Mapping[str, Any]) -> dict[str, Any]:
        return {**rules, **(rules.get("slack") or {})}

    @property
    def weights(self) -> list[forms.BoundField]:
        return [self[name] for name in self.parts.values()]

    @property
    def weight_sum(self) -> str:
        """The sum of the weights, as far as they are numbers."""
        total = Fraction(0)
        for field in self.weights:
            with suppress(ValueError):
                total += parse_number(field.value())
        return decimal_text(total)

    @property
    def limits(self) -> list[forms.BoundField]:
        return [self[name] for name in ("drop_lowest", "periods", "most", "out_of", "cap", "decimals")]

    @property
    def rule_values(self) -> dict[str, Any]:
        """The values for `CourseScheme.from_values`; a competition without a weight is no part."""
        values = super().rule_values
        weights = {slug: values.pop(name) for slug, name in self.parts.items()}
        values["parts"] = [{"competition": slug, "weight": weight} for slug, weight in weights.items() if weight]
        slack = {name: values.pop(name) for name in ("periods", "most")}
        return values | ({"slack": slack} if slack["periods"] else {})
