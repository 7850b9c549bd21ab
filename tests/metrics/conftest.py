"""Whatever a test of the library provokes keeps the law of sentences."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

import metrics
from tests.metrics.sentences import breaches

# Each with its texts that people read.
SPEAKERS: dict[type, tuple[str, ...]] = {
    metrics.Problem: ("message",),
    metrics.Finding: ("message", "why"),
    metrics.Fit: ("reason",),
    metrics.Baseline: ("name", "says"),
    metrics.SecondaryValue: ("problem",),
    metrics.HardRows: ("reason",),
}

# What a test says itself, the home scorer about its own call, and a metric from outside.
OTHERS = ("tests.", "metrics.__main__", "metrics._outside")


@pytest.fixture(autouse=True)
def _the_law_of_sentences(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    found: list[str] = []

    def look(said: Any, texts: tuple[str, ...]) -> None:
        if not sys._getframe(2).f_globals["__name__"].startswith(OTHERS):
            found.extend(breach for name in texts if (text := getattr(said, name)) for breach in breaches(text))

    def listening(kind: type, texts: tuple[str, ...]) -> Any:
        begin = kind.__init__  # type: ignore[misc]

        def listened(self: Any, *args: Any, **kwargs: Any) -> None:
            begin(self, *args, **kwargs)
            look(self, texts)

        return listened

    def judge(self: metrics.ParameterError, errors: Any) -> None:
        begin_error(self, errors)
        if not sys._getframe(1).f_globals["__name__"].startswith(OTHERS):
            found.extend(breach for text in self.errors.values() for breach in breaches(text))

    begin_error = metrics.ParameterError.__init__
    monkeypatch.setattr(metrics.ParameterError, "__init__", judge)
    for kind, texts in SPEAKERS.items():
        monkeypatch.setattr(kind, "__init__", listening(kind, texts))
    yield
    assert found == []
