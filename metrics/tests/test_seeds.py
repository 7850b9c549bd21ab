"""The numbers printed in the seed documents, to the digit; and the question that seed 003 left open."""

import pytest

import metrics

LABEL_COUNTS = {
    "scab": 4826,
    "healthy": 4624,
    "frog_eye_leaf_spot": 3181,
    "rust": 1860,
    "complex": 1602,
    "powdery_mildew": 1184,
    "scab frog_eye_leaf_spot": 686,
    "scab frog_eye_leaf_spot complex": 200,
    "frog_eye_leaf_spot complex": 165,
    "rust frog_eye_leaf_spot": 120,
    "rust complex": 97,
    "powdery_mildew complex": 87,
}
ALL_SEVEN = "cider_apple_rust complex frog_eye_leaf_spot healthy powdery_mildew rust scab"


def column(*cells: object) -> bytes:
    return ("id,y\n" + "".join(f'r{row},"{cell}"\n' for row, cell in enumerate(cells))).encode()


@pytest.mark.parametrize(
    ("truth", "prediction", "value"),
    [
        ("nocall|ameavo", "nocall|ameavo", 1.0),
        ("nocall|ameavo", "amebit|amebit", 0.0),
        ("nocall|ameavo", "nocall|amebit", 0.5),
        ("nocall|ameavo amebit", "nocall|ameavo amebit", 1.0),
        ("nocall|ameavo amebit", "nocall|amebit ameavo", 1.0),
        ("nocall|ameavo amebit", "nocall|ameavo", 0.8333333333333333),
        ("nocall|ameavo", "nocall|ameavo amebit", 0.8333333333333333),
        ("nocall|ameavo", "nocall|ameavo amebit amecro", 0.75),
        ("nocall|ameavo amecro", "nocall|ameavo amebit amecro", 0.9),
    ],
)
def test_the_nine_string_cases_of_002(truth: str, prediction: str, value: float) -> None:
    result = metrics.evaluate("multilabel_f1", column(*truth.split("|")), column(*prediction.split("|")))
    assert result.overall == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(("threshold", "value"), [(0.5, 0.6666666666666666), (0.6, 0.75)])
def test_the_numeric_cases_of_002(threshold: float, value: float) -> None:
    metric = metrics.get("thresholded_f1")
    truth, submission = metric.example.truth.encode(), metric.example.submission.encode()
    assert metrics.score(metric.key, truth, submission, threshold=threshold).overall == value


@pytest.mark.parametrize(
    ("matching", "value", "counts"),
    [
        ("per_truth", 0.7142857142857143, (3, 1, 2)),
        ("one_to_one", 0.5882352941176471, (2, 1, 3)),
        ("per_prediction", 0.6666666666666666, (2, 1, 1)),
    ],
)
def test_the_example_of_000_under_each_reading(matching: str, value: float, counts: tuple[int, int, int]) -> None:
    example = metrics.get("coleridge_fbeta").example
    result = metrics.evaluate(
        "coleridge_fbeta", example.truth.encode(), example.submission.encode(), {"matching": matching}
    )
    assert result.overall == value
    assert tuple(result.parts["overall"][name] for name in ("tp", "fp", "fn")) == counts


def test_the_example_of_001() -> None:
    result = metrics.evaluate(
        "coleridge_fbeta",
        column("this data|that dataset|xyz"),
        column("which data|no dataset|that dataset"),
        {"matching": "per_prediction"},
    )
    assert result.parts["overall"] == {"tp": 1, "fp": 2, "fn": 1}


def test_the_documented_examples_of_004() -> None:
    assert metrics.evaluate("accuracy", column(1, 1, 0, 0), column(1, 1, 1, 0)).overall == 0.75
    concordance = metrics.evaluate("concordance_index", column(1, 0, 1, 1, 0), column(0.8, 0.43, 0.62, 0.58, 0.62))
    assert concordance.overall == 0.75
    gap = metrics.get("global_average_precision").example
    assert (
        metrics.evaluate("global_average_precision", gap.truth.encode(), gap.submission.encode()).overall
        == 0.5479166666666666
    )
    table = metrics.evaluate("binary_f1", column(1, 1, 0, 0), column(1, 0, 0, 1))
    assert table.parts["overall"] == {"tp": 1, "tn": 1, "fp": 1, "fn": 1}
    assert metrics.evaluate("multilabel_f1", column("amecro amerob"), column("amecro bird666")).overall == 0.5
    rows = metrics.evaluate(
        "multilabel_f1",
        column("amecro", "amecro amerob", "nocall"),
        column("amecro", "amecro bird666", "nocall"),
    )
    assert rows.overall == pytest.approx(0.8333333333333333, rel=1e-15)
    assert metrics.evaluate("word_jaccard", column("Be happy my friend"), column("be happy")).overall == 0.5


@pytest.fixture(scope="module")
def plants() -> dict[str, metrics.Truth]:
    """The 18,632 real labels as a truth under both averages."""
    cells = [labels for labels, count in LABEL_COUNTS.items() for _ in range(count)]
    assert len(cells) == 18_632
    return {
        average: metrics.prepare("multilabel_f1", column(*cells), {"average": average})
        for average in ("micro", "samples")
    }


@pytest.mark.parametrize(
    ("constant", "micro", "samples"),
    [
        ("healthy", 0.238, 0.248),
        ("scab", 0.294, 0.289),
        ("scab healthy", 0.360, 0.361),
        ("healthy scab", 0.360, 0.361),
        (ALL_SEVEN, 0.268, 0.266),
    ],
)
def test_the_table_of_003_on_its_real_labels(
    plants: dict[str, metrics.Truth], constant: str, micro: float, samples: float
) -> None:
    submission = column(*[constant] * 18_632)
    assert round(plants["micro"].evaluate(submission).overall, 3) == micro
    assert round(plants["samples"].evaluate(submission).overall, 3) == samples


def test_the_table_of_003_to_the_last_digit(plants: dict[str, metrics.Truth]) -> None:
    submission = column(*["healthy"] * 18_632)
    assert plants["micro"].evaluate(submission).overall == pytest.approx(0.23823385455575877, rel=1e-15)
    assert plants["samples"].evaluate(submission).overall == pytest.approx(0.24817518248175183, rel=1e-15)
