"""Lists in the cells of Ada's answers: each writing but white space is named, and the separator is proposed."""

import random
from collections.abc import Callable, Sequence

import pytest

import metrics
from metrics.checks.lists import SEPARATOR, WRAPPED_LISTS, write_plain_lists
from metrics.tests.answer_files import split_table

LABELS = ("cat", "dog", "newt", "toad", "frog")
NUMBERS = tuple(map(str, range(8)))
Write = Callable[[Sequence[str]], str]
WITH_SEPARATOR: dict[str, Write] = {
    ",": ",".join,
    ", ": ", ".join,
    ";": ";".join,
    "|": "|".join,
    " | ": " | ".join,
}
WRAPPED: dict[str, Write] = {
    "list": lambda labels: f"[{', '.join(labels)}]",
    "texts": lambda labels: repr(list(labels)),
    "tuple": lambda labels: f"({', '.join(labels)})",
    "set": lambda labels: "{" + ";".join(labels) + "}",
    "array": lambda labels: f"[{' '.join(labels)}]",
    "quotes": lambda labels: " ".join(f"'{label}'" for label in labels),
}
LIST_METRICS = sorted(
    metric.key for metric in metrics.catalogue() if any(p.name == SEPARATOR for p in metric.parameters)
)


def answers(write: Write, labels: Sequence[str] = LABELS) -> bytes:
    def cell(i: int, dice: random.Random) -> str:
        text = write(dice.sample(labels, dice.randint(1, 3)))
        return '"' + text.replace('"', '""') + '"'

    return split_table("id,y", cell)


def codes(key: str, truth: bytes, **params: object) -> dict[str, bool]:
    findings = metrics.check_truth(key, truth, params, is_quick=True).findings
    return {finding.code: finding.blocking for finding in findings if "list" in finding.code}


@pytest.mark.parametrize("key", LIST_METRICS)
def test_every_metric_of_lists_names_what_it_would_cut_elsewhere(key: str) -> None:
    assert codes(key, answers(" ".join)) == {}
    for separator, write in WITH_SEPARATOR.items():
        truth = answers(write)
        assert codes(key, truth) == {"list_separator": False}
        assert codes(key, truth, separator=separator.strip()) == {}
    for write in WRAPPED.values():
        assert codes(key, answers(write)) == {WRAPPED_LISTS: True}


@pytest.mark.parametrize("labels", [LABELS, NUMBERS], ids=["words", "numbers"])
@pytest.mark.parametrize("separator", WITH_SEPARATOR)
def test_the_separator_is_proposed_and_the_sample_has_a_whole_label(separator: str, labels: Sequence[str]) -> None:
    truth = answers(WITH_SEPARATOR[separator], labels)
    fits = {fit.key: fit for fit in metrics.suggest(truth)}
    first = next(iter(fits.values()))
    assert (first.fits, first.params[SEPARATOR]) == (True, separator.strip())
    assert all(fits[key].params[SEPARATOR] == separator.strip() for key in LIST_METRICS)
    prepared = metrics.prepare(first.key, truth, first.params)
    assert prepared.evaluate(prepared.perfect_submission()).overall == 1.0


@pytest.mark.parametrize("write", WRAPPED.values(), ids=WRAPPED)
def test_brackets_and_quotes_are_cured_by_one_rewriting(write: Write) -> None:
    for labels in (LABELS, NUMBERS, ("big cat", "dog", "newt")):
        truth = answers(write, labels)
        if " " in labels[0] and write is WRAPPED["array"]:
            continue  # nothing says where a label ends
        assert not any(fit.fits for fit in metrics.suggest(truth) if fit.key in LIST_METRICS)
        plain = write_plain_lists(truth, ["y"])
        first = next(iter(metrics.suggest(plain)))
        assert first.key in LIST_METRICS
        assert codes(first.key, plain, **first.params) == {}


def test_lists_that_are_partly_written_otherwise_are_named_with_their_line() -> None:
    truth = split_table("id,y", lambda i, dice: "cat;newt" if i == 7 else dice.choice(["cat dog", "dog newt"]))
    [finding] = [f for f in metrics.check_truth("multilabel_f1", truth).findings if f.code == "list_separator"]
    assert '"cat;newt"' in finding.message
    assert 'Write "cat newt"' in finding.message
    assert (finding.count, finding.blocking) == (1, False)
    assert finding.line is not None


@pytest.mark.parametrize(
    "mark", [" - ", "-", " / ", "/", " + ", " -> ", "\u2192", " \u2022 ", ":", "&", " > ", "\\n", "."]
)
def test_marks_between_the_labels_of_answers_are_named(mark: str) -> None:
    found = metrics.check_truth("multilabel_f1", answers(mark.join), is_quick=True).findings
    (finding,) = [one for one in found if "list" in one.code]
    assert mark in finding.message
    assert finding.message.count('"') >= 4


def test_a_list_that_is_scored_as_one_label_is_named() -> None:
    truth = answers(",".join)
    assert codes("accuracy", truth) == {"lists_as_labels": False}
    assert codes("accuracy", answers(lambda labels: labels[0])) == {}


@pytest.mark.parametrize(
    "cells",
    [
        ["A good day, and a long one.", "Nothing at all, as I have said before.", "Well, then we went home together."],
        ["Paris, France", "Rome, Italy", "Oslo, Norway"],
        ["1,5", "2,75", "13,5"],
    ],
    ids=["prose", "places", "decimal commas"],
)
def test_texts_with_commas_are_no_lists(cells: list[str]) -> None:
    truth = split_table("id,y", lambda i, dice: f'"{cells[i % 3]}"', 300)
    assert codes("accuracy", truth) == {} or cells[0] == "1,5"
    assert not any(fit.params.get(SEPARATOR) for fit in metrics.suggest(truth)[:1])


@pytest.mark.parametrize(
    ("key", "labels"),
    [
        ("accuracy", ["Cat", "cat", "dog"]),
        ("accuracy", ["01", "1", "02"]),
        ("f1", ["caf\u00e9", "cafe\u0301", "tea"]),
        ("multilabel_f1", ["Cat dog", "cat newt", "dog"]),
        ("map_at_k", ["007 x", "7 y", "x"]),
        ("accuracy", ["cat", "**cat**", "dog"]),
        ("accuracy", ["cat", "Answer: cat", "dog"]),
        ("accuracy", ["cat", "«cat»", "dog"]),
        ("accuracy", ["cat", "cat:0.9", "dog"]),
        ("accuracy", ["cat", "cat.", "dog"]),
        ("accuracy", ["1", "LABEL_1", "0"]),
        ("accuracy", ["A", "\u0410", "B"]),
        ("accuracy", ["New York", "NewYork", "Rome"]),
        ("accuracy", ["2026-03-15", "15.3.2026", "2026-03-16"]),
        ("f1", ["True", "PRAWDA", "False"]),
    ],
)
def test_labels_that_differ_only_in_case_zeros_or_accents_are_named(key: str, labels: list[str]) -> None:
    truth = split_table("id,y", lambda i, dice: dice.choice(labels))
    assert "similar_answers" in [finding.code for finding in metrics.check_truth(key, truth, is_quick=True).findings]


@pytest.mark.parametrize(("key", "cells"), [("accuracy", ["0.0", "1.0", "2.0"]), ("map_at_k", ["10.0 3.0", "3.0"])])
def test_whole_numbers_with_a_point_are_named(key: str, cells: list[str]) -> None:
    truth = split_table("id,y", lambda i, dice: dice.choice(cells))
    found = {finding.code: finding.message for finding in metrics.check_truth(key, truth, is_quick=True).findings}
    assert 'Write "' in found["labels_like_decimals"]
