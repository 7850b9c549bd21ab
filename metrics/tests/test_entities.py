"""Entities of tagged sentences are those that the script of CoNLL finds, and are averaged as scikit-learn would."""

import random
from collections import Counter

import pytest

import metrics
from metrics.tests.answer_files import column, score

Entity = tuple[int, int, str]


def starts(before: str, tag: str) -> bool:
    """Whether a chunk begins, as `startOfChunk` of conlleval says."""
    mark, was = tag[0], before[0]
    if mark in "BS" or (mark in "EI" and was in "ESO"):
        return True
    return mark != "O" and before[2:] != tag[2:]


def ends(before: str, tag: str) -> bool:
    """Whether a chunk has ended before a tag, as `endOfChunk` of conlleval says."""
    mark, was = tag[0], before[0]
    if was in "ES" or (was in "BI" and mark in "BSO"):
        return True
    return was != "O" and before[2:] != tag[2:]


def chunks(tags: list[str]) -> set[Entity]:
    found, start, before = set(), 0, "O"
    for place, tag in enumerate([*tags, "O"]):
        if ends(before, tag) and before != "O":
            found.add((start, place - 1, before[2:]))
        if starts(before, tag):
            start = place
        before = tag
    return found


def strict_chunks(tags: list[str]) -> set[Entity]:
    found = set()
    for place, tag in enumerate(tags):
        if tag[0] == "B":
            end = place + 1
            while end < len(tags) and tags[end] == f"I{tag[1:]}":
                end += 1
            found.add((place, end - 1, tag[2:]))
    return found


def f1(tp: int, fp: int, fn: int) -> float:
    return 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 1.0


@pytest.mark.parametrize("scheme", ["lenient", "strict"])
@pytest.mark.parametrize("seed", range(5))
def test_it_equals_the_definition(seed: int, scheme: str) -> None:
    dice = random.Random(seed)
    tags = ["O", "O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-X-1"]
    tags += ["E-PER", "S-LOC", "I-ORG"] if scheme == "lenient" else []
    truth = [dice.choices(tags, k=dice.randint(0, 9)) for _ in range(30)]
    said = [[tag if dice.random() < 0.7 else dice.choice(tags) for tag in line] for line in truth]
    said[3] += ["B-PER"]
    find = chunks if scheme == "lenient" else strict_chunks
    counts: dict[str, Counter[str]] = {}
    for true, guess in zip(map(find, truth), map(find, said), strict=True):
        for kind, some in (("tp", true & guess), ("fp", guess - true), ("fn", true - guess)):
            for _, _, name in some:
                counts.setdefault(name, Counter())[kind] += 1
    values = {name: f1(one["tp"], one["fp"], one["fn"]) for name, one in counts.items()}
    weights = {name: one["tp"] + one["fn"] for name, one in counts.items()}
    whole = sum(counts.values(), Counter[str]())
    expected = {
        "micro": f1(whole["tp"], whole["fp"], whole["fn"]),
        "macro": sum(values.values()) / len(values),
        "weighted": sum(values[name] * weights[name] for name in values) / sum(weights.values()),
    }
    cells = [[" ".join(line) for line in side] for side in (truth, said)]
    for average, value in expected.items():
        assert score("entity_f1", *cells, average=average, scheme=scheme) == pytest.approx(value, rel=1e-12)


# The example of the README of seqeval 1.2.2.
def test_the_example_of_seqeval_gets_what_it_says() -> None:
    truth = ["O O O B-MISC I-MISC I-MISC O", "B-PER I-PER O"]
    said = ["O O B-MISC I-MISC I-MISC I-MISC O", "B-PER I-PER O"]
    assert score("entity_f1", truth, said) == 0.5


def test_nothing_to_find_and_nothing_found_is_right() -> None:
    for average in ("micro", "macro", "weighted"):
        assert score("entity_f1", ["O O", ""], ["O", "O"], average=average) == 1.0
        assert score("entity_f1", ["O O"], ["B-PER O"], average=average) == 0.0
    assert metrics.prepare("entity_f1", column(["B I O"])).evaluate(column(["B I O"]), uncertainty=True).overall == 1.0


def test_other_writings_of_tags_are_refused_in_a_truth_and_told_in_a_file() -> None:
    for cell in ("['B-PER', 'O']", "B-PER,O", "b-PER O", "B_PER O"):
        with pytest.raises(metrics.GroundTruthError, match="is no tag such as"):
            metrics.prepare("entity_f1", column(["B-PER O", cell]))
        found = metrics.prepare("entity_f1", column(["B-PER O", "O O"])).evaluate(column(["B-PER O", cell]))
        assert [warning.code for warning in found.warnings] == ["hint"]
    with pytest.raises(metrics.GroundTruthError, match='"S-PER" is no tag'):
        metrics.prepare("entity_f1", column(["S-PER O"]), {"scheme": "strict"})
    assert metrics.prepare("entity_f1", column(["B-PER O"])).evaluate(column(["O I"])).warnings == ()
