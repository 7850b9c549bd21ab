"""A second, slow reading of what grade rules mean (docs/grading.md), that shares no code with the product."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from typing import Any

Row = dict[str, Any]


def number(value: object) -> Fraction:
    return Fraction(str(value))


def half_up(value: Fraction, decimals: int) -> Fraction:
    return Fraction(floor(value * 10**decimals + Fraction(1, 2)), 10**decimals)


class NaiveReading:
    def __init__(self, case: Row) -> None:
        self.scheme, self.people = case["scheme"], case["class"]
        self.team_of: dict[str, str] = self.people["teams"]

    # --- what happened in one competition

    def better(self, slug: str, one: Fraction, other: Fraction) -> bool:
        return one > other if self.people["competitions"][slug]["higher"] else one < other

    def best(self, slug: str, values: list[Fraction]) -> Fraction:
        return max(values) if self.people["competitions"][slug]["higher"] else min(values)

    def deadline(self, slug: str, team: str) -> int:
        minutes: int = self.people["competitions"][slug].get("more_time", {}).get(team, 0)
        return minutes

    def in_time(self, slug: str, team: str, until: Any) -> list[Row]:
        files = self.people["competitions"][slug]["files"].get(team, [])
        received = [file for file in files if file["minutes"] <= self.deadline(slug, team)]
        return [file for file in received if until is None or file["minutes"] <= number(until) * 60]

    def value(self, slug: str, team: str, board: str, until: Any) -> Fraction | None:
        files = self.in_time(slug, team, until)
        if not files:
            return None
        if board == "public":
            return self.best(slug, [number(file["public"]) for file in files])
        finals = [file for file in files if file["final"]]
        if not finals:
            while files and len(finals) < 2:
                top = self.best(slug, [number(file["public"]) for file in files])
                first = min((f for f in files if number(f["public"]) == top), key=lambda file: file["minutes"])
                finals.append(first)
                files.remove(first)
        return self.best(slug, [number(file["private"]) for file in finals])

    def ranked(self, slug: str, board: str, until: Any) -> dict[str, Fraction]:
        out = self.people["competitions"][slug].get("disqualified")
        teams = [team for team in set(self.team_of.values()) if team != out]
        found = {team: self.value(slug, team, board, until) for team in teams}
        return {team: value for team, value in found.items() if value is not None}

    # --- a term

    def points(self, term: Row, slug: str, student: str, late_file: Row | None) -> Fraction:  # noqa: C901
        team, below = self.team_of[student], number(term.get("below", 0))
        board, until, of = term.get("board", "private"), term.get("until"), term["of"]
        sources = term.get("from") or [slug]
        if of == "by_hand":
            given = self.people["by_hand"].get(term["name"], {}).get(student)
            if given is None:
                return below
            if not term.get("line") and not term.get("steps"):
                return number(given)
            value = number(given)
        elif of == "members":
            value = Fraction(sum(other == team for other in self.team_of.values()))
        elif of == "attached":
            value = Fraction(team in self.people["attached"])
        elif of == "files":
            value = sum((Fraction(len(self.in_time(s, team, until))) for s in sources), Fraction(0)) / len(sources)
        else:
            scores = []
            for source in sources:
                score = self.value(source, team, board, until)
                if late_file is not None and source == slug and until is None:
                    score = number(late_file[board])
                if score is None:
                    return below
                scores.append(score)
            ranks = [
                1 + sum(self.better(s, v, score) for t, v in self.ranked(s, board, until).items() if t != team)
                for s, score in zip(sources, scores, strict=True)
            ]
            reached = [
                sum(not self.better(s, number(b), score) for b in self.people["competitions"][s]["baselines"].values())
                for s, score in zip(sources, scores, strict=True)
            ]
            kinds: dict[str, list[Any]] = {"score": scores, "place": ranks, "baselines": reached}
            numbers = kinds[of]
            value = sum((Fraction(each) for each in numbers), Fraction(0)) / len(sources)
        options = [below]
        if term.get("line"):
            options += self.on_line(term, sources, value, board, until)
        for place, points in term.get("steps", []):
            kind = next(iter(place)) if isinstance(place, dict) else ""
            if kind == "top":
                above = [
                    Fraction(100 * (rank - 1), max(1, len(self.ranked(s, board, until))))
                    for s, rank in zip(sources, ranks, strict=True)
                ]
                is_reached = sum(above, Fraction(0)) / len(above) < number(place["top"])
            elif kind == "place":
                is_reached = Fraction(sum(ranks), len(ranks)) <= number(place["place"])
            else:
                at = self.position(term, sources, place, board, until)
                is_better = self.order(term, sources)
                beat = isinstance(place, dict) and place.get("beat")
                is_reached = at is not None and (is_better(value, at) or (not beat and value == at))
            if is_reached:
                options.append(number(points))
        return max(options)

    def order(self, term: Row, sources: list[str]) -> Callable[[Fraction, Fraction], bool]:
        if term["of"] == "score":
            return lambda one, other: self.better(sources[0], one, other)
        if term["of"] in ("place", "members"):
            return lambda one, other: one < other
        return lambda one, other: one > other

    def position(self, term: Row, sources: list[str], place: Any, board: str, until: Any) -> Fraction | None:
        if place == "last":
            return Fraction(self.last(term["of"], sources, board, until))
        if not isinstance(place, dict):
            return number(place)
        if "score" in place:
            return number(place["score"])
        found = []
        for source in sources:
            baselines, ranked = self.people["competitions"][source]["baselines"], self.ranked(source, board, until)
            if "baseline" in place:
                found += [number(baselines[place["baseline"]])] if place["baseline"] in baselines else []
            elif ranked:
                ordered = sorted(ranked.values())
                middle = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
                figures = {"best": self.best(source, ordered), "median": middle, "mean": sum(ordered) / len(ordered)}
                found.append(Fraction(figures[place["class"]]))
        if not found:
            return None
        by = number(place.get("better_by") or 0)
        higher = self.people["competitions"][sources[0]]["higher"]
        return sum(found, Fraction(0)) / len(found) + (by if higher else -by)

    def last(self, of: str, sources: list[str], board: str, until: Any) -> int:
        teams = list(self.team_of.values())
        if of == "place":
            return max(len(self.ranked(source, board, until)) for source in sources)
        if of == "baselines":
            return max(len(self.people["competitions"][source]["baselines"]) for source in sources)
        if of == "files":
            return max(len(self.in_time(source, team, until)) for source in sources for team in teams)
        return max(teams.count(team) for team in teams) if of == "members" else 1

    def on_line(self, term: Row, sources: list[str], value: Fraction, board: str, until: Any) -> list[Fraction]:
        is_better = self.order(term, sources)
        known = [(self.position(term, sources, place, board, until), number(p)) for place, p in term["line"]]
        kept: list[tuple[Fraction, Fraction]] = []
        left = [(at, points) for at, points in known if at is not None]
        while left:
            fewest = min(points for _at, points in left)
            next_one = next(pair for pair in left if pair[1] == fewest)
            for pair in left:
                if pair[1] == fewest and is_better(next_one[0], pair[0]):
                    next_one = pair
            left.remove(next_one)
            if not kept or is_better(next_one[0], kept[-1][0]):
                kept.append(next_one)
        if not kept or is_better(kept[0][0], value):
            return []
        for (low, few), (high, many) in pairwise(kept):
            if not is_better(value, high) and value != high:
                return [few + (many - few) * (value - low) / (high - low)]
        return [kept[-1][1]]

    # --- a mark

    def mark(self, slug: str, rules: Row, student: str, slack: int) -> Fraction | None:
        team, facts = self.team_of[student], self.people["competitions"][slug]
        if facts.get("disqualified") == team:
            return Fraction(0)
        late, files = rules.get("late"), list[tuple[int, Row | None]]()
        if self.in_time(slug, team, None):
            files.append((0, None))
        if late:
            by_period: dict[int, list[Row]] = {}
            for file in facts["files"].get(team, []):
                minutes = file["minutes"] - self.deadline(slug, team)
                if minutes > 0:
                    counted = minutes - number(late.get("grace_minutes", 0))
                    period = 0 if counted <= 0 else ceil(counted / (number(late["every_hours"]) * 60))
                    by_period.setdefault(period, []).append(file)
            for period in sorted(by_period):
                rows = by_period[period]
                top = self.best(slug, [number(row["public"]) for row in rows])
                first = min((r for r in rows if number(r["public"]) == top), key=lambda row: row["minutes"])
                files.append((period, first))
        outcomes = [self.outcome(slug, rules, student, period, slack, file) for period, file in files]
        counted_ones = [outcome for outcome in outcomes if outcome is not None]
        if counted_ones:
            return self.limited(rules, max(counted_ones))
        if rules.get("no_file", "none") == "none":
            return None
        if rules["no_file"] == "zero":
            return Fraction(0)
        hand = [self.points(term, slug, student, None) for term in rules["terms"] if term["of"] == "by_hand"]
        return self.limited(rules, sum(hand, Fraction(0)))

    def outcome(
        self, slug: str, rules: Row, student: str, period: int, slack: int, file: Row | None
    ) -> Fraction | None:
        reduced, rest = Fraction(0), Fraction(0)
        for term in rules["terms"]:
            points = self.points(term, slug, student, file)
            if term["of"] in ("score", "place", "baselines") and term.get("late", True):
                reduced += points
            else:
                rest += points
        for factor in rules.get("factors", []):
            reduced *= self.points(factor, slug, student, file) / 100
        late, begun = rules.get("late"), max(0, period - slack)
        if late and begun:
            off = [number(each) for each in late["off"]]
            if begun <= len(off):
                cost = off[begun - 1]
            elif late.get("then", "stay") == "zero":
                return None
            else:
                step = off[-1] - off[-2] if len(off) > 1 else off[-1]
                cost = off[-1] + (step * (begun - len(off)) if late.get("then") == "add" else 0)
            reduced = reduced * (100 - cost) / 100 if late.get("unit", "percent") == "percent" else reduced - cost
        return max(reduced, Fraction(0)) + rest

    def limited(self, rules: Row, points: Fraction) -> Fraction:
        cap = number(rules.get("cap") or rules["out_of"])
        return half_up(min(cap, max(number(rules.get("least", 0)), points)), rules.get("decimals", 1))

    # --- a course

    def override(self, student: str, slug: str | None) -> Fraction | None:
        for each in self.people.get("overrides", []):
            if (each["student"], each.get("competition")) == (student, slug):
                return number(each["points"])
        return None

    def marks(self) -> dict[str, float | None]:
        found = {student: self.course_mark(student) for student in self.people["students"]}
        return {student: None if mark is None else float(mark) for student, mark in found.items()}

    def course_mark(self, student: str) -> Fraction | None:
        slack, parts = self.scheme.get("slack"), list[tuple[Fraction, Fraction, bool]]()
        left = slack["periods"] if slack else 0
        for part in self.scheme["parts"]:
            slug, rules = part["competition"], part["rules"]
            mark = self.override(student, slug)
            if mark is None:
                may = min(left, slack["most"]) if slack and "most" in slack else left
                tried = [self.mark(slug, rules, student, used) for used in range((may if rules.get("late") else 0) + 1)]
                worth = [Fraction(-1) if each is None else each for each in tried]
                used = worth.index(max(worth))
                mark, left = tried[used], left - used
            share = (mark or Fraction(0)) / number(rules["out_of"])
            parts.append((share, share * number(part["weight"]), mark is not None))
        if (set_mark := self.override(student, None)) is not None:
            return set_mark
        if not any(is_marked for _share, _weighted, is_marked in parts):
            return None
        kept = sorted(parts)[self.scheme.get("drop_lowest", 0) :]
        total = sum((weighted for _share, weighted, _is_marked in kept), Fraction(0))
        total += sum((self.points(t, "", student, None) for t in self.scheme.get("plus", [])), Fraction(0))
        most = self.scheme.get("cap") or self.scheme.get("out_of")
        total = max(Fraction(0), total if most is None else min(total, number(most)))
        return total if self.scheme.get("decimals") is None else half_up(total, self.scheme["decimals"])
