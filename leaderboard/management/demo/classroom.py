"""What a class hands in during three weeks: fitted models from the first try to the best, and a few broken files."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from .common import table

HEADER = ["id", "digit"]
BROKEN = ("too few rows", "wrong header", "an empty cell", "rows twice")


@dataclass(frozen=True)
class Try:
    """One file of one team."""

    team: str
    member: int
    """Which member handed it in, from 0."""
    file_name: str
    note: str
    received_at: datetime
    data: bytes
    is_selected: bool = False


@dataclass(frozen=True)
class Digits:
    """Images as rows of 64 grey values; `test_ids` belong to `test`."""

    train: Any
    labels: Any
    test: Any
    test_ids: tuple[str, ...]


def ladder() -> list[tuple[str, Callable[[int], Any]]]:
    """Kinds of model from weak to strong: what the note says, and an estimator from a seed. Light ones only."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression, RidgeClassifier
    from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
    from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
    from sklearn.neural_network import MLPClassifier
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    return [
        ("tree of depth 3", lambda seed: DecisionTreeClassifier(max_depth=3, random_state=seed)),
        ("tree of depth 5", lambda seed: DecisionTreeClassifier(max_depth=5, random_state=seed)),
        ("full tree", lambda seed: DecisionTreeClassifier(random_state=seed)),
        ("gaussian naive Bayes", lambda seed: GaussianNB(var_smoothing=10.0 ** -(2 + seed % 3))),
        ("naive Bayes on black and white", lambda seed: BernoulliNB(binarize=5 + seed % 5)),
        ("nearest average image", lambda seed: NearestCentroid()),
        ("multinomial naive Bayes", lambda seed: MultinomialNB(alpha=0.1 + seed % 4)),
        ("forest of 10", lambda seed: RandomForestClassifier(10, random_state=seed)),
        ("ridge", lambda seed: RidgeClassifier(alpha=1.0 + seed % 7)),
        ("linear discriminant", lambda seed: LinearDiscriminantAnalysis()),
        ("logistic regression", lambda seed: LogisticRegression(C=0.01 * (1 + seed % 9), max_iter=60)),
        ("small network", lambda seed: MLPClassifier((24,), learning_rate_init=0.01, max_iter=30, random_state=seed)),
        ("forest of 40", lambda seed: RandomForestClassifier(40, random_state=seed)),
        ("linear SVM", lambda seed: SVC(kernel="linear", C=0.002 * (1 + seed % 5))),
        ("5 neighbours", lambda seed: KNeighborsClassifier(4 + seed % 3)),
        ("extra trees", lambda seed: ExtraTreesClassifier(40, random_state=seed)),
        ("1 neighbour", lambda seed: KNeighborsClassifier(1 + 2 * (seed % 2), weights="distance")),
        ("SVM with RBF", lambda seed: SVC(C=1.0 + seed % 6, gamma=0.0004 * (1 + seed % 3))),
    ]


def predict(model: Any, digits: Digits, rows: int, seed: int) -> list[int]:
    """What a model says about the test images after fitting on some of the training rows."""
    order = random.Random(seed).sample(range(len(digits.labels)), min(rows, len(digits.labels)))  # noqa: S311
    with warnings.catch_warnings():
        # A student stops a fit before it has converged; that is part of the picture.
        warnings.simplefilter("ignore")
        fitted = model.fit(digits.train[order], digits.labels[order])
    return [int(value) for value in fitted.predict(digits.test)]


def answer_file(digits: Digits, answers: list[int], fault: str = "") -> bytes:
    """The CSV of a try, with a fault on wish."""
    rows: list[tuple[str, object]] = list(zip(digits.test_ids, answers, strict=True))
    header = HEADER
    if fault == "too few rows":
        rows = rows[:-100]
    elif fault == "wrong header":
        header = ["image", "prediction"]
    elif fault == "rows twice":
        rows += rows[:3]
    elif fault:
        rows[41] = (rows[41][0], "")
    return table(header, rows)


def tries(team: str, members: int, digits: Digits, opens_at: datetime, closes_at: datetime) -> Iterator[Try]:
    """The files of one team in order of receipt, the same for the same name; models and rows grow with time."""
    draw = random.Random(team)  # noqa: S311
    number = draw.randint(2, 8)
    steps, days = ladder(), (closes_at - opens_at) / timedelta(days=1)
    start, talent = draw.randint(0, 6), draw.uniform(0.45, 1.0)
    moments = sorted(opens_at + timedelta(days=days * (1 - draw.random() ** 1.4)) for _ in range(number))
    broken_at = draw.randrange(number - 1) if draw.random() < 0.3 else -1
    picked = set(draw.sample(range(number), 2)) - {broken_at} if draw.random() < 0.5 else set()
    for index, received_at in enumerate(moments):
        progress = index / (number - 1)
        reach = start + talent * progress * (len(steps) - 1 - start) + draw.uniform(-1.5, 1.0)
        note, model_of = steps[min(max(round(reach), 0), len(steps) - 1)]
        rows = round(len(digits.labels) * (0.1 + 0.9 * talent * (0.3 + 0.7 * progress)))
        seed = draw.randrange(10_000)
        fault = draw.choice(BROKEN) if index == broken_at else ""
        yield Try(
            team=team,
            member=draw.randrange(members),
            file_name=f"try_{index + 1}.csv",
            note=f"{note}, {rows} rows",
            received_at=received_at,
            data=answer_file(digits, predict(model_of(seed), digits, rows, seed), fault),
            is_selected=index in picked,
        )
