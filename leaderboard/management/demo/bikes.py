"""“Bike rides next week”: a competition that opens in seven days, on a table made by code."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from leaderboard import hosting
from leaderboard.models import Competition

from .common import add_baselines, add_files, draft, table

SLUG = "bike-rides"
HEADER = ["id", "weekday", "hour", "temperature", "rain", "wind", "holiday"]
TRAINING, TEST = 1500, 1000

OVERVIEW = """
# How many bikes leave the station?

For each hour you are given the weekday, the hour, temperature (°C), rain (mm), wind (km/h) and whether it is a
holiday. Predict `rides`, the number of bikes taken in that hour.

People ride to work at eight and home at five, but not on Sundays; they like 22 degrees and dislike rain more than
wind. Some of it is chance, and no model will get that part.

The files can be downloaded when the competition opens.
"""

Row = tuple[str, int, int, float, float, float, int]


def hours() -> tuple[list[Row], list[int]]:
    """All hours with their rides: a daily rhythm times the weather, with Poisson chance; always the same."""
    import numpy as np

    draw = np.random.default_rng(7)
    number = TRAINING + TEST
    weekday, hour = draw.integers(0, 7, number), draw.integers(0, 24, number)
    temperature = draw.normal(14, 8, number) + 4 * np.sin((hour - 9) / 24 * 2 * np.pi)
    rain = draw.gamma(0.4, 2.0, number) * (draw.random(number) < 0.35)
    wind, holiday = draw.gamma(3.0, 4.0, number), (draw.random(number) < 0.04).astype(int)
    works = (weekday < 5) & (holiday == 0)
    commute = np.exp(-((hour - 8) ** 2) / 3) + 1.2 * np.exp(-((hour - 17) ** 2) / 5)
    leisure = np.exp(-((hour - 14) ** 2) / 22)
    rhythm = np.where(works, 0.25 * leisure + commute, 1.1 * leisure) + 0.03
    weather = np.exp(-((temperature - 22) ** 2) / 400) / (1 + 0.5 * rain) / (1 + 0.012 * wind)
    rides = draw.poisson(420 * rhythm * weather)
    weathers = [[round(float(value), 1) for value in values] for values in (temperature, rain, wind)]
    rows: list[Row] = [
        (f"hour_{i + 1:04}", int(weekday[i]), int(hour[i]), warm, wet, windy, int(holiday[i]))
        for i, (warm, wet, windy) in enumerate(zip(*weathers, strict=True))
    ]
    return rows, [int(value) for value in rides]


def build() -> Competition:
    now = timezone.now()
    rows, rides = hours()
    test, answers = rows[TRAINING:], rides[TRAINING:]
    competition = draft(
        slug=SLUG,
        title="Bike rides next week",
        subtitle="Predict the rides of an hour from the calendar and the weather.",
        overview=OVERVIEW.strip(),
        opens_at=now + timedelta(days=7),
        closes_at=now + timedelta(days=35),
        needs_code=False,
        truth=table(["id", "rides"], ((row[0], count) for row, count in zip(test, answers, strict=True))),
        metric="rmse",
        secondary=[("mae", {}), ("r2", {})],
        params={},
        public_share=0.4,
        seed=7,
    )
    training = ((*row, count) for row, count in zip(rows[:TRAINING], rides, strict=False))
    add_files(
        competition,
        {
            "train.csv": ("Hours with their rides.", table([*HEADER, "rides"], training)),
            "test.csv": ("Hours to answer.", table(HEADER, test)),
        },
    )
    mean = sum(rides[:TRAINING]) / TRAINING
    by_hour = {h: [c for row, c in zip(rows[:TRAINING], rides, strict=False) if row[2] == h] for h in range(24)}
    add_baselines(
        competition,
        {
            "always the mean": table(["id", "rides"], ((row[0], round(mean, 3)) for row in test)),
            "mean of the hour": table(
                ["id", "rides"], ((row[0], round(sum(by_hour[row[2]]) / len(by_hour[row[2]]), 3)) for row in test)
            ),
        },
    )
    hosting.launch(competition=competition)
    return competition
