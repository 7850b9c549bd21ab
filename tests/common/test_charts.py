"""Laws of the charts: ticks cover, labels keep apart, equal input gives equal bytes, and no text escapes."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from django.utils import timezone
from hypothesis import example, given
from hypothesis import strategies as st

from leaderboard.common import chart_parts, charts
from leaderboard.common.chart_parts import tick_texts

START = datetime(2026, 11, 21, 23, 10, tzinfo=UTC)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
HOSTILE = '<script>alert("1")</script>&\'><b>'


@given(NUMBER, NUMBER)
@example(0.0, 0.0)
@example(-1e308, 1e308)
@example(5e-324, 1e-323)
@example(0.1, 0.3)
def test_nice_ticks_cover_the_data(first: float, second: float) -> None:
    low, high = sorted((first, second))
    ticks = chart_parts.nice_ticks(low, high)
    assert 3 <= len(ticks) <= 6
    assert ticks[0] <= max(low, -chart_parts.HUGE)
    assert ticks[-1] >= min(high, chart_parts.HUGE)
    steps = [after / (ticks[1] - ticks[0]) - before / (ticks[1] - ticks[0]) for before, after in pairwise(ticks)]
    assert steps == pytest.approx([1.0] * len(steps), rel=1e-6)
    assert len(set(tick_texts(ticks))) == len(ticks)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(41.3, 47.8, [40, 42, 44, 46, 48]), (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]), (0, 64, [0, 20, 40, 60, 80])],
)
def test_ticks_are_those_that_people_would_write(low: float, high: float, expected: list[float]) -> None:
    assert chart_parts.nice_ticks(low, high) == pytest.approx(expected)


def test_axes_show_the_digits_that_their_step_needs() -> None:
    assert tick_texts([0.0, 0.05, 0.1]) == ["0.00", "0.05", "0.10"]
    assert tick_texts([-400.0, -200.0, 0.0]) == ["−400", "−200", "0"]
    assert tick_texts([50000.0, 100000.0, 150000.0]) == ["50000", "100,000", "150,000"]
    assert tick_texts([2950784400.0, 2950784450.0]) == ["2,950,784,400", "2,950,784,450"]


@given(st.lists(st.floats(0, 400), min_size=1, max_size=11))
def test_labels_keep_apart_in_their_order(places: list[float]) -> None:
    moved = chart_parts.push_apart(places, 20, 0, 400)
    ordered = [moved[index] for index in sorted(range(len(places)), key=lambda index: places[index])]
    assert all(after - before >= 20 - 1e-9 for before, after in pairwise(ordered))
    assert all(-1e-9 <= place <= 400 for place in moved)


@given(st.lists(NUMBER, min_size=1, max_size=60), st.sampled_from([1.0, -1.0]), st.lists(NUMBER, max_size=3))
def test_every_score_is_in_a_bar_or_said_to_be_worse(values: list[float], sign: float, near: list[float]) -> None:
    found = charts.bins_of(values, sign, [values[0]], near)
    assert sum(found.counts) + found.beyond == len(values)
    assert (25 if len(values) >= charts.FEW_VALUES else 12) <= len(found.counts) <= 32
    assert found.counts[found.place(values[0])] > 0


def test_one_terrible_score_leaves_the_others_apart() -> None:
    found = charts.bins_of([0.7 + 0.01 * place for place in range(20)] + [-1e6], -1.0)
    assert found.beyond == 1
    assert sum(count > 0 for count in found.counts) > 10


VALUES: list[list[float]] = [[1.0], [0.5, 0.5], [0.0, 0.0], [-1e308, 1e308], [5e-324, 0.0], [1e15, 1e15 + 1]]


def drawings(values: list[float], name: str = "Toads") -> list[str]:
    """Every chart of these numbers."""
    steps = [(START + timedelta(hours=place), value) for place, value in enumerate(values)]
    lines = [charts.RaceLine(name, steps), charts.RaceLine("Newts", steps[:1], is_mine=True)]
    points = [charts.Point(value, -value, name, is_outlier=place == 0) for place, value in enumerate(values)]
    scale = {"sign": 1.0, "axis": name}
    return [
        charts.draw_race(lines, opens_at=START, now=START, marks=[(name, values[0])], **scale),  # type: ignore[arg-type]
        charts.draw_histogram(values, mine=values[-1], marks=[(name, values[0])], **scale),  # type: ignore[arg-type]
        charts.draw_history(steps, **scale),  # type: ignore[arg-type]
        charts.draw_slope([charts.Move(name, 1, 2), charts.Move(name, 2, 1)], before=name, after="b"),
        charts.draw_residuals(points, spread=abs(values[0])),
    ]


@pytest.mark.parametrize("values", VALUES)
def test_drawings_stay_finite_and_say_the_same_each_time(values: list[float]) -> None:
    for drawn in (once := drawings(values)):
        assert not re.search(r"\b(nan|inf)\b", drawn)
    assert once == drawings(values)


def test_names_of_teams_are_text() -> None:
    for drawn in drawings([1.0, 2.0], HOSTILE):
        assert "<script" not in drawn
        assert "<b>" not in drawn
        ElementTree.fromstring(f"<all>{drawn}</all>".replace('""', '"'))


def test_no_chart_has_styles_or_scripts_of_its_own() -> None:
    day = charts.Day(date(2026, 11, 22), 3, 1)
    for drawn in [
        *drawings([1.0, 2.0]),
        charts.draw_activity([day]),
        charts.share_bar(1, 3),
    ]:
        assert not re.search(r"style=|<script|\bon\w+=", drawn)


@pytest.mark.parametrize("draw", [
    lambda: charts.draw_race([], sign=1.0, axis="RMSE", opens_at=START, now=START),
    lambda: charts.draw_histogram([], sign=1.0, axis="RMSE"),
    lambda: charts.draw_slope([], before="a", after="b"),
    lambda: charts.draw_activity([]),
    lambda: charts.draw_residuals([], spread=1.0),
    lambda: charts.draw_history([(START, 1.0)], sign=1.0, axis="RMSE"),
])  # fmt: skip
def test_nothing_to_draw_is_nothing(draw: Callable[[], str]) -> None:
    assert draw() == ""


def heights(drawn: str) -> list[float]:
    """Of the dots of a history, in their order, at one width."""
    return [float(y) for y in re.findall(r'class="dot" cx="[\d.]+" cy="([\d.]+)"', drawn.partition("</svg>")[0])]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_scores_ascend_upwards_whichever_end_is_better(sign: float) -> None:
    points = [(START, 0.2), (START + timedelta(minutes=20), 0.8)]
    first, second = heights(charts.draw_history(points, sign=sign, axis="Score"))
    assert first > second, "the second dot stands above the first"


@pytest.mark.parametrize(("sign", "up", "across"), [(1.0, "↓", "←"), (-1.0, "↑", "→")])
def test_an_arrow_points_to_the_better_end(sign: float, up: str, across: str) -> None:
    points = [(START, 0.2), (START + timedelta(minutes=20), 0.8)]
    lines = [charts.RaceLine("Toads", points)]
    for drawn in (
        charts.draw_history(points, sign=sign, axis="Score"),
        charts.draw_race(lines, sign=sign, axis="Score", opens_at=START, now=points[-1][0]),
    ):
        assert set("↑↓") & set(drawn) == {up}
    drawn = charts.draw_histogram([0.1, 0.2, 0.3, 0.4, 0.5], sign=sign, axis="Score")
    assert set("←→") & set(drawn) == {across}


def test_only_far_moves_and_mine_have_a_colour_and_a_number() -> None:
    moves = [charts.Move("near", 3, 1), charts.Move("far", 1, 12), charts.Move("me", 2, 3, is_mine=True)]
    drawn = charts.draw_slope(moves, before="Public", after="Final").partition("</svg>")[0]
    assert re.findall(r"[▲▼]\d+", drawn) == ["▼11", "▼1"]
    assert re.findall(r'class="slope (\w+)"', drawn) == ["still", "down", "mine"]


def test_times_are_the_readers_own() -> None:
    """23:30 UTC is the next day in Tokyo."""
    with timezone.override("Asia/Tokyo"):
        hours = chart_parts.time_ticks(START, START + timedelta(hours=3), 6)
        days = chart_parts.time_ticks(START, START + timedelta(days=3), 6)
    assert [text for _at, text in hours] == ["09:00", "10:00", "11:00"]
    assert [text for _at, text in days] == ["23 Nov", "24 Nov", "25 Nov"]


@given(st.integers(0, 10**8), st.integers(2, 12))
def test_an_axis_of_time_is_never_crowded(minutes: int, most: int) -> None:
    assert 1 <= len(chart_parts.time_ticks(START, START + timedelta(minutes=minutes), most)) <= most + 1


def test_my_line_is_drawn_last_and_the_best_bar_is_mine() -> None:
    lines = [charts.RaceLine(name, [(START, value)], name == "me") for name, value in (("me", 1.0), ("a", 2.0))]
    drawn = charts.draw_race(lines, sign=1.0, axis="RMSE", opens_at=START, now=START + timedelta(days=3))
    assert drawn.index("step s1") < drawn.index("step mine")
    assert charts.draw_histogram([1, 2, 3, 4, 5], sign=1.0, axis="RMSE", mine=2).count("bar mine") == 2


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_scores_ascend_to_the_right_whichever_end_is_better(sign: float) -> None:
    drawn = charts.draw_histogram([1, 2, 3, 4, 5], sign=sign, axis="Score")
    placed = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" text-anchor="middle">([\d.]+)<', drawn.partition("</svg>")[0])
    widest = [(float(x), float(text)) for x, y, text in placed if y == placed[0][1]]
    assert len(widest) >= 3
    assert sorted(widest) == sorted(widest, key=lambda tick: tick[1])


def test_the_day_that_is_not_over_is_pale() -> None:
    days = [charts.Day(date(2026, 11, day), 4, 1) for day in (21, 22)]
    drawn = charts.draw_activity(days, today=date(2026, 11, 22))
    assert drawn.count("s1 pale") == drawn.count("s2 pale") == drawn.count("<svg")
    assert drawn.count("<title>") == 4 * drawn.count("<svg")
