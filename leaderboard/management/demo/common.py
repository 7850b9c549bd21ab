"""What the three demo competitions are made with."""

from __future__ import annotations

import csv
import io
import secrets
from collections.abc import Iterable, Sequence
from typing import Any

import metrics
from leaderboard import hosting
from leaderboard.models import Competition, User

EMAIL_DOMAIN = "demo.invalid"
COURSE = "Demo"
RULES = """
Work in your own team and share nothing across teams before the deadline. Use any method and any library. Scores are
computed on answers that nobody has seen; asking the board many times is not a method.
"""


def demo_user(name: str) -> User:
    """A person who cannot sign in; `name` stays free for real people who were here first."""
    email = f"{name}@{EMAIL_DOMAIN}"
    user = User.objects.filter(email=email).first()
    if user is None:
        is_taken = User.objects.filter(username__iexact=name).exists()
        user = User(username=f"demo-{name}" if is_taken else name, email=email)
        user.set_unusable_password()
        user.save()
    return user


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """A CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()


def draft(
    *,
    truth: bytes,
    metric: str,
    params: dict[str, Any],
    public_share: float,
    seed: int,
    secondary: Sequence[tuple[str, dict[str, Any]]] = (),
    **fields: Any,
) -> Competition:
    """A demo competition with its published ground truth, split by the system; not launched yet."""
    host = demo_user("demo-host")
    competition = hosting.create(user=host, course=COURSE, rules=RULES.strip(), is_listed=True, **fields)
    Competition.objects.filter(pk=competition.pk).update(is_demo=True)
    split = metrics.add_split(truth, public_share, seed, True, None, secret=secrets.token_bytes(16))
    hosting.draft_truth(
        competition=competition,
        metric=metric,
        params=params,
        secondary=secondary,
        file_name="truth.csv",
        chunks=[split],
    )
    hosting.publish(competition=competition, user=host, note="Made by the demo.", is_confirmed=True)
    return competition


def add_files(competition: Competition, files: dict[str, tuple[str, bytes]]) -> None:
    """Give students files: name → (description, content)."""
    for name, (description, data) in files.items():
        hosting.add_data_file(competition=competition, file_name=name, chunks=[data], description=description)


def add_baselines(competition: Competition, baselines: dict[str, bytes]) -> None:
    """Queue reference files: name → content."""
    for number, (name, data) in enumerate(baselines.items(), start=1):
        hosting.add_baseline(
            competition=competition, user=None, name=name, file_name=f"baseline_{number}.csv", chunks=[data]
        )
