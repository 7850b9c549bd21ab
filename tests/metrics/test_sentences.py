"""Sentences know what they were made of, and nothing in a file becomes a form."""

from __future__ import annotations

import ast
import contextlib
import json
import pickle
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.core.management.commands.makemessages import TranslatableFile

import metrics
from leaderboard.management.commands import makemessages
from metrics._errors import shown
from metrics._registry import built_in
from metrics._sentences import Sentence, as_sentence, counted, joined, listed, restored, said
from tests.metrics.sentences import ROOT, all_forms, breaches

NASTY = ("{0}", "{column}", "{column.__class__.__mro__}", "{", "}", "{{column}}", "%(column)s", "{count}", "\\1")


def bracketed(form: str, many: str, number: int | None) -> str:
    return f"⟦{form if number is None or number == 1 else many}⟧"


def example(column: str = "y") -> Sentence:
    places = [said("line {line} (id {id})", line=line, id=shown(line)) for line in (2, 1200, 3, 4, 5, 6)]
    told = listed(places, len(places))
    message = counted(
        6, "{count} value of {column} is odd: {places}.", "{count} values of {column} are odd: {places}.",
        column=shown(column), places=told,
    )  # fmt: skip
    return joined([message, said("Write them again.")])


def test_a_sentence_is_its_english_text() -> None:
    sentence = example()
    assert sentence == (
        '6 values of "y" are odd: line 2 (id "2"), line 1,200 (id "1200"), line 3 (id "3"), line 4 (id "4"), '
        'line 5 (id "5") and 1 more. Write them again.'
    )
    assert counted(1, "{count} row", "{count} rows") == "1 row"
    assert counted(2000, "{count} row", "{count} rows") == "2,000 rows"
    assert json.loads(json.dumps(sentence)) == sentence


def test_a_sentence_survives_json_and_pickling_with_its_form() -> None:
    sentence = example()
    for again in (
        pickle.loads(pickle.dumps(sentence)),
        restored(str(sentence), json.loads(json.dumps(sentence.as_json()))),
    ):
        assert again == sentence
        assert isinstance(again, Sentence)
        assert again.said_by(bracketed) == sentence.said_by(bracketed)
    error = pickle.loads(pickle.dumps(metrics.SubmissionError([metrics.Problem("odd", sentence)])))
    assert error.problems[0].message.said_by(bracketed) == sentence.said_by(bracketed)


def test_each_sentence_within_a_sentence_is_said_in_the_other_language() -> None:
    assert joined([listed([said("line {line}", line=2)], 1), said("Odd.")]).said_by(bracketed) == "⟦line 2⟧ ⟦Odd.⟧"
    assert counted(2, "{count} row", "{count} rows").said_by(bracketed) == "⟦2 rows⟧"
    assert example().said_by(bracketed).startswith('⟦6 values of "y" are odd: ⟦⟦line 2 (id "2")⟧, ⟦line 1,200')


@pytest.mark.parametrize("name", NASTY)
def test_what_stands_in_a_file_is_never_a_form(name: str) -> None:
    sentence = example(name)
    assert f"of {shown(name)} are odd" in sentence
    assert f"of {shown(name)} are odd" in sentence.said_by(bracketed)
    assert restored(str(sentence), sentence.as_json()) == sentence
    truth = f'id,"{name}",Usage\n1,a,Public\n2,b,Private\n'.encode()
    with pytest.raises(metrics.SubmissionError) as refused:
        metrics.evaluate("accuracy", truth, f'id,"{name}"\n1,a\n'.encode())
    said_so = [problem.message for problem in refused.value.problems]
    assert said_so == ['1 id of 2 missing: "2".']


@pytest.mark.parametrize("form", ["{rows.__class__}", "{0}", "no place at all", "{rows} {more}", "{rows!r}"])
def test_a_form_that_a_translator_broke_is_said_in_english(form: str) -> None:
    sentence = said("All {rows} are odd.", rows=3)
    assert sentence.said_by(lambda *_: form) == "All 3 are odd."
    assert sentence.said_by(lambda *_: "Alle {rows}, {rows}!") == "Alle 3, 3!"


def test_the_number_of_things_may_go_without_saying() -> None:
    assert counted(1, "{count} row", "{count} rows").said_by(lambda *_: "eine Zeile") == "eine Zeile"


@pytest.mark.parametrize(
    "told",
    [
        None, 7, "text", [], {}, {"form": ""}, {"form": "Odd", "facts": 3}, {"form": "Odd", "facts": {"more": 1}},
        {"form": "{a}", "facts": {}}, {"form": ["Odd"], "facts": {}}, {"form": "Even", "facts": {}},
        {"form": "{a}", "facts": {"a": True}}, {"form": "{a}", "facts": {"a": [1]}},
        {"parts": ["Odd"], "between": "<b>"},
        {"parts": [3], "between": " "}, {"form": "Odd", "many": "{x}", "count": 1, "facts": {"count": 1}},
        {"form": "Odd", "many": "Odd", "count": 2, "facts": {"count": 1}},
        {"form": "Odd", "many": "Odd", "count": 1, "facts": {}},
    ],
)  # fmt: skip
def test_what_was_told_in_another_form_is_the_message_alone(told: Any) -> None:
    assert not isinstance(restored("Odd", told), Sentence)
    assert restored("Odd", told) == "Odd"


def test_a_hostile_form_is_not_even_made() -> None:
    told: dict[str, Any] = {"form": "{a}" * 1000, "facts": {"a": "x" * 1000}}
    for _ in range(5):
        told = {"form": "{a}" * 1000, "facts": {"a": told}}
    assert restored("short", told) == "short"
    deep: dict[str, Any] = {"form": "x", "facts": {}}
    for _ in range(500):
        deep = {"form": "{a}", "facts": {"a": deep}}
    assert not isinstance(restored("x", deep), Sentence)


def test_programs_read_the_documented_keys_and_plain_text() -> None:
    problem = metrics.Problem("odd", example(), "y")
    assert list(problem.as_dict()) == ["code", "message", "column", "line", "id", "count"]
    assert type(problem.as_dict()["message"]) is str
    kept = problem.as_kept()
    assert kept == {**problem.as_dict(), "forms": {"message": example().as_json()}}
    assert (
        metrics.Problem("metric", "As somebody wrote it.").as_kept()
        == metrics.Problem("metric", "As somebody wrote it.").as_dict()
    )


def test_in_short_a_sentence_has_one_example() -> None:
    assert example().in_short() == '6 values of "y" are odd: line 2 (id "2"). Write them again.'


# --- the law ----------------------------------------------------------------------------------------------------


def test_the_law_finds_what_nobody_could_translate() -> None:
    assert breaches("A plain text.") == ["without a form: 'A plain text.'"]
    assert breaches(said("Nobody marked {this}.", this=shown("x"))) == [
        "a form that translators never see: 'Nobody marked {this}.'"
    ]
    hidden = said("All {rows} are odd.", rows="three rows")
    assert "words that nobody can translate, in {rows}: 'three rows'" in breaches(hidden)
    assert breaches(said("The column {column} is there {times} times.", column=shown("a few"), times=2)) == []


@pytest.mark.parametrize("metric", metrics.catalogue(), ids=lambda metric: metric.key)
def test_every_reason_against_a_truth_is_a_sentence(metric: metrics.Metric) -> None:
    """The law itself is in `conftest`: here truths are made that each metric cannot score."""
    example = metric.example.truth.strip().split("\n")
    header, first = example[0], example[1].split(",")
    for cell in ("0", "1", "", "a", "1 1", "1000 1000", "-1"):
        rows = [",".join([str(row), *[cell] * (len(first) - 1)]) for row in range(4)]
        metrics.check_truth(metric.key, "\n".join([header, *rows]).encode(), dict(metric.example.params), is_quick=True)


@pytest.mark.parametrize("metric", metrics.catalogue(), ids=lambda metric: metric.key)
def test_every_mistake_in_a_parameter_is_a_sentence(metric: metrics.Metric) -> None:
    names = [parameter.name for parameter in metric.parameters]
    for value in ("", "x", "-7", "0", "1e99", "1,0", "1 2 3", "0,0", "y" * 200, "0, 0.5, 0.5, 1"):
        with contextlib.suppress(metrics.ParameterError):
            metrics.clean_params(metric.key, dict.fromkeys(names, value))
    with pytest.raises(metrics.ParameterError):
        metrics.clean_params(metric.key, {"nobody": "knows it"})


@pytest.mark.skipif(shutil.which("xgettext") is None, reason="GNU gettext is needed to translate, not to run a site")
def test_the_command_for_translators_finds_every_form(tmp_path: Path) -> None:
    command = makemessages.Command()
    command.domain, command.verbosity = "django", 0
    folder = ROOT / "metrics"
    files = [TranslatableFile(str(folder), path.name, str(tmp_path)) for path in sorted(folder.glob("*.py"))]
    command.process_files(files)
    merged = subprocess.run(["msguniq", tmp_path / "django.pot"], check=True, capture_output=True, text=True).stdout
    found = set()
    for quoted in re.findall(r'^msgid(?:_plural)? ((?:".*"\n)+)', merged, re.MULTILINE):
        found.add("".join(ast.literal_eval(line) for line in quoted.splitlines()))
    assert all_forms() <= found
    assert len(found) > 600
    assert '#. Metric: title of rmsle\n#: metrics/rmsle.py\nmsgid "RMSLE"\n' in merged


@pytest.mark.parametrize("metric", built_in().values(), ids=lambda metric: metric.key)
def test_nothing_that_a_metric_says_of_itself_is_hidden_from_translators(metric: metrics.Metric) -> None:
    texts = [metric.title, metric.group, metric.summary, *(parameter.help for parameter in metric.parameters)]
    texts += [words for choices in metric.confirm.values() for words in choices.values()]
    kinds = [kind.words for kind in (metric.truth, metric.submission)]
    assert all(isinstance(text, Sentence) for text in [*texts, *kinds, metric.columns])
    assert [breach for text in [*texts, *kinds] for breach in breaches(text)] == []


def test_a_text_that_might_be_read_as_a_form_with_places_is_left_as_it_is() -> None:
    assert not isinstance(as_sentence("Share of {rows}."), Sentence)
    assert as_sentence("Share of {rows}.") == "Share of {rows}."
    one = as_sentence("Share of rows.")
    assert isinstance(one, Sentence)
    assert one.said_by(bracketed) == "⟦Share of rows.⟧"
    assert as_sentence("") == ""
