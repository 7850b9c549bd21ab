"""A file whose labels are written otherwise than the sample's is scored, and its author is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import metrics
from metrics.__main__ import main

TRUTH = b"id,y,Usage\n1,True,Public\n2,False,Public\n3,True,Private\n4,False,Private\n5,True,Ignored\n"
ANIMALS = TRUTH.replace(b"True", b"dog").replace(b"False", b"cat")


def file_of(cells: str, column: str = "y") -> bytes:
    rows = (f"{number},{cell}\n" for number, cell in enumerate(cells.split(), start=1))
    return (f"id,{column}\n" + "".join(rows)).encode()


OTHERWISE = [
    (TRUTH, "TRUE FALSE TRUE FALSE TRUE"),
    (TRUTH, "true false true false true"),
    (TRUTH, "1 0 1 0 1"),
    (TRUTH, "T F T F T"),
    (ANIMALS, "1 0 1 0 1"),
    (ANIMALS, "class_1 class_0 class_1 class_0 class_0"),
    (ANIMALS, "DOG CAT DOG CAT CAT"),
    (ANIMALS.replace(b"dog", b"1").replace(b"cat", b"0"), "dog cat dog cat dog"),
]


@pytest.mark.parametrize(("truth", "cells"), OTHERWISE)
@pytest.mark.parametrize("key", ["accuracy", "f1", "multilabel_f1"])
def test_labels_that_no_answer_can_equal_score_nothing_and_bo_is_told(key: str, truth: bytes, cells: str) -> None:
    prepared = metrics.prepare(key, truth)
    result = prepared.evaluate(file_of(cells))
    assert (result.public, result.private) == (0.0, 0.0)
    (warning,) = result.warnings
    assert (warning.code, warning.column) == ("foreign_labels", "y")
    assert f'"{cells.split()[0]}"' in warning.message
    for label in ("True", "False", "dog", "cat"):
        assert f'"{label}"' not in warning.message or label in cells.split()
    assert prepared.check(file_of(cells)) == result.warnings


@pytest.mark.parametrize(
    ("truth", "cells"),
    [
        (TRUTH, "False True False True True"),
        (TRUTH, "True True True True True"),  # nobody knows the sample's label alone
        (TRUTH, "False 1 0 1 0"),
        (ANIMALS, "bird bird bird bird bird"),
        (ANIMALS.replace(b"dog", b"1").replace(b"cat", b"0"), "1.0 .5 0.0 1. 2"),
    ],
)
def test_labels_like_the_samples_are_no_reason_to_say_anything(truth: bytes, cells: str) -> None:
    prepared = metrics.prepare("accuracy", truth)
    assert prepared.evaluate(file_of(cells)).warnings == prepared.check(file_of(cells)) == ()


def test_a_file_without_classes_is_not_looked_through_to_its_end() -> None:
    rows = range(3000)
    truth = metrics.prepare("accuracy", ("id,y\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in rows)).encode())
    assert truth.check(("id,y\n" + "".join(f"{i},{i}\n" for i in rows)).encode()) == ()


def test_clusters_lists_and_texts_may_have_any_names() -> None:
    for key in ("adjusted_rand", "map_at_k", "word_jaccard"):
        assert metrics.prepare(key, ANIMALS).evaluate(file_of("1 0 1 0 1")).warnings == ()


def test_what_is_said_of_labels_follows_from_the_sample_and_not_from_the_truth() -> None:
    one = metrics.prepare("accuracy", TRUTH)
    for labels in ((b"Other", b"False"), (b"TRUE", b"False"), (b"1", b"False"), (b"zebra", b"False")):
        other = metrics.prepare("accuracy", TRUTH.replace(b"True", labels[0]))
        if other.sample_submission() != one.sample_submission():
            continue
        for _, cells in OTHERWISE:
            assert other.check(file_of(cells)) == one.check(file_of(cells))
            assert other.evaluate(file_of(cells)).warnings == one.evaluate(file_of(cells)).warnings


def test_at_home_the_warning_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, data in (("truth.csv", TRUTH), ("mine.csv", file_of("1 0 1 0 1"))):
        (tmp_path / name).write_bytes(data)
    call = ["score", "accuracy", str(tmp_path / "truth.csv"), str(tmp_path / "mine.csv")]
    assert main(call) == 0
    assert "Warning: No label of" in capsys.readouterr().out
    assert main([*call, "--json"]) == 0
    assert [one["code"] for one in json.loads(capsys.readouterr().out)["warnings"]] == ["foreign_labels"]
