"""A message remembers its template and its parameters, and nothing in a file is ever read as a template."""

import json
import pickle
from typing import Any

import pytest

import metrics
from metrics import Message
from metrics.core.errors import shown
from metrics.core.messages import joined, listed, restore_message

NASTY = ("{0}", "{column}", "{column.__class__.__mro__}", "{", "}", "{{column}}", "%(column)s", "{count}", "\\1")


def translated(message: Message) -> str:
    """In a language of brackets."""
    return message.translated(lambda one: f"⟦{one}⟧", lambda one, many, number: f"⟦{one if number == 1 else many}⟧")


def example(column: str = "y") -> Message:
    places = [Message("line {line} (id {id})", line=line, id=shown(line)) for line in (2, 1200, 3, 4, 5, 6)]
    message = Message.counted(
        6, "{count} value of {column} is odd: {places}.", "{count} values of {column} are odd: {places}.",
        column=shown(column), places=listed(places, len(places)),
    )  # fmt: skip
    return joined([message, Message("Write them again.")])


def test_a_message_is_its_english_text() -> None:
    message = example()
    assert message == (
        '6 values of "y" are odd: line 2 (id "2"), line 1,200 (id "1200"), line 3 (id "3"), line 4 (id "4"), '
        'line 5 (id "5") and 1 more. Write them again.'
    )
    assert json.loads(json.dumps(message)) == message
    assert Message.counted(1, "{count} row", "{count} rows") == "1 row"
    assert message.with_one_example() == '6 values of "y" are odd: line 2 (id "2"). Write them again.'


def test_a_message_survives_json_and_pickling_with_its_template() -> None:
    message = example()
    error = metrics.SubmissionError([metrics.Problem("odd", message)])
    again = pickle.loads(pickle.dumps(error)).problems[0].message
    stored = restore_message(str(message), json.loads(json.dumps(message.as_json())))
    assert isinstance(stored, Message)
    assert again == stored == message
    assert translated(again) == translated(stored) == translated(message)
    assert '⟦6 values of "y" are odd: ' in translated(message)
    assert '⟦line 1,200 (id "1200")⟧' in translated(message)


@pytest.mark.parametrize("name", NASTY)
def test_what_stands_in_a_file_is_never_a_template(name: str) -> None:
    message = example(name)
    assert f"of {shown(name)} are odd" in message
    assert f"of {shown(name)} are odd" in translated(message)
    assert restore_message(str(message), message.as_json()) == message


@pytest.mark.parametrize("words", ["{rows.__class__}", "{0}", "{rows} {more}", "{rows!r}", "no place at all"])
def test_a_translation_with_other_places_breaks_no_page(words: str) -> None:
    message = Message("All {rows} are odd.", rows=3)
    assert message.translated(lambda _: words, lambda *_: words) == words.replace("{rows}", "3")


@pytest.mark.parametrize(
    "stored",
    [
        None, 7, "text", [], {}, {"template": "Odd"}, {"template": "Odd", "params": 3},
        {"template": ["Odd"], "params": {}},
        {"template": "Even", "params": {}}, {"template": "{a}", "params": {"a": True}},
        {"template": "{a}", "params": {}},
        {"template": "{a}", "params": {"a": ["Odd"]}}, {"template": "Odd", "plural": 3, "number": 2, "params": {}},
        {"template": "Odd", "plural": "Odd", "count": 2, "params": {"count": 1}},
        {"form": "Odd", "facts": {}},
    ],
)  # fmt: skip
def test_a_text_that_is_stored_with_another_template_is_the_text_alone(stored: Any) -> None:
    assert restore_message("Odd", stored) == "Odd"
    assert not isinstance(restore_message("Odd", stored), Message)


def test_a_hostile_template_is_never_filled_in() -> None:
    wide: dict[str, Any] = {"template": "{a}" * 1000, "params": {"a": "x" * 1000}}
    deep: dict[str, Any] = {"template": "x", "params": {}}
    for _ in range(5):
        wide = {"template": "{a}" * 1000, "params": {"a": wide}}
    for _ in range(5000):
        deep = {"template": "{a}", "params": {"a": deep}}
    assert not isinstance(restore_message("short", wide), Message)
    assert not isinstance(restore_message("x", deep), Message)


def test_programs_read_the_documented_keys_and_plain_text() -> None:
    problem = metrics.Problem("odd", example(), "y")
    assert list(problem.as_dict()) == ["code", "message", "column", "line", "id", "count"]
    assert type(problem.as_dict()["message"]) is str
    assert problem.as_stored() == {**problem.as_dict(), "forms": {"message": example().as_json()}}
    outside = metrics.Problem("metric", "As somebody wrote it.")
    assert outside.as_stored() == outside.as_dict()
