"""Grade rules mean what `docs/grading.md` says: the services agree with a second reading of it on random classes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leaderboard.grades.cases import BadCase, marks_of_case
from leaderboard.grades.reading import BadRules
from tests.grades.naive import NaiveReading

SLUGS = ("one", "two", "three")
BASELINES = ("weak", "strong", "boss")
HANDS = ("Report", "Talk")


def some(draw: Random, share: float = 0.5) -> bool:
    return draw.random() < share


def decimal(draw: Random, low: float, high: float, digits: int = 2) -> str:
    return f"{draw.uniform(low, high):.{digits}f}"


def random_position(draw: Random, *, is_step: bool) -> Any:
    kinds = ["score", "baseline", "class", *(["top", "place"] if is_step else [])]
    kind = draw.choice(kinds)
    if kind == "score":
        return {"score": decimal(draw, 0.3, 0.9)}
    if kind == "top":
        return {"top": draw.choice([1, 10, 34, 50, 100])}
    if kind == "place":
        return {"place": draw.randint(1, 4)}
    name = draw.choice(BASELINES if kind == "baseline" else ("best", "median", "mean"))
    more = {"better_by": draw.choice(["0.01", "-0.02", "0.1"])} if some(draw) else {}
    return {kind: name, **more, **({"beat": True} if is_step and some(draw) else {})}


def random_rows(draw: Random, of: str, most: int, lowest: int, *, is_step: bool) -> list[Any]:
    """Rows of which no two fixed ones contradict each other."""
    points = sorted(draw.randint(max(0, lowest), most) for _row in range(draw.randint(1, 4)))
    if of != "score":
        numbers = sorted(draw.sample(range(7), len(points)), reverse=of in ("place", "members"))
        rows: list[Any] = [[number, more] for number, more in zip(numbers, points, strict=True)]
        return [*rows, ["last", draw.randint(0, most)]] if of != "by_hand" and some(draw, 0.4) else rows
    rows = []
    for more in points:
        place = random_position(draw, is_step=is_step)
        if all(_kind_of(place) != _kind_of(other) for other, _points in rows):
            rows.append([place, more])
    return draw.sample(rows, len(rows))


def _kind_of(place: Any) -> Any:
    kind = next(iter(place))
    return kind, place[kind] if kind in ("baseline", "class") else ""


def random_term(draw: Random, name: str, *, of: str | None = None, most: int = 60, lowest: int = -5) -> dict[str, Any]:
    quantities = ("score", "score", "place", "baselines", "files", "members", "attached", "by_hand")
    of = of or draw.choice(quantities)
    term: dict[str, Any] = {"name": draw.choice(HANDS) if of == "by_hand" else name, "of": of}
    for part, share in (("line", 0.7), ("steps", 0.5)):
        if some(draw, share) or (part == "steps" and "line" not in term and of != "by_hand"):
            term[part] = random_rows(draw, of, most, lowest, is_step=part == "steps")
    if some(draw, 0.3):
        term["board"] = "public"
    if of in ("score", "place", "baselines", "files"):
        if some(draw, 0.25):
            term["until"] = draw.choice([-240, -24, "-1.5", 0, 5])
        if some(draw, 0.25):
            term["from"] = draw.sample(SLUGS, draw.randint(1, 3))
    if some(draw, 0.4):
        term["below"] = draw.randint(lowest, 20)
    if some(draw, 0.15):
        term["late"] = False
    return term


def random_rules(draw: Random) -> dict[str, Any]:
    rules: dict[str, Any] = {
        "out_of": draw.choice([10, 60, 100]),
        "decimals": draw.randint(0, 3),
        "no_file": draw.choice(["none", "zero", "rest"]),
        "terms": [random_term(draw, f"Term {place}") for place in range(draw.randint(1, 3))],
    }
    hands = [term["name"] for term in rules["terms"] if term["of"] == "by_hand"]
    if len(hands) != len(set(hands)):
        others = [term for term in rules["terms"] if term["of"] != "by_hand"]
        rules["terms"] = [*others, {"name": "Talk", "of": "by_hand"}]
    if some(draw, 0.3):
        rules["cap"] = rules["out_of"] + draw.randint(0, 10)
    if some(draw, 0.3):
        rules["least"] = draw.randint(0, 9)
    if some(draw, 0.4):
        of = draw.choice(["files", "attached", "score", "members"])
        rules["factors"] = [random_term(draw, "Factor", of=of, most=120, lowest=0)]
    if some(draw, 0.7):
        off = sorted(draw.randint(0, 60) for _period in range(draw.randint(1, 4)))
        rules["late"] = {
            "every_hours": draw.choice([24, 1, "1/60", 168, "0.5"]),
            "off": off,
            "then": draw.choice(["stay", "add", "zero"]),
            "unit": draw.choice(["percent", "points"]),
            "grace_minutes": draw.choice([0, 10]),
        }
    return rules


def random_case(draw: Random) -> dict[str, Any]:
    students = [f"s{number:02}" for number in range(draw.randint(3, 9))]
    teams = {student: f"t{draw.randint(0, len(students) - 1)}" for student in students}
    names = sorted(set(teams.values()))
    competitions: dict[str, Any] = {}
    for slug in SLUGS:
        files: dict[str, list[dict[str, Any]]] = {
            team: [
                {
                    "minutes": draw.choice([draw.randint(-20_000, 0), draw.randint(-90, 3000), 0, 10, 60, 1440]),
                    "public": decimal(draw, 0.3, 0.9),
                    "private": decimal(draw, 0.3, 0.9),
                    "final": False,
                }
                for _file in range(draw.randint(0, 5))
            ]
            for team in names
        }
        more_time = {team: draw.choice([60, 1440]) for team in names if some(draw, 0.2)}
        for team, rows in files.items():
            rows.sort(key=lambda row: row["minutes"])
            for row in rows:
                row["final"] = some(draw, 0.3) and row["minutes"] <= more_time.get(team, 0)
        competitions[slug] = {
            "higher": slug != "three",
            "baselines": {name: decimal(draw, 0.3, 0.9) for name in BASELINES},
            "files": files,
            "more_time": more_time,
            **({"disqualified": draw.choice(names)} if some(draw, 0.4) else {}),
        }
    higher = some(draw)
    for facts in competitions.values():
        facts["higher"] = higher
    people = {
        "students": students,
        "teams": teams,
        "by_hand": {name: {s: draw.randint(0, 80) / 2 for s in students if some(draw, 0.8)} for name in HANDS},
        "attached": [team for team in names if some(draw)],
        "competitions": competitions,
        "overrides": [{"student": s, "competition": "one", "points": 7.5} for s in students if some(draw, 0.05)]
        + [{"student": s, "points": 42} for s in students if some(draw, 0.05)],
    }
    number = draw.randint(1, 3)
    scheme: dict[str, Any] = {
        "parts": [
            {"competition": slug, "weight": draw.choice([10, 25, "33.3"]), "rules": random_rules(draw)}
            for slug in SLUGS[:number]
        ]
    }
    if some(draw):
        scheme |= {"out_of": 50, "decimals": draw.randint(0, 2)}
        if some(draw):
            scheme["cap"] = 55
    if number > 1 and some(draw):
        scheme["drop_lowest"] = 1
    if some(draw, 0.6):
        scheme["slack"] = {"periods": draw.randint(0, 6), **({"most": draw.randint(0, 4)} if some(draw) else {})}
    if some(draw):
        bonus = random_term(draw, "Bonus", of="score", most=5) | {"from": ["two"]}
        scheme["plus"] = [bonus, {"name": "Talk", "of": "by_hand"}]
    return {"scheme": scheme, "class": people}


def marks_in_a_database_of_its_own(case: dict[str, Any]) -> dict[str, float | None]:
    with transaction.atomic():
        marks = marks_of_case(case)
        transaction.set_rollback(True)
    return marks


@pytest.mark.django_db
@pytest.mark.takes(60)
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_the_services_agree_with_a_second_reading_of_the_meaning(seed: int) -> None:
    case = random_case(Random(seed))
    marks = marks_in_a_database_of_its_own(case)
    expected = NaiveReading(case).marks()
    assert marks.keys() == expected.keys()
    for student, mark in expected.items():
        assert marks[student] == (None if mark is None else pytest.approx(mark, abs=1e-9)), (student, case)


def command(path: Path) -> subprocess.CompletedProcess[str]:
    run = [sys.executable, "manage.py", "grade_case", str(path)]
    return subprocess.run(run, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.slow
def test_the_command_prints_the_marks_and_refuses_a_policy_that_contradicts_itself(tmp_path: Path) -> None:
    case = random_case(Random(7))
    path = tmp_path / "case.json"
    path.write_text(json.dumps(case))
    done = command(path)
    assert (done.returncode, json.loads(done.stdout)) == (0, NaiveReading(case).marks())
    case["scheme"]["parts"][0]["rules"]["cap"] = 1
    path.write_text(json.dumps(case))
    done = command(path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "The cap can't be below the full mark." in done.stderr


@pytest.mark.django_db
def test_what_is_no_case_is_refused_with_the_reason() -> None:
    case = random_case(Random(7))
    for broken in ({}, {**case, "class": {}}, {**case, "scheme": {"parts": [{"competition": "one"}]}}):
        with pytest.raises(BadCase), transaction.atomic():
            marks_of_case(broken)
    case["scheme"]["parts"][0]["competition"] = "four"
    with pytest.raises(BadRules, match="has no competition “four”"), transaction.atomic():
        marks_of_case(case)
