"""Metrics of texts equal the definitions, written down slowly, whatever the texts hold."""

import random
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

import metrics
from metrics.tests.answer_files import column, score

seeds = pytest.mark.parametrize("seed", range(8))
PIECES = ["the", "The", "a", "an", "cat", "CAT,", "Straße", "STRASSE", "é", "ê", "😀", "x-1", "the–end", "İ", "Σ"]
SPACES = [" ", " ", "  ", "\t", "\n", "\u2003"]


def texts_of(seed: int) -> tuple[list[str], list[str]]:
    """Few and many words, odd letters and spaces, repeats, empty texts and one long one."""
    dice = random.Random(seed)

    def text() -> str:
        count = dice.choice((0, 1, 2, 5, 9))
        return "".join(dice.choice(PIECES) + dice.choice(SPACES) for _ in range(count)).strip()

    truth = ["some text", *(text() for _ in range(dice.choice((1, 5, 40))))]
    if seed == 3:
        truth[0] = "the cat " * 60 + "end"
    said = [
        one if dice.random() < 0.3 else " ".join(one.split()[1:]) if dice.random() < 0.5 else text() for one in truth
    ]
    return truth, said


def distance(one: Sequence[str], other: Sequence[str]) -> int:
    """The whole table, cell by cell."""
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one) + 1):
        for j in range(len(other) + 1):
            if i == 0 or j == 0:
                table[i][j] = i + j
            else:
                changed = table[i - 1][j - 1] + (one[i - 1] != other[j - 1])
                table[i][j] = min(changed, table[i - 1][j] + 1, table[i][j - 1] + 1)
    return table[-1][-1]


@seeds
@pytest.mark.parametrize("normalised", [False, True])
def test_levenshtein_is_the_mean_of_the_distances(normalised: bool, seed: int) -> None:
    truth, said = texts_of(seed)
    values = [distance(t, p) / (max(len(t), len(p), 1) if normalised else 1) for t, p in zip(truth, said, strict=True)]
    assert score("levenshtein", truth, said, normalised=normalised) == pytest.approx(np.mean(values), rel=1e-12)


@seeds
@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize(("key", "by_word"), [("character_error_rate", False), ("word_error_rate", True)])
def test_error_rates_are_all_changes_by_all_that_is_true(key: str, by_word: bool, lowercase: bool, seed: int) -> None:
    sides: list[list[Sequence[str]]] = []
    truth, said = texts_of(seed)
    for side in (truth, said):
        folded = [text.lower() if lowercase else text for text in side]
        sides.append([text.split() if by_word else text for text in folded])
    changes = sum(distance(t, p) for t, p in zip(*sides, strict=True))
    assert score(key, truth, said, lowercase=lowercase) == changes / sum(map(len, sides[0]))


def squad_words(text: str, lowercase: bool, normalise: bool) -> Counter[str]:
    text = text.lower() if lowercase else text
    if normalise:
        text = "".join(character for character in text if character not in set(string.punctuation))
        text = re.sub(r"\b(a|an|the)\b", " ", text)
    return Counter(text.split())


def overlap(true: Counter[str], said: Counter[str]) -> float:
    if not true or not said:
        return float(true == said)
    both = sum((true & said).values())
    if not both:
        return 0.0
    precision, recall = both / sum(said.values()), both / sum(true.values())
    return 2 * precision * recall / (precision + recall)


@seeds
@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize("lowercase", [False, True])
def test_token_f1_is_the_overlap_of_bags_of_words(lowercase: bool, normalise: bool, seed: int) -> None:
    truth, said = texts_of(seed)
    values = [
        overlap(squad_words(t, lowercase, normalise), squad_words(p, lowercase, normalise))
        for t, p in zip(truth, said, strict=True)
    ]
    found = score("token_f1", truth, said, lowercase=lowercase, normalise=normalise)
    assert found == pytest.approx(np.mean(values), rel=1e-12)


def test_the_worked_numbers_of_the_pages() -> None:
    cats = ["the cat sat on the mat"], ["the cat the dog"]
    assert score("token_f1", *cats) == 0.6
    assert score("token_f1", *cats, normalise=True) == pytest.approx(1 / 3)
    assert score("levenshtein", ["kitten"], ["sitting"]) == 3.0
    assert score("levenshtein", ["kitten"], ["sitting"], normalised=True) == pytest.approx(3 / 7)
    assert score("character_error_rate", ["hi"], ["hello there"]) == 5.0
    assert score("word_error_rate", ["hi"], ["hello to you all"]) == 4.0


def test_a_letter_with_an_accent_is_one_letter_however_it_is_written() -> None:
    composed, decomposed = (unicodedata.normalize(form, "Nguyễn é") for form in ("NFC", "NFD"))
    assert len(composed) < len(decomposed)
    for key in ("levenshtein", "character_error_rate", "word_error_rate"):
        assert score(key, [composed], [decomposed]) == score(key, [decomposed], [composed]) == 0.0
    for key in ("token_f1", "word_jaccard", "coleridge_fbeta", "exact_match", "map_at_k", "accuracy"):
        assert score(key, [composed], [decomposed]) == score(key, [decomposed], [composed]) == 1.0
    assert score("levenshtein", ["😀"], ["😀😀"]) == 1.0


@pytest.mark.parametrize("key", ["character_error_rate", "word_error_rate"])
def test_rates_without_true_text_are_the_hosts_error(key: str) -> None:
    with pytest.raises(metrics.GroundTruthError, match="cannot be scored: all its answers are empty"):
        metrics.prepare(key, column(["", ""]))
    with pytest.raises(metrics.GroundTruthError, match="The public part"):
        metrics.prepare(key, b"id,y,Usage\n1,,Public\n2,a,Private\n")
    assert score(key, ["", "ab"], ["c", ""]) == (1.5 if key == "character_error_rate" else 2.0)
    assert score(key, ["ab"], [""]) == 1.0


@pytest.mark.parametrize("key", ["levenshtein", "token_f1", "character_error_rate", "word_error_rate"])
def test_long_texts_among_short_ones(key: str) -> None:
    long = "word " * 12_000
    truth, said = [long.strip(), *["a b"] * 500], [long.strip() + " end", *(f"a {row}" for row in range(500))]
    expected = {
        "levenshtein": (4 + sum(len(str(row)) for row in range(500))) / 501,
        "token_f1": (24_000 / 24_001 + 250) / 501,
        "character_error_rate": (4 + sum(len(str(row)) for row in range(500))) / (59_999 + 1_500),
        "word_error_rate": 501 / 13_000,
    }
    assert score(key, truth, said) == pytest.approx(expected[key], rel=1e-12)


@pytest.mark.parametrize("size", [1, 3])
def test_bags_are_compared_alike_in_blocks_of_any_size(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, said = texts_of(2)
    whole = score("token_f1", truth, said)
    monkeypatch.setattr("metrics.numerics.tokens._BLOCK", size)
    assert score("token_f1", truth, said) == whole


def test_more_words_than_characters_are_compared_as_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, said = texts_of(4)
    whole = score("word_error_rate", truth, said)
    for surrogates, most in ((3, 0x110000), (0xD800, 0x800 + 3)):
        monkeypatch.setattr("metrics.numerics.tokens._SURROGATES", surrogates)
        monkeypatch.setattr("metrics.numerics.tokens._MOST", most)
        assert score("word_error_rate", truth, said) == whole


def test_very_many_different_words() -> None:
    truth = [f"w{row} x{row}" for row in range(40_000)]
    said = [f"w{row} {'x' if row % 4 else 'y'}{row}" for row in range(40_000)]
    assert score("word_error_rate", truth, said) == 0.125
