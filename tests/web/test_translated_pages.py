"""Every page of a competition, read in a language that brackets what is translated: nothing else is left but people's
own words."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from bench import term
from bench.pages import Readers
from leaderboard import hosting
from leaderboard.models import AuditEntry, Competition, User
from leaderboard.models.audit_names import NAMES
from leaderboard.web.languages import ENGLISH_ALONE
from tests.attacks.scene import TRUTH, make_scene
from tests.conftest import person
from tests.web.languages import CODE, second_language
from tests.web.own_words import own_words
from tests.web.reading import unbracketed

# Markdown, formulas, and lists of languages and zones.
SILENT = {"prose", "math", "language", "zone"}
# Columns and answers of files, a column of a gradebook, and a letter in the language of the site.
OWN = {TRUTH, "id", "label", "Work", "Invitation: Cats or dogs"}


class Read(NamedTuple):
    page: term.Page
    left: list[str]


def read(competition: Competition, state: str) -> list[Read]:
    made = term.Term({}, {state: competition}, {state: term.arguments(competition, "bo")})
    clients, own, found = Readers(), own_words() | OWN, []
    for page in term.pages(made):
        if page.path.startswith(ENGLISH_ALONE):
            continue
        response = clients(page.who).get(page.path, headers={"Accept-Language": CODE})
        if response.status_code == 200 and response.headers["Content-Type"].startswith("text/html"):
            found.append(Read(page, unbracketed(response.content.decode(), own=own, silent=SILENT)))
    return found


@pytest.mark.django_db
def test_every_page_is_translated_but_for_peoples_own_words(ada: User, bo: User, cy: User, dee: User) -> None:
    person("olga", is_superuser=True, is_staff=True)
    scene = make_scene(ada, bo, cy, dee)
    hosting.announce(competition=scene.competition, user=ada, title="Own words", text="More of them")
    with second_language():
        found = read(scene.competition, "live")
    names = {one.page.name.partition("-")[0] for one in found}
    assert {"overview", "leaderboard", "submit", "team", "submission", "host_competition", "host_audit"} <= names
    assert len(found) > 60
    left = [f"{one.page.path} of {one.page.who}: {words}" for one in found for words in one.left]
    assert left == []


@pytest.mark.django_db
def test_every_value_of_the_audit_trail_has_a_name_to_translate(ada: User, bo: User, cy: User, dee: User) -> None:
    make_scene(ada, bo, cy, dee)
    assert {name for entry in AuditEntry.objects.all() for name, _before, _after in entry.changes} <= set(NAMES)
    editable = {field.name.replace("_", " ") for field in Competition._meta.fields if field.editable}
    assert editable - {"id"} <= set(NAMES)


def test_the_reader_of_pages_sees_what_is_outside_of_brackets() -> None:
    page = """
    <p>⟦All of <b>this</b> ⟦and this⟧⟧ but not <i>this one</i>, <b>Bo</b>, <b>12 (Bo)</b></p><br>
    <code>nor code</code><input placeholder="typed" title="⟦Hint⟧"><div class="prose">Own <br>words</div><p>Ends</p>
    """
    assert unbracketed(page, own=["Bo"], silent=["prose"]) == ["but not", "this one", "Ends", "typed"]
