"""A competition is known again by its colour and its picture."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.common.models import AuditEntry
from leaderboard.competitions.models import Competition
from leaderboard.competitions.services import competitions, copying, covers, folders
from leaderboard.competitions.services.competitions import CannotHost
from tests.conftest import make_competition
from tests.pages import signed_in, upload

PNG = b"\x89PNG\r\n\x1a\n" + b"picture" * 9
SETTINGS = "/host/pets/settings/"


def posted(client: Client, **changed: object) -> dict[str, object]:
    """The settings as their page shows them, with some changed."""
    form = client.get(SETTINGS).context["form"]
    shown = {name: form[name].value() for name in form.fields}
    return {name: value for name, value in {**shown, **changed}.items() if value not in (None, False)}


def test_ada_chooses_a_color_and_everybody_sees_it(pets: Competition, ada: User, client: Client) -> None:
    competitions.change_competition(competition=pets, user=ada, is_listed=True)
    saved = signed_in(ada).post(SETTINGS, posted(signed_in(ada), colour=3))
    assert saved.status_code == 303
    page = client.get("/c/pets/").content.decode()
    assert "cover-3" in page
    assert AuditEntry.objects.latest("pk").after == {"colour": 3}


def test_a_form_that_knows_no_colors_keeps_the_one_that_is(pets: Competition, ada: User) -> None:
    competitions.change_competition(competition=pets, user=ada, colour=7)
    fields = posted(signed_in(ada))
    del fields["colour"]
    assert signed_in(ada).post(SETTINGS, fields).status_code == 303
    assert Competition.objects.get().cover.colour == 7


@pytest.mark.parametrize("colour", ["11", "-1", "red"])
def test_a_color_that_nobody_knows_is_refused(pets: Competition, ada: User, colour: str) -> None:
    assert signed_in(ada).post(SETTINGS, posted(signed_in(ada), colour=colour)).status_code == 422
    assert Competition.objects.get().cover.colour == 0


def test_ada_uploads_a_picture_and_members_see_it_instead_of_the_pattern(
    pets: Competition, ada: User, dee: User, client: Client
) -> None:
    fields = posted(signed_in(ada), picture=upload(PNG, "me.exe"))
    assert signed_in(ada).post(SETTINGS, fields).status_code == 303
    address = signed_in(ada).get("/c/pets/").content.decode().partition('src="/c/pets/cover/')[2].partition('"')[0]
    shown = signed_in(ada).get(f"/c/pets/cover/{address}")
    assert (shown.content, shown["Content-Type"]) == (PNG, "image/png")
    assert shown["X-Content-Type-Options"] == "nosniff"
    for stranger in (client, signed_in(dee)):
        assert stranger.get(f"/c/pets/cover/{address}").status_code == 404
    assert signed_in(ada).get("/c/pets/cover/other.png").status_code == 404

    assert signed_in(ada).post(SETTINGS, posted(signed_in(ada), removes_picture="on")).status_code == 303
    assert 'src="/c/pets/cover/' not in signed_in(ada).get("/c/pets/").content.decode()
    assert signed_in(ada).get(f"/c/pets/cover/{address}").status_code == 404


@pytest.mark.parametrize(
    "content", [b"<svg onload='alert(1)'/>", b"GIF89a", PNG + b"0" * covers.MOST_BYTES], ids=["svg", "gif", "large"]
)
def test_what_is_no_small_picture_is_refused_and_nothing_else_is_saved(
    pets: Competition, ada: User, content: bytes
) -> None:
    fields = posted(signed_in(ada), title="Other", picture=upload(content, "cover.png"))
    answer = signed_in(ada).post(SETTINGS, fields)
    assert answer.status_code == 422
    assert answer.context["form"].errors.keys() == {"picture"}
    held = Competition.objects.get()
    assert (held.title, held.cover.picture_name) == (pets.title, "")


def test_a_copy_and_an_import_look_like_the_first(ada: User, tmp_path: Path) -> None:
    first = make_competition(ada, colour=5)
    covers.set_picture(competition=first, chunks=[PNG], user=ada)
    copy = copying.clone_competition(competition=first, user=ada, title="Again")
    assert (copy.cover.colour, copy.cover.picture_name) == (5, first.cover.picture_name)

    folders.export_folder(first, tmp_path / "out")
    competitions.delete_competition(competition=first)
    again = folders.import_folder(tmp_path / "out", user=ada)
    assert (again.cover.colour, again.cover.picture_name) == (5, first.cover.picture_name)
    (tmp_path / "out" / "picture.png").write_bytes(b"no picture")
    competitions.delete_competition(competition=again)
    with pytest.raises(CannotHost, match=r"picture\.png"):
        folders.import_folder(tmp_path / "out", user=ada)
    assert not Competition.objects.filter(slug="pets").exists()
