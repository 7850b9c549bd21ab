"""What the files of real competitions leave open: missing items, ties, empty masks, points beside all boxes."""

import random
import time
from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import directed_hausdorff

import metrics
from metrics.tests.worlds import world

seeds = pytest.mark.parametrize("seed", range(6))


def orders(rows: list[str]) -> bytes:
    return "".join(["id,order\n", *(f"{number},{row}\n" for number, row in enumerate(rows))]).encode()


@seeds
def test_a_pair_without_one_of_its_items_counts_as_reversed(seed: int) -> None:
    found = world(metrics.get("pooled_kendall_tau"), seed, split=False)
    answers = {row[0]: row[1] for row in found.submission}
    wrong = pairs = 0
    for name, true in ((row[0], list(dict.fromkeys(row[1].split()))) for row in found.truth):
        said = list(dict.fromkeys(answers[name].split()))
        for first, second in combinations(true, 2):
            pairs += 1
            wrong += not (first in said and second in said and said.index(first) < said.index(second))
    result = metrics.evaluate("pooled_kendall_tau", found.truth_csv(), found.submission_csv())
    assert result.overall == pytest.approx(1 - 2 * wrong / pairs, rel=1e-12)


def test_reversed_lists_and_empty_ones_get_the_worst_value_of_kendalls_tau() -> None:
    truth = metrics.prepare("pooled_kendall_tau", orders(["a b c", "x y"]))
    assert truth.evaluate(orders(["c b a", "y x"])).overall == -1
    assert truth.evaluate(orders(["", ""])).overall == -1
    assert truth.evaluate(orders(["a z b b c a", "x y"])).overall == 1
    with pytest.raises(metrics.GroundTruthError, match="no list has two items"):
        metrics.prepare("pooled_kendall_tau", orders(["a", "b b"]))


def test_long_lists_are_counted_fast_and_exactly() -> None:
    dice = random.Random(5)
    items = [f"c{number}" for number in range(3000)]
    turned = [*items[1500:], *items[:1500]]
    shuffled = dice.sample(items, len(items))
    place = {item: number for number, item in enumerate(shuffled)}
    wrong = sum(place[one] > place[other] for one, other in combinations(items, 2))
    result = metrics.evaluate(
        "pooled_kendall_tau", orders([" ".join(items)] * 2), orders([" ".join(turned), " ".join(shuffled)])
    )
    assert result.parts["overall"] == {"reversed": 1500 * 1500 + wrong, "pairs": 3000 * 2999}


@pytest.mark.parametrize("key", ["dice", "iou", "mean_precision_at_iou"])
def test_a_dash_is_an_empty_mask(key: str) -> None:
    def file(*cells: str) -> bytes:
        return "".join(["id,mask\n", *(f"{number},{cell}\n" for number, cell in enumerate(cells))]).encode()

    dashes = file("-", "1 3", "-", "4 2"), file("-", "1 2", "3 1", "-")
    blanks = file("", "1 3", "", "4 2"), file("", "1 2", "3 1", "")
    assert metrics.evaluate(key, *dashes) == metrics.evaluate(key, *blanks)
    with pytest.raises(metrics.SubmissionError, match='is "--"'):
        metrics.evaluate(key, dashes[0], file("--", "1 2", "3 1", "-"))


def test_of_several_labels_in_a_cell_the_first_k_count() -> None:
    truth = b"id,y\n1,a\n2,b\n3,c\n4,d\n"
    sent = b"id,y\n1,a\n2,x b\n3,x y c\n4,\n"
    wrong = {k: metrics.evaluate("error_rate_at_k", truth, sent, {"k": k}).overall for k in (1, 2, 3)}
    assert wrong == {1: 0.75, 2: 0.5, 3: 0.25}


@pytest.mark.attack("masks that name a pixel far beyond any picture, cells with more points than a picture may have")
def test_too_many_points_and_other_cells_are_told_by_the_file_alone() -> None:
    truth = b"id,labels\n1,a 0 0 4 4\n2,\n"
    prepared = metrics.prepare("labelled_points_f1", truth, {"most": 2})
    with pytest.raises(metrics.SubmissionError, match='"labels" has more than 2 points'):
        prepared.evaluate(b"id,labels\n1,a 1 1 a 2 2 a 3 3\n2,\n")
    with pytest.raises(metrics.SubmissionError, match='is not "label x y …" in plain numbers'):
        prepared.evaluate(b"id,labels\n1,a 1 1e999\n2,\n")
    with pytest.raises(metrics.GroundTruthError, match="sides above 0"):
        metrics.prepare("labelled_points_f1", b"id,labels\n1,a 0 0 4 0\n2,\n")
    assert prepared.evaluate(b"id,labels\n1,a 0 1\n2,\n").overall == 0.0


WIDE = b"id,a,b,c,Usage\n1,1,7,3,Public\n2,2,8,5,Private\n3,4,9,6,Private\n"


@pytest.mark.parametrize("where", ["in the truth", "nowhere else"])
def test_bo_sends_columns_that_ada_does_not_score(where: str) -> None:
    truth = WIDE if where == "in the truth" else b"id,a,c,Usage\n1,1,3,Public\n2,2,5,Private\n3,4,6,Private\n"
    prepared = metrics.prepare("columnwise_rmse", truth, {"unscored": "b, more"})
    assert prepared.submission_columns == ("id", "a", "c", "b", "more")
    plain = metrics.evaluate("columnwise_rmse", b"id,a,c\n1,1,3\n2,2,5\n3,4,6\n", b"id,a,c\n1,1,4\n2,2,5\n3,9,6\n")
    found = prepared.evaluate(b"id,b,a,more,c\n1,?,1,,4\n2,?,2,x,5\n3,?,9,,6\n", uncertainty=True)
    assert found.overall == plain.overall
    assert prepared.evaluate(prepared.perfect_submission()).private == 0
    assert prepared.sample_submission().startswith(b"id,a,c,b,more\n1,0,0,0,0\n")
    with pytest.raises(metrics.SubmissionError, match='"more" is missing'):
        prepared.evaluate(b"id,a,b,c\n1,1,1,4\n2,2,2,5\n3,9,9,6\n")
    report = metrics.check_truth("columnwise_rmse", truth, {"unscored": "b, more"})
    assert report.ok
    assert report.submission_columns == ("id", "a", "c", "b", "more")
    assert {line.name for line in report.baselines} >= {"Mean", "Median", "Perfect file"}


@pytest.mark.parametrize("column", ["id", "Usage"])
def test_ada_cannot_leave_unscored_what_plays_another_part(column: str) -> None:
    with pytest.raises(metrics.GroundTruthError, match="plays another part"):
        metrics.prepare("columnwise_rmse", WIDE, {"unscored": f"b,{column}"})
    with pytest.raises(metrics.GroundTruthError, match="no target column"):
        metrics.prepare("columnwise_rmse", WIDE, {"unscored": "a,b,c"})


@seeds
@pytest.mark.parametrize("numbering", ["rows", "columns"])
def test_the_distance_of_volumes_is_that_of_scipy(seed: int, numbering: str) -> None:
    dice = np.random.default_rng(seed)
    slices, height, width = (int(side) for side in dice.integers(2, 8, 3))
    truth, sent, values = ["id,mask,volume,slice,height,width"], ["id,mask"], []
    for volume in range(3):
        true, said = (dice.random((slices, height, width)) < share for share in dice.choice([0.05, 0.2, 0.4], 2))
        for place in range(slices):
            cells = []
            for picture in (true[place], said[place]):
                flat = picture.ravel() if numbering == "rows" else picture.T.ravel()
                cells.append(" ".join(f"{pixel + 1} 1" for pixel in np.flatnonzero(flat)))
            truth.append(f"{volume}-{place},{cells[0]},v{volume},{place - 3.5},{height},{width}")
            sent.append(f"{volume}-{place},{cells[1]}")
        points = [np.argwhere(side) / (slices, height, width) for side in (true, said)]
        if all(map(len, points)):
            ways = directed_hausdorff(*points)[0], directed_hausdorff(*points[::-1])[0]
            values.append(0.0 if said.sum() > 10 * true.sum() else 1 - max(ways) / 3**0.5)
        elif any(map(len, points)):
            values.append(0.0)
    files = ["\n".join(lines).encode() + b"\n" for lines in (truth, sent)]
    result = metrics.evaluate("hausdorff_3d", files[0], files[1], {"numbering": numbering})
    assert result.overall == pytest.approx(float(np.mean(values)), rel=1e-12)


def test_the_time_does_not_tell_where_the_true_voxels_are() -> None:
    """A file whose score came late, or not within the limit of time, would tell of a private volume."""
    said = "id,mask\n" + "".join(f"{row},{'1 1' if row == 0 else ''}\n" for row in range(20))
    seconds = []
    for true in (0, 19):
        rows = "".join(f"{row},{'5000 1' if row == true else ''},v,{row},96,96\n" for row in range(20))
        truth = metrics.prepare("hausdorff_3d", f"id,mask,volume,slice,height,width\n{rows}".encode())
        began = time.process_time()
        truth.evaluate(said.encode())
        seconds.append(time.process_time() - began)
    # Looking only at the part of the volume around both voxels made it forty times.
    assert max(seconds) < 4 * min(seconds)


@pytest.mark.attack("masks that name a pixel far beyond any picture, cells with more points than a picture may have")
def test_a_mask_far_beyond_its_picture_costs_the_volume_and_no_memory() -> None:
    truth = metrics.prepare("hausdorff_3d", b"id,m,volume,slice,height,width\n1,1 4,v,1,6,6\n2,1 4,w,1,6,6\n")
    for mask in ("1 1000000000000", "37 1", "1 41", ""):
        assert truth.evaluate(f"id,m\n1,{mask}\n2,1 4\n".encode()).overall == 0.5
    for wrong, words in ((b"2,1 4,v,2,5,6", "differ in size"), (b"2,30 9,w,1,6,6", "leaves its picture")):
        with pytest.raises(metrics.GroundTruthError, match=words):
            metrics.prepare("hausdorff_3d", b"id,m,volume,slice,height,width\n1,1 4,v,1,6,6\n" + wrong + b"\n")


def test_pictures_without_a_mask_on_either_side_may_be_left_out() -> None:
    files = b"id,m\n1,1 2\n2,\n3,-\n4,\n", b"id,m\n1,1 1\n2,\n3,4 1\n4,-\n"
    assert metrics.evaluate("dice", *files).overall == pytest.approx((2 / 3 + 1 + 0 + 1) / 4)
    assert metrics.evaluate("dice", *files, {"both_empty": "skip"}).overall == pytest.approx((2 / 3 + 0) / 2)
