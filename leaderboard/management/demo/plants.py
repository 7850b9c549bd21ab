"""“Plant pathology 2021: which average?”: the question a notebook left open, answered by a leaderboard.

The truth is the table of label counts of the public training images, row by row in a fixed random order.
"""

from __future__ import annotations

import random
from datetime import timedelta

from django.utils import timezone

from leaderboard import hosting
from leaderboard.models import Competition

from .common import add_baselines, add_files, draft, table

SLUG = "plant-pathology-2021"
COUNTS = {
    "scab": 4826,
    "healthy": 4624,
    "frog_eye_leaf_spot": 3181,
    "rust": 1860,
    "complex": 1602,
    "powdery_mildew": 1184,
    "scab frog_eye_leaf_spot": 686,
    "scab frog_eye_leaf_spot complex": 200,
    "frog_eye_leaf_spot complex": 165,
    "rust frog_eye_leaf_spot": 120,
    "rust complex": 97,
    "powdery_mildew complex": 87,
}
# The notebook wrote a label that no image has; its own table was made with it, so it stays.
ALL_SEVEN = "cider_apple_rust complex frog_eye_leaf_spot healthy powdery_mildew rust scab"
CONSTANTS = {
    "healthy": "healthy",
    "scab": "scab",
    "scab healthy": "scab healthy",
    "healthy scab": "healthy scab",
    "all seven labels": ALL_SEVEN,
}

OVERVIEW = """
# One leaf, several diseases

A photograph of an apple leaf can show nothing (`healthy`), one disease, or several at once
(`scab frog_eye_leaf_spot`). For every row you name the **set** of labels you expect, separated by blanks. Order does
not matter, and a label written twice counts once.

# The question

In 2021 a competition on these leaves announced “mean F1 score” and left its entrants to guess which mean. One of them
went and asked the leaderboard: he sent the same answer for every picture, five times over, and compared what came
back with what he could compute from the training labels.

| every row gets | leaderboard then | pooled (`micro`) | per row (`samples`) |
|---|---:|---:|---:|
| `healthy` | 0.251 | 0.238 | 0.248 |
| `scab` | 0.292 | 0.294 | 0.289 |
| `scab healthy` | 0.365 | 0.360 | 0.361 |
| `healthy scab` | 0.365 | 0.360 | 0.361 |
| all seven labels | 0.265 | 0.268 | 0.266 |

Two things were plain at once: naming a part of the labels earns a part of the point, and order is ignored. The third,
pooled counts or a mean over rows, he had to leave open, because he had only computed the pooled column. Look at the
first line. A constant `healthy` is exactly right on many rows and exactly wrong on all others: pooled, the leaves with
several diseases weigh more, and the score falls to 0.238. Per row it stays at 0.248, next to the 0.251 he was given.
**It was the mean over rows**, and that is what this competition uses.

# What you see here

The ground truth is the label table of the 18,632 public training images, in random order. The five constant answers
are on the board as baselines, scored by the same code as your file. Nothing but labels is given, so this is a
competition about a metric: how high can an answer get that looks at no picture at all?
"""


def truth_rows() -> list[tuple[str, str]]:
    """Row name and labels of all 18,632 rows, always in the same order."""
    labels = [label for label, count in COUNTS.items() for _ in range(count)]
    random.Random(2021).shuffle(labels)  # noqa: S311
    return [(f"row_{number:05}", label) for number, label in enumerate(labels, start=1)]


def build() -> Competition:
    now = timezone.now()
    rows = truth_rows()
    competition = draft(
        slug=SLUG,
        title="Plant pathology 2021: which average?",
        subtitle="Five constant answers, two ways to average, one board that tells them apart.",
        overview=OVERVIEW.strip(),
        opens_at=now - timedelta(days=7),
        closes_at=now + timedelta(days=60),
        needs_code=False,
        daily_attempts=10,
        truth=table(["id", "labels"], rows),
        metric="multilabel_f1",
        params={"average": "samples"},
        public_share=0.3,
        seed=2021,
    )
    add_files(
        competition,
        {
            "test.csv": ("The rows to answer.", table(["id"], ((name,) for name, _ in rows))),
            "label_counts.csv": ("How often each set of labels occurs.", table(["labels", "count"], COUNTS.items())),
        },
    )
    add_baselines(
        competition,
        {name: table(["id", "labels"], ((row, answer) for row, _ in rows)) for name, answer in CONSTANTS.items()},
    )
    hosting.launch(competition=competition)
    Competition.objects.filter(pk=competition.pk).update(launched_at=competition.opens_at)
    return competition
