"""What Ada is proposed for answer files as teachers have them: the column that students predict, and a metric."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from leaderboard.competitions.models import TruthDraft
from leaderboard.ground_truths.queries import fitting_metrics
from metrics.core.registry import USUAL
from tests.pages import upload

ROWS = 60
Cell = Callable[[int, random.Random], str]
CELLS: dict[str, Cell] = {
    "id": lambda i, dice: f"{i + 1}",
    "key": lambda i, dice: f"r{i * 7919 % 1000:03d}",
    "number": lambda i, dice: f"{dice.gauss(50, 9):.3f}",
    "price": lambda i, dice: f"{dice.lognormvariate(12, 0.4):.0f}",
    "class": lambda i, dice: dice.choice(["newt", "toad", "frog"]),
    "binary": lambda i, dice: dice.choice("01"),
    "digit": lambda i, dice: dice.choice("0123456789"),
    "stars": lambda i, dice: dice.choice("12345"),
    "person": lambda i, dice: dice.choice(["AB", "CD", "EF"]),
    "place": lambda i, dice: f"p{i // 5}",
    "date": lambda i, dice: f"2024-{i % 12 + 1:02d}-{i % 28 + 1:02d}",
    "name": lambda i, dice: f"Anna {i} Berg",
    "amount": lambda i, dice: dice.choice(["0", "5", "8", "120", "4000"]),
    "text": lambda i, dice: " ".join("".join(dice.choices("abdegilmnorst", k=5)) for _ in range(12)),
    "part": lambda i, dice: "public" if i % 3 else "private",
    "Teil": lambda i, dice: "öffentlich" if i % 3 else "privat",
    "partie": lambda i, dice: "publique" if i % 3 else "privée",
    "część": lambda i, dice: "publiczna" if i % 3 else "prywatna",
    "часть": lambda i, dice: "публичный" if i % 3 else "скрытый",
    "用途": lambda i, dice: "公开" if i % 3 else "非公开",
    "blank": lambda i, dice: "",
    "comment": lambda i, dice: "look again" if i == 7 else "",
    "same": lambda i, dice: "2024",
    "list": lambda i, dice: " ".join(f"d{dice.randint(0, 400)}" for _ in range(dice.randint(1, 6))),
    "zero": lambda i, dice: "0",
    "half": lambda i, dice: "0.5",
}


def table(columns: str, *, separator: str = ",") -> str:
    """A file of columns such as `id:key species:class`; the names of its columns may hold `_` for a space."""
    pairs = [column.rsplit(":", 1) for column in columns.split()]
    dice = random.Random(columns)
    lines = [separator.join(name.replace("_", " ") for name, _ in pairs)]
    lines += [separator.join(CELLS[kind](i, dice) for _, kind in pairs) for i in range(ROWS)]
    return "\n".join([*lines, ""])


@dataclass(frozen=True)
class Layout:
    """The files, and what is to be proposed; no `answers`: Ada is asked for the column."""

    files: dict[str, str]
    answers: tuple[str, ...]
    metrics: tuple[str, ...] = ()
    id_column: str = ""
    part: str = ""
    possible: tuple[str, ...] = ()


NUMBERS, LABELS, CHANCES = ("rmse", "mae", "r2", "rmsle"), ("accuracy", "f1"), ("roc_auc", "log_loss")
ANSWERS = "answers.csv"
MANY = " ".join(f"f{number}:number" for number in range(30))


def alone(columns: str, answers: str, metrics: tuple[str, ...] = LABELS, **expected: Any) -> Layout:
    """An answer file without others; `answers` are separated by commas."""
    return Layout({ANSWERS: columns}, tuple(answers.split(",")), metrics, **expected)


def asked(columns: str, *possible: str) -> Layout:
    return Layout({ANSWERS: columns}, (), possible=possible)


LAYOUTS = {
    "an id, a name and a label": alone("id:id name:name species:class", "species"),
    "an id, a text and a label": alone("id:id text:text label:class", "label"),
    "who checked it": alone("id:id species:class Checked_by:person", "species"),
    "texts": alone("id:id summary:text", "summary", ("word_jaccard",)),
    "who checked it, in Polish": alone("id:id etykieta:class sprawdził(a):person", "etykieta"),
    "who checked it, in Russian": alone("id:id метка:class проверил:person", "метка"),
    "who checked it, in Portuguese": alone("id:id gabarito:class corrigido_por:person", "gabarito"),
    "a remark in Turkish": alone("no:id cevap:class not:person", "cevap"),
    "a remark in Chinese": alone("编号:id 标签:class 备注:person", "标签"),
    "a remark in Japanese": alone("番号:id ラベル:class 備考:person", "ラベル"),
    "whether it was checked": alone("id:id species:class checked:binary", "species"),
    "a remark": alone("id:id price:price Bemerkung:comment", "price", NUMBERS),
    "the same in each row": alone("id:id species:class year:same", "species"),
    "a date": alone("id:id day:date sales:number", "sales", NUMBERS),
    "labels as 0 and 1": alone("id:id toxic:binary rude:binary threat:binary", "toxic,rude,threat", ()),
    "numbers of one family": alone("id:id Heating_Load:number Cooling_Load:number", "Heating Load,Cooling Load", ()),
    "a patient": alone("id:id patient:place diagnosis:class", "diagnosis"),
    "a weight": alone("id:id y:number sample-weight:number", "y", NUMBERS),
    "split": alone("id:id species:class split:part", "species", part="split"),
    "Set": alone("id:id Set:part species:class", "species", part="Set"),
    "Teil": alone("id:id Art:class Teil:Teil", "Art", part="Teil"),
    "partie": alone("id:id espèce:class partie:partie", "espèce", part="partie"),
    "część": alone("id:id klasa:class część:część", "klasa", part="część"),
    "часть": alone("id:id класс:class часть:часть", "класс", part="часть"),
    "用途": alone("id:id 标签:class 用途:用途", "标签", part="用途"),
    "other words in Usage": alone("id:id Art:class Usage:Teil", "Art", part="Usage"),
    "Kaggle's solution": alone("id:key label:class Usage:part", "label"),
    "the id last": alone("species:class id:key", "species", id_column="id"),
    "an index": alone("Unnamed:_0:id PersonId:key Survived:binary", "Survived", CHANCES, id_column="PersonId"),
    "ratings": alone("id:id user:place item:stars rating:stars", "rating", ("cohen_kappa", "rmse", "mae")),
    "lists to find": alone("query:key relevant:list", "relevant", ("map_at_k", "ndcg_at_k")),
    "an empty third column": alone("id:id label:class Unnamed:_2:blank", "label"),
    "classes called by numbers": alone("id:id Label:digit", "Label"),
    "usage": alone("id:id label:class usage:part", "label", part="usage"),
    "public/private": alone("id:id label:class public/private:part", "label", part="public/private"),
    "is public": alone("id:id label:class is_public:binary", "label", part="is public"),
    "whole numbers that are amounts": alone("id:id sold:amount", "sold", NUMBERS),
    "numbers that differ in each row": alone("price:number id:key", "price", NUMBERS, id_column="id"),
    "all features alone": asked(
        "PersonId:id Survived:binary Pclass:stars Sex:class Age:number", "Survived", "Pclass", "Sex", "Age"
    ),
    "two numbers without a sign": asked("id:id height:number weight:number", "height", "weight"),
    "two classes of one family": asked("id:id label_a:class label_b:person", "label a", "label b"),
    "two classes without a sign": asked("id:id species:class habitat:class", "species", "habitat"),
    "a sample submission of chances": Layout(
        {ANSWERS: "id:id bought:binary visits:number", "sample_submission.csv": "id:id bought:half"},
        ("bought",),
        CHANCES,
    ),
    "names in other case and brackets": Layout(
        {
            "Train.csv": "ID:id Area_(m2):number PRICE_(EUR):price",
            "test.csv": "id:id area_m2:number",
            "labelled.csv": "Id:id area_[m2]:number price_eur:price",
        },
        ("price eur",),
        NUMBERS,
    ),
    "all features, and a test set": Layout(
        {ANSWERS: "id:id a:number b:class y2:number", "test.csv": "id:id a:number b:class"}, ("y2",), NUMBERS
    ),
    "a test set beside the whole": Layout(
        {"sales.csv": "row:key day:date shop:class sold:number", "test.csv": "row:key day:date shop:class"},
        ("sold",),
        NUMBERS,
    ),
    "outcomes of a test": Layout(
        {
            "train_data.csv": "a:number b:number churn:binary",
            "test_data.csv": "a:number b:number",
            "test_churn.csv": "row:id churn:binary",
        },
        ("churn",),
        CHANCES,
    ),
    "files without names": Layout(
        {
            "a.csv": "id:key f:number g:number out:number",
            "b.csv": "id:id f:number g:number",
            "c.csv": "id:id out:number",
        },
        ("out",),
        NUMBERS,
    ),
    "Titanic": Layout(
        {
            "train.csv": "PersonId:key Survived:binary Pclass:stars Name:name Age:number",
            "test.csv": "PersonId:id Pclass:stars Name:name Age:number",
            "test_with_answers.csv": "PersonId:id Survived:binary Pclass:stars Name:name Age:number",
            "gender_submission.csv": "PersonId:id Survived:binary",
        },
        ("Survived",),
        LABELS,
    ),
    "house prices": Layout(
        {"train.csv": f"Id:key {MANY} Cost:price", "test.csv": f"Id:id {MANY}", "full.csv": f"Id:id {MANY} Cost:price"},
        ("Cost",),
        NUMBERS,
    ),
    "digits": Layout(
        {
            "train.csv": "label:digit p0:number p1:number",
            "test.csv": "p0:number p1:number",
            ANSWERS: "ImageId:id Label:digit",
        },
        ("Label",),
        LABELS,
    ),
    "labels of training data": Layout(
        {
            "train_labels.csv": "id:key y:binary",
            "test_labels.csv": "id:id y:binary",
            "train_features.csv": "id:key a:number",
        },
        ("y",),
        CHANCES,
    ),
}


def bring(client: Client, files: dict[str, str]) -> TruthDraft:
    answered = client.post("/host/new/", {"files": [upload(table(text), name) for name, text in files.items()]})
    assert answered.status_code == 303
    return TruthDraft.objects.get()


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_the_column_that_students_predict_is_found_or_asked_for(hers: Client, layout: Layout) -> None:
    draft = bring(hers, layout.files)
    choice, report = draft.answer_choice, draft.report
    assert bool(choice.get("is_asked")) == (not layout.answers)
    if not layout.answers:
        assert tuple(choice["possible"][: len(layout.possible)]) == layout.possible
        return
    assert tuple(report["target_columns"]) == layout.answers
    assert report["ok"], report["findings"]
    assert not layout.id_column or report["id_column"] == layout.id_column
    assert choice.get("split_column", "") == layout.part
    assert not layout.part or not report["is_split_by_system"]
    fits = fitting_metrics(draft, draft.metric)
    if layout.metrics:
        assert draft.metric in layout.metrics
        assert {metric.key for metric, _ in fits["best"]} <= USUAL


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("\n".join(f"{i},{i % 3}" for i in range(ROWS)), "header_missing"),
        ("id,id,label\n" + "".join(f"{i},{i},a\n" for i in range(ROWS)), "column_repeated"),
        ("id;label\n" + "".join(f"{i};a\n" for i in range(ROWS)), "separator"),
    ],
)
def test_nothing_is_proposed_or_asked_while_the_answers_cannot_be_read(hers: Client, text: str, code: str) -> None:
    answered = hers.post("/host/new/", {"files": [upload(text, ANSWERS)]})
    draft = TruthDraft.objects.get()
    assert code in [finding["code"] for finding in draft.report["findings"]]
    assert not draft.answer_choice.get("is_asked")
    page = hers.get(answered["Location"]).content.decode()
    assert 'id="proposal"' not in page
    assert "disabled" in page.partition('name="create"')[2].partition(">")[0]


TAGS = [random.Random(i).sample(["cat", "big dog", "newt", "toad"], 1 + i % 3) for i in range(ROWS)]


def test_lists_in_brackets_are_written_plainly_by_one_press(hers: Client) -> None:
    lists = "id,tags\n" + "".join(f'{i},"{tags!r}"\n' for i, tags in enumerate(TAGS))
    answered = hers.post("/host/new/", {"files": [upload(lists, "answers.csv")]})
    draft = TruthDraft.objects.get()
    assert not draft.report["ok"]
    assert 'value="plain_lists"' in hers.get(answered["Location"]).content.decode()
    hers.post(answered["Location"], {"fix": "plain_lists"})
    draft = TruthDraft.objects.get()
    assert draft.report["ok"]
    assert (draft.metric, draft.params["separator"]) == ("multilabel_f1", ";")
    assert draft.report["target_columns"] == ["tags"]


def test_separators_of_lists_are_proposed(hers: Client) -> None:
    lists = "id,tags\n" + "".join(f'{i},"{", ".join(tags)}"\n' for i, tags in enumerate(TAGS))
    hers.post("/host/new/", {"files": [upload(lists, "answers.csv")]})
    draft = TruthDraft.objects.get()
    assert (draft.report["ok"], draft.metric, draft.params["separator"]) == (True, "multilabel_f1", ",")
