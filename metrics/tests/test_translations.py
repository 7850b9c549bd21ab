"""Translations are judged as sacrebleu and the definitions do."""

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import metrics
from metrics.numerics.ngrams import characters_of, mteval_words, parted_words
from metrics.tests.answer_files import column, score

seeds = pytest.mark.parametrize("seed", range(5))
VOCABULARY = "the cat sat on a mat . , it's 3.5 10-fold e.g. (dog) & Straße の猫".split()  # noqa: SIM905
Runs = Counter[tuple[str, ...]]


def texts(seed: int, rows: int = 25) -> tuple[list[list[str]], list[str]]:
    """Two references and a guess for each row; some are empty, some repeat words."""
    dice = random.Random(seed)
    references = [[" ".join(dice.choices(VOCABULARY, k=dice.randint(1, 12))) for _ in range(2)] for _ in range(rows)]
    said = [[dice.choice([word, word, *VOCABULARY[:3]]) for word in dice.choice(two).split()] for two in references]
    return references, [" ".join(words) if dice.random() < 0.9 else "" for words in said]


def runs(pieces: Sequence[str], order: int) -> Runs:
    return Counter(tuple(pieces[start : start + order]) for start in range(len(pieces) - order + 1))


def bleu(references: list[list[str]], said: list[str], split: Callable[[str], Sequence[str]]) -> float:
    true, guesses = [[split(text) for text in some] for some in references], [split(text) for text in said]
    logs, halves = 0.0, 1
    for order in range(1, 5):
        shared = total = 0
        for some, guess in zip(true, guesses, strict=True):
            most: Runs = Counter()
            for reference in some:
                most |= runs(reference, order)
            found = runs(guess, order)
            shared, total = shared + (found & most).total(), total + found.total()
        if not total or (order == 1 and not shared):
            return 0.0
        halves = halves if shared else 2 * halves
        logs += math.log((shared or 1 / halves) / total) / 4
    nearest = [min((abs(len(t) - len(g)), len(t)) for t in some)[1] for some, g in zip(true, guesses, strict=True)]
    return 100 * math.exp(logs) * min(1.0, math.exp(1 - sum(nearest) / sum(map(len, guesses))))


SPLITS: dict[str, Callable[[str], Sequence[str]]] = {
    "13a": mteval_words,
    "words": str.split,
    "characters": characters_of,
}


@seeds
@pytest.mark.parametrize("tokens", SPLITS)
def test_bleu_equals_the_definition(tokens: str, seed: int) -> None:
    references, said = texts(seed)
    firsts = [some[0] for some in references]
    expected = bleu([[text] for text in firsts], said, SPLITS[tokens])
    assert score("bleu", firsts, said, tokens=tokens) == pytest.approx(expected, rel=1e-12)
    both = [" | ".join(some) for some in references]
    expected = bleu(references, said, SPLITS[tokens])
    assert score("bleu", both, said, tokens=tokens, references="|") == pytest.approx(expected, rel=1e-12)


def f_of(counts: Sequence[tuple[int, int, int]], beta: float) -> float:
    both = [(shared / said, shared / true) for shared, said, true in counts if said and true]
    precision, recall = (sum(pair[side] for pair in both) / max(len(both), 1) for side in (0, 1))
    under = beta**2 * precision + recall
    return 100 * (1 + beta**2) * precision * recall / under if under else 0.0


def all_runs(text: str, words: int) -> list[Runs]:
    characters = [runs(characters_of(text), order) for order in range(1, 7)]
    return characters + [runs(parted_words(text), order) for order in range(1, words + 1)]


def chrf(references: list[list[str]], said: list[str], words: int, beta: float) -> float:
    sums = [(0, 0, 0)] * (6 + words)
    for some, guess in zip(references, said, strict=True):
        options = []
        for reference in some:
            pairs = zip(all_runs(guess, words), all_runs(reference, words), strict=True)
            options.append([((g & t).total(), g.total() if t else 0, t.total()) for g, t in pairs])
        best = max(options, key=lambda counts: f_of(counts, beta))
        sums = [(a + d, b + e, c + f) for (a, b, c), (d, e, f) in zip(sums, best, strict=True)]
    return f_of(sums, beta)


@seeds
@pytest.mark.parametrize(("words", "beta"), [(0, 2.0), (2, 2.0), (1, 1.0)])
def test_chrf_equals_the_definition(words: int, beta: float, seed: int) -> None:
    references, said = texts(seed)
    firsts = [some[0] for some in references]
    expected = chrf([[text] for text in firsts], said, words, beta)
    assert score("chrf", firsts, said, words=words, beta=beta) == pytest.approx(expected, rel=1e-12)
    both = [" | ".join(some) for some in references]
    expected = chrf(references, said, words, beta)
    assert score("chrf", both, said, words=words, beta=beta, references="|") == pytest.approx(expected, rel=1e-12)


DOGS = [
    "The dog bit the man. | The dog had bit the man.",
    "It was not unexpected. | No one was surprised.",
    "The man bit him first. | The man had bitten the dog.",
]
SAID = ["The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."]


@pytest.mark.parametrize(
    ("key", "params", "expected"),
    [
        ("bleu", {}, 48.530827009929865),
        ("bleu", {"tokens": "characters", "lowercase": True}, 72.26568811456055),
        ("chrf", {}, 59.72751782684763),
        ("chrf", {"words": 2}, 59.15310444399262),
    ],
)
def test_the_example_of_sacrebleu_gets_what_sacrebleu_says(key: str, params: dict[str, Any], expected: float) -> None:
    assert score(key, DOGS, SAID, references="|", **params) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("key", ["bleu", "chrf"])
def test_a_perfect_file_has_the_first_reference_of_each_row(key: str) -> None:
    prepared = metrics.prepare(key, column(DOGS), {"references": "|"})
    assert b"had bit" not in prepared.perfect_submission()
    assert prepared.evaluate(prepared.perfect_submission()).overall == 100.0


@pytest.mark.parametrize(("key", "words"), [("bleu", "none of its answers has 4 words"), ("chrf", "answers are empty")])
def test_ada_is_told_of_references_that_are_too_short(key: str, words: str) -> None:
    with pytest.raises(metrics.GroundTruthError, match=words):
        metrics.prepare(key, column(["a b c"] if key == "bleu" else [""]))


@pytest.mark.parametrize("key", ["bleu", "chrf"])
def test_many_words_and_small_blocks_change_no_digit(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    references, said = texts(7, 60)
    both = [" | ".join(some) for some in references]
    whole = score(key, both, said, references="|")
    monkeypatch.setattr("metrics.numerics.ngrams._MOST_CODES", 50)
    monkeypatch.setattr("metrics.numerics.ngrams._PIECES", 30)
    assert score(key, both, said, references="|") == whole


def longest_common(one: Sequence[str], other: Sequence[str]) -> int:
    lengths = [0] * (len(other) + 1)
    for word in one:
        before = lengths[:]
        for place, guess in enumerate(other):
            lengths[place + 1] = before[place] + 1 if word == guess else max(before[place + 1], lengths[place])
    return lengths[-1]


def rouge(reference: str, said: str, beta: float) -> float:
    true, guess = (re.findall("[^\\W_]+", text.lower()) for text in (reference, said))
    if not true or not guess:
        return float(true == guess)
    common = longest_common(true, guess)
    recall, precision = common / len(true), common / len(guess)
    return (1 + beta**2) * precision * recall / (recall + beta**2 * precision) if common else 0.0


@seeds
@pytest.mark.parametrize("beta", [1.0, 1.5])
def test_rouge_l_equals_the_definition(beta: float, seed: int) -> None:
    references, said = texts(seed)
    both = [" | ".join(some) for some in references]
    values = [max(rouge(text, guess, beta) for text in some) for some, guess in zip(references, said, strict=True)]
    expected = sum(values) / len(values)
    assert score("rouge_l", both, said, beta=beta, references="|") == pytest.approx(expected, rel=1e-12)


# The example of the README of rouge-score.
def test_the_example_of_rouge_score_gets_what_it_says() -> None:
    truth, said = "The quick brown fox jumps over the lazy dog", "The quick brown dog jumps on the log."
    assert score("rouge_l", [truth], [said]) == pytest.approx(0.5882352941176471, rel=1e-12)
    assert score("rouge_l", ["the cat sat on the mat"], ["a cat on the mat"]) == pytest.approx(8 / 11, rel=1e-12)
    assert score("rouge_l", ["", "a", "!"], ["", "", "?"]) == pytest.approx(2 / 3)
