"""Files that err together: a copy is found among honest files, and chance alone names nobody."""

import numpy as np
import pytest

from metrics.checks.similar_predictions import find_similar_predictions

ROWS = 400


def truth_of(labels: np.ndarray) -> bytes:
    lines = (f"{i},{label},{'Public' if i % 2 else 'Private'}" for i, label in enumerate(labels))
    return ("id,label,Usage\n" + "\n".join(lines) + "\n").encode()


def file_of(labels: np.ndarray) -> bytes:
    return ("id,label\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels))).encode()


def honest(chance: np.random.Generator, labels: np.ndarray, hard: np.ndarray, share: float, classes: int) -> np.ndarray:
    """Errs more often where a row is hard, on its own."""
    errs = chance.random(ROWS) < np.clip(share * hard, 0, 0.95)
    return np.where(errs, (labels + chance.integers(1, classes, ROWS)) % classes, labels)


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("seed", range(4))
def test_a_copy_with_changes_is_found_and_nobody_else_is(classes: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    labels, hard = chance.integers(0, classes, ROWS), chance.exponential(1.0, ROWS)
    files = [honest(chance, labels, hard, share, classes) for share in np.linspace(0.08, 0.35, 20)]
    changed = chance.random(ROWS) < 0.1
    files.append(np.where(changed, labels, files[15]))
    found = find_similar_predictions("accuracy", truth_of(labels), [file_of(file) for file in files])
    assert (found.rows, found.files) == (ROWS, 21)
    assert [(pair.first, pair.second) for pair in found.pairs] == [(15, 20)]
    assert found.pairs[0].same_wrong > 3 * found.pairs[0].expected or classes == 2


@pytest.mark.parametrize("seed", range(6))
def test_chance_alone_names_nobody(seed: int) -> None:
    chance = np.random.default_rng(100 + seed)
    labels, hard = chance.integers(0, 3, ROWS), chance.exponential(1.0, ROWS)
    files = [honest(chance, labels, hard, share, 3) for share in np.linspace(0.05, 0.6, 30)]
    assert find_similar_predictions("accuracy", truth_of(labels), [file_of(file) for file in files]).pairs == ()


def test_equal_numbers_count_however_they_are_written_and_other_numbers_do_not() -> None:
    chance = np.random.default_rng(1)
    labels = chance.normal(size=ROWS)
    files = [labels + chance.normal(size=ROWS) for _ in range(6)]
    written = [file_of(file) for file in files]
    written.append(("id,label\n" + "".join(f"{i},{value:.17e}\n" for i, value in enumerate(files[2]))).encode())
    found = find_similar_predictions("rmse", truth_of(labels), written)
    assert [(pair.first, pair.second, pair.same_wrong) for pair in found.pairs] == [(2, 6, ROWS)]


def test_files_that_cannot_be_read_are_left_out_and_keep_the_places_of_the_others() -> None:
    chance = np.random.default_rng(2)
    labels = chance.integers(0, 3, ROWS)
    one = honest(chance, labels, np.ones(ROWS), 0.3, 3)
    found = find_similar_predictions(
        "accuracy", truth_of(labels), [b"nonsense", file_of(one), b"id,label\n", file_of(one)]
    )
    assert found.files == 2
    assert [(pair.first, pair.second) for pair in found.pairs] == [(1, 3)]
    assert find_similar_predictions("accuracy", truth_of(labels), [file_of(one)]).pairs == ()


def test_of_a_long_file_a_part_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metrics.checks.similar_predictions.ROWS", 50)
    labels = np.random.default_rng(3).integers(0, 3, ROWS)
    assert find_similar_predictions("accuracy", truth_of(labels), [file_of(labels)]).rows == 50


def estimates(seed: int, files: int = 12) -> tuple[np.ndarray, list[np.ndarray]]:
    """Noisy answers, and honest files of all kinds of skill: each leans towards the mean and errs on its own."""
    chance = np.random.default_rng(seed)
    signal = chance.normal(size=ROWS)
    answers = signal + 0.5 * chance.normal(size=ROWS)
    skills = np.linspace(0.2, 1.0, files)
    return answers, [skill * signal + (0.2 + 0.3 * skill) * chance.normal(size=ROWS) for skill in skills]


@pytest.mark.parametrize("seed", range(5))
def test_numbers_copied_with_noise_are_found_and_nobody_else_is(seed: int) -> None:
    answers, files = estimates(seed)
    noise = np.random.default_rng(50 + seed).normal(size=ROWS)
    files.append(1.05 * files[7] + 0.02 * noise)
    found = find_similar_predictions("rmse", truth_of(answers), [file_of(file) for file in files])
    assert found.pairs == ()
    assert [(one.first, one.second) for one in found.correlated_pairs] == [(7, 12)]
    (pair,) = found.correlated_pairs
    assert pair.correlation > 0.95 > 0.5 > pair.usual


@pytest.mark.parametrize("seed", range(20, 30))
def test_numbers_of_honest_files_go_together_with_nobodys(seed: int) -> None:
    answers, files = estimates(seed)
    files[3][0] = 1e9
    files += [np.full(ROWS, 0.1), np.full(ROWS, 0.2)]
    assert find_similar_predictions("rmse", truth_of(answers), [file_of(file) for file in files]).correlated_pairs == ()


def test_four_files_do_not_say_what_is_usual_and_labels_are_no_numbers() -> None:
    answers, files = estimates(1, files=3)
    written = [file_of(file) for file in (*files, files[0])]
    assert find_similar_predictions("rmse", truth_of(answers), written).correlated_pairs == ()
    labels = np.random.default_rng(1).integers(0, 3, ROWS)
    assert find_similar_predictions("accuracy", truth_of(labels), [file_of(labels)] * 6).correlated_pairs == ()
