"""A file with no label like the sample's is refused; with some, it is scored and its author is told."""

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


NUMBERED = ANIMALS.replace(b"dog", b"1").replace(b"cat", b"0")
OTHERWISE = [
    (TRUTH, "TRUE FALSE TRUE FALSE TRUE"),
    (TRUTH, "true false true false true"),
    (TRUTH, "1 0 1 0 1"),
    (TRUTH, "1.0 0.0 1.0 0.0 1.0"),
    (TRUTH, "T F T F T"),
    (TRUTH, "yes no yes no yes"),
    (TRUTH, "ja nein ja nein ja"),
    (ANIMALS, "1 0 1 0 1"),
    (ANIMALS, "DOG CAT DOG CAT CAT"),
    (ANIMALS, "Dog Cat Dog Cat Cat"),
    (ANIMALS, "'dog' 'cat' 'dog' 'cat' 'cat'"),
    (ANIMALS, "['dog'] ['cat'] ['dog'] ['cat'] ['cat']"),
    (NUMBERED, "dog cat dog cat dog"),
    (NUMBERED, "True False True False True"),
    (NUMBERED, "0.81 0.13 0.77 0.23 0.91"),
    (NUMBERED, "[1] [0] [1] [0] [1]"),
    (ANIMALS.replace(b"dog", b"02").replace(b"cat", b"01"), "2 1 2 1 1"),
    (ANIMALS.replace(b"dog", b"class_02").replace(b"cat", b"class_01"), "class_2 class_1 class_2 class_1 class_1"),
]


@pytest.mark.parametrize(("truth", "cells"), OTHERWISE)
@pytest.mark.parametrize("key", ["accuracy", "f1", "multilabel_f1"])
def test_a_file_without_a_label_like_the_samples_is_refused_and_uses_no_attempt(
    key: str, truth: bytes, cells: str
) -> None:
    prepared = metrics.prepare(key, truth)
    with pytest.raises(metrics.SubmissionError) as refused:
        prepared.evaluate(file_of(cells))
    (problem,) = refused.value.problems
    assert (problem.code, problem.column, problem.line, problem.count) == ("foreign_labels", "y", 2, 5)
    assert f'"{cells.split()[0]}"' in problem.message
    with pytest.raises(metrics.SubmissionError) as checked:
        prepared.check(file_of(cells))
    assert checked.value.problems == refused.value.problems


def test_probabilities_with_decimal_commas_are_numbers_too() -> None:
    with pytest.raises(metrics.SubmissionError) as refused:
        metrics.prepare("accuracy", ANIMALS).check(file_of('"0,81" "0,13" "-0,77" "0,23" "1,0"'))
    assert 'Labels are texts: the file has the number "0,81"' in str(refused.value)


@pytest.mark.parametrize(("truth", "cells"), OTHERWISE)
@pytest.mark.parametrize("key", ["accuracy", "f1", "multilabel_f1", "map_at_k"])
def test_a_file_with_some_labels_like_the_samples_is_scored_and_bo_is_told_of_the_others(
    key: str, truth: bytes, cells: str
) -> None:
    if cells == "dog cat dog cat dog":
        return  # beside numbers a text may be a label
    prepared = metrics.prepare(key, truth)
    sample = prepared.constant_prediction[0]
    mixed = file_of(" ".join([sample, *cells.split()[1:]]))
    (warning,) = prepared.evaluate(mixed).warnings
    assert (warning.code, warning.column, warning.count) == ("foreign_labels", "y", 4)
    assert f'"{cells.split()[1]}"' in warning.message
    assert prepared.check(mixed) == (warning,)


@pytest.mark.parametrize("key", ["accuracy", "f1", "multilabel_f1"])
def test_labels_that_only_look_otherwise_are_scored_and_bo_is_told(key: str) -> None:
    prepared = metrics.prepare(key, ANIMALS)
    (warning,) = prepared.evaluate(file_of("class_1 class_0 class_1 class_0 class_0")).warnings
    assert (warning.code, warning.column) == ("foreign_labels", "y")
    for label in ("dog", "cat"):
        assert f'"{label}"' not in warning.message


@pytest.mark.parametrize(
    ("truth", "cells"),
    [
        (TRUTH, "False True False True True"),
        (TRUTH, "True True True True True"),  # nobody knows the sample's label alone
        (ANIMALS, "bird bird bird bird bird"),
        (ANIMALS, "none cat none dog dog"),
        (NUMBERED, "1.0 .5 0.0 1. 2"),
        (NUMBERED, "1 0 other 1 other"),
        (ANIMALS.replace(b"dog", b"A-").replace(b"cat", b"A"), "A A- A+ B A"),
    ],
)
def test_labels_like_the_samples_are_no_reason_to_say_anything(truth: bytes, cells: str) -> None:
    prepared = metrics.prepare("accuracy", truth)
    assert prepared.evaluate(file_of(cells)).warnings == prepared.check(file_of(cells)) == ()


SETS_OF_LABELS = [
    ("accuracy", {}, ["Germany", "USA", "France", "UK"]),
    ("f1", {}, ["pop", "rock", "R&B", "Hip-Hop", "EDM"]),
    ("balanced_accuracy", {}, ["café", "Müller", "naïve"]),
    ("accuracy", {}, ["T-shirt/top", "Trouser", "Ankle boot"]),
    ("error_rate", {}, ["A1", "B2", "7b"]),
    ("cohen_kappa", {}, ["none", "Mild", "Severe"]),
    ("accuracy", {}, ["c-MYC", "TP53", "Shh", "Paris (Texas)"]),
    ("multilabel_f1", {"separator": "|"}, ["Action", "Sci-Fi", "IMAX", "(no genres listed)"]),
    ("jaccard", {"separator": ";"}, ["New York", "Rome", "R&D, Sales", "a|b"]),
    ("map_at_k", {"k": 3}, ["B00X1", "0012AB", "b0c7"]),
    ("global_average_precision", {}, ["Big_Ben", "UN_HQ", "eiffel"]),
]


@pytest.mark.parametrize(("key", "params", "labels"), SETS_OF_LABELS)
def test_labels_in_several_forms_are_no_reason_to_say_anything(
    key: str, params: dict[str, str], labels: list[str]
) -> None:
    between = params.get("separator") or " "
    cells = [[one, between.join([one, other])]["separator" in params] for one in labels for other in labels]
    confidence = " 0.5" if key == "global_average_precision" else ""

    def written(rows: list[str], after: str = "") -> bytes:
        return ("id,y\n" + "".join(f'{number},"{cell}{after}"\n' for number, cell in enumerate(rows))).encode()

    prepared = metrics.prepare(key, written(cells), params)
    for rows in (cells, cells[::-1], [labels[-1]] * len(cells)):
        assert not [one for one in prepared.check(written(rows, confidence)) if one.count > 1]


def test_a_file_of_very_many_labels_is_not_looked_through_to_its_end() -> None:
    rows = range(30_000)
    truth = metrics.prepare("accuracy", ("id,y\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in rows)).encode())
    cells = ("a", *(f"class_{i}" for i in rows[1:]))
    assert truth.check(("id,y\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells))).encode()) == ()


def test_clusters_may_have_any_names_but_each_only_one() -> None:
    truth = metrics.prepare("adjusted_rand", ANIMALS)
    assert truth.evaluate(file_of("1 0 1.0 0 1")).warnings == ()
    (warning,) = truth.evaluate(file_of("Pond pond Pond lake lake")).warnings
    assert warning.count == 1


def told(truth: metrics.Truth, data: bytes) -> list[metrics.Problem]:
    try:
        return list(truth.evaluate(data).warnings)
    except metrics.SubmissionError as refused:
        return refused.problems


def test_what_is_said_of_labels_follows_from_their_form_and_not_from_the_truth() -> None:
    one = metrics.prepare("accuracy", TRUTH)
    for label in (b"Other", b"Maybe", b"Zebra"):
        other = metrics.prepare("accuracy", TRUTH.replace(b"True", label))
        assert other.sample_submission() == one.sample_submission()
        for _, cells in OTHERWISE:
            assert told(other, file_of(cells)) == told(one, file_of(cells))


def test_at_home_the_warning_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, data in (("truth.csv", TRUTH), ("mine.csv", file_of("False 0 1 0 1"))):
        (tmp_path / name).write_bytes(data)
    call = ["score", "accuracy", str(tmp_path / "truth.csv"), str(tmp_path / "mine.csv")]
    assert main(call) == 0
    assert "Warning: 4 values of" in capsys.readouterr().out
    assert main([*call, "--json"]) == 0
    assert [one["code"] for one in json.loads(capsys.readouterr().out)["warnings"]] == ["foreign_labels"]


@pytest.mark.parametrize(
    ("labels", "cells"),
    [
        ("USA Germany France Italy", "USA germany france Italy"),
        ("USA Germany France Italy", "USA germany france italy"),
        ("A1 B2 C3 D4", "a1 b2 c3 D4"),
    ],
)
def test_one_other_case_is_told_also_among_labels_of_several_cases(labels: str, cells: str) -> None:
    truth = metrics.prepare("accuracy", file_of(labels))
    assert truth.evaluate(file_of(labels)).warnings == ()
    (warning,) = truth.evaluate(file_of(cells)).warnings
    assert "Upper and lower case differ" in warning.message


@pytest.mark.parametrize("labels", ["A1 7b 10 3c 10 7b", "A1 A2 10 B1 C4", "men’s women’s kids", "a—b c—d e"])
def test_a_number_among_mixed_labels_and_signs_of_word_processors_are_no_fault(labels: str) -> None:
    truth = metrics.prepare("accuracy", file_of(labels))
    plain = labels.translate({0x2019: "'", 0x2014: "-"})
    for cells in (labels, plain):
        result = truth.evaluate(file_of(cells))
        assert (result.overall, result.warnings) == (1, ())


@pytest.mark.parametrize("key", ["accuracy", "f1", "multiclass_log_loss"])
def test_a_label_of_invisible_characters_is_missing(key: str) -> None:
    rows = "id,y\n1,cat\n2,dog\n3,\u200b\n".encode()
    with pytest.raises(metrics.GroundTruthError, match="missing"):
        metrics.prepare(key, rows)
    if key != "multiclass_log_loss":
        with pytest.raises(metrics.SubmissionError, match="missing"):
            metrics.prepare(key, rows.replace("\u200b".encode(), b"cat")).evaluate(rows)


JOINED_LISTS = ["cat dog", "dog", "cat", "cat emu dog", "emu", "dog emu"]


def lists_of(cells: list[str]) -> bytes:
    return ("id,y\n" + "".join(f'{place},"{cell}"\n' for place, cell in enumerate(cells))).encode()


@pytest.mark.parametrize("key", ["multilabel_f1", "map_at_k", "jaccard", "ndcg_at_k"])
@pytest.mark.parametrize(
    "word", ["and", "und", "et", "y", "e", "en", "och", "i", "и", "sowie", "-", "/", "\u2022", "->"]
)
def test_words_between_the_items_of_lists_are_told(key: str, word: str) -> None:
    truth = metrics.prepare(key, lists_of(JOINED_LISTS))
    for cells in (
        [f" {word} ".join(cell.split()) for cell in JOINED_LISTS],
        [f" {word} ".join(cell.rsplit(" ", 1)) for cell in JOINED_LISTS],
        [*JOINED_LISTS[:3], f"cat emu {word} dog", *JOINED_LISTS[4:]],
    ):
        (warning,) = truth.evaluate(lists_of(cells)).warnings
        assert f" {word} " in warning.message
        found = {one.code: one for one in metrics.check_truth(key, lists_of(cells)).findings}
        assert f" {word} " in found["joined_lists"].message
    assert truth.evaluate(lists_of(JOINED_LISTS)).warnings == ()


@pytest.mark.parametrize("cells", ["a e i,e,a i,i e a,a,e i", "and so,so and so,and,so,so,and", "x y z,y,x z,y,z,x"])
def test_labels_that_are_such_words_are_no_fault(cells: str) -> None:
    file = lists_of(cells.split(","))
    assert metrics.evaluate("multilabel_f1", file, file).warnings == ()
    assert "joined_lists" not in {one.code for one in metrics.check_truth("multilabel_f1", file).findings}


@pytest.mark.parametrize("word", ["and", "und", "y"])
def test_words_in_lists_with_a_separator_are_told(word: str) -> None:
    lists = ["red;dark blue", "dark blue", "red", "green;red", "green;red;dark blue"]
    truth = metrics.prepare("multilabel_f1", lists_of(lists), {"separator": ";"})
    for file in (
        [f" {word} ".join(cell.split(";")) for cell in lists],
        [f"; {word} ".join(cell.rsplit(";", 1)).replace(f"; {word}", f" {word}") for cell in lists],
    ):
        assert truth.evaluate(lists_of(file)).warnings, file


@pytest.mark.parametrize(
    ("truth", "file"),
    [
        ("it\u2019s a dog", "it's a dog"),
        ("\u201cnever\u201d he said", "'never' he said"),
        ("a dog \u2013 a cat", "a dog - a cat"),
        ("«never» he said", '""never"" he said'),
        ("„never“ he said", "«never» he said"),
        ("« never » he said", "\u201cnever\u201d he said"),
        ("it's a dog", "it`s a dog"),
        ("it's a dog", "it´s a dog"),
        ("it's a dog", "it\u2019s a dog"),
    ],
)
@pytest.mark.parametrize("key", ["levenshtein", "word_jaccard", "bleu"])
def test_quotes_and_dashes_in_the_other_form_are_told(key: str, truth: str, file: str) -> None:
    prepared = metrics.prepare(key, lists_of([truth, "a cat sat there"]))
    if '"' not in truth and ("'" in file) == ("\u2019" in truth):
        (warning,) = prepared.evaluate(lists_of([file, "a cat sat there"])).warnings
        assert "look alike" in warning.message
    assert prepared.evaluate(lists_of([truth, "a cat sat there"])).warnings == ()


@pytest.mark.parametrize("mark", ["::", "!", "\\n", "/", "&", *"-_:\u00b7\u2022\\", "->", " or ", " oder "])
def test_other_marks_between_labels_are_told(mark: str) -> None:
    truth = metrics.prepare("multilabel_f1", lists_of(JOINED_LISTS))
    assert truth.evaluate(lists_of([mark.join(cell.split()) for cell in JOINED_LISTS])).warnings


def test_a_word_in_front_of_a_label_and_an_underscore_for_a_space_are_told() -> None:
    lists = ["red,dark blue", "dark blue", "red", "green,red", "green,red,dark blue"]
    truth = metrics.prepare("jaccard", lists_of(lists), {"separator": ","})
    assert truth.evaluate(lists_of(lists)).warnings == ()
    assert truth.evaluate(lists_of([", and ".join(cell.rsplit(",", 1)) for cell in lists])).warnings
    labels = ["New York", "Rome", "Paris", "Oslo"]
    found = metrics.evaluate("accuracy", lists_of(labels), lists_of([one.replace(" ", "_") for one in labels]))
    assert "Words are joined in another way" in found.warnings[0].message
