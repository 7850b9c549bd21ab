"""Ada takes a competition along as a zip file, and brings one along."""

from __future__ import annotations

import gzip
import io
import stat
import unicodedata
import zipfile
from collections.abc import Callable, Sequence
from typing import Any, Literal

import pytest
from django.conf import LazySettings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.classroom import roles
from leaderboard.classroom.models import HostingRole
from leaderboard.common.storage import path_of
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition
from leaderboard.ground_truths.services import copying, data_files, folders
from tests.conftest import TRUTH, answers, close, enter, submit
from tests.pages import signed_in, text_of

EXPORT = "/host/pets/export.zip"


def exported(client: Client) -> bytes:
    response = client.get(EXPORT)
    assert response["Content-Disposition"] == 'attachment; filename="pets.zip"'
    return response.getvalue()


def bring(client: Client, data: bytes) -> Any:
    return client.post("/host/new/", {"action": "import", "folder": SimpleUploadedFile("pets.zip", data)})


def test_a_competition_goes_out_and_comes_in_again_as_a_draft(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
    data_files.add_data_file(
        competition=pets, file_name="train.csv", chunks=[b"id,x\n90,1\n"], description="To learn from"
    )
    boards.add_baseline(competition=pets, user=ada, name="Guess", file_name="g.csv", chunks=[answers(public=3)])
    client = signed_in(ada)
    assert EXPORT in client.get("/host/pets/settings/").content.decode()
    data = exported(client)
    archive = zipfile.ZipFile(io.BytesIO(data))
    assert archive.testzip() is None
    assert sorted(archive.namelist()) == [
        "baselines/1/g.csv", "competition.toml", "data/train.csv", "overview.md", "rules.md",
        "split_secret.txt", "truth.csv",
    ]  # fmt: skip
    competitions.delete_competition(competition=pets)

    assert "Import a competition" in text_of(client.get("/host/new/"))
    answer = bring(client, data)
    assert answer["Location"] == "/host/pets/setup/"
    again = Competition.objects.get()
    assert again.launched_at is None
    assert again.ground_truth is not None
    assert path_of(again.ground_truth.file_key).read_bytes().startswith(TRUTH.encode()[:10])
    assert [file.name for file in again.data_files.all()] == ["train.csv"]
    assert [one.name for one in again.baselines.all()] == ["Guess"]
    assert not again.teams.exists()


def packed(data: bytes, name_of: Callable[[str], str], *others: str) -> bytes:
    """An exported competition zipped again with other paths, and with further files."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in others:
            new.writestr(name, b"\0\1")
        for name in old.namelist():
            new.writestr(name_of(name), old.read(name))
    return out.getvalue()


LEFT_BY_SYSTEMS = (
    *("__MACOSX/._pets", "__MACOSX/pets/data/._train.csv", "pets/.DS_Store", "pets/data/Thumbs.db"),
    *("pets/.git/HEAD", "pets/data/.ipynb_checkpoints/train.csv", "pets/~$rules.docx", "pets/rules.md~"),
)


@pytest.mark.parametrize(
    ("name_of", "others"),
    [
        ("{}", LEFT_BY_SYSTEMS),
        ("pets/{}", ("pets/", "pets/data/")),
        ("pets/{}", LEFT_BY_SYSTEMS),
        ("Term 1/pets/{}", ("Term 1/", "Term 1/.DS_Store", "desktop.ini")),
        ("pets\\{}", ("pets\\data\\", "pets\\Thumbs.db")),
    ],
)
def test_a_competition_zipped_as_a_folder_comes_in_too(
    pets: Competition, ada: User, name_of: str, others: Sequence[str]
) -> None:
    data_files.add_data_file(competition=pets, file_name="été.csv", chunks=[b"id,x\n90,1\n"], description="Summer")
    data = exported(signed_in(ada))
    competitions.delete_competition(competition=pets)
    back = "\\" in name_of
    again = packed(data, lambda name: name_of.format(name.replace("/", "\\") if back else name), *others)
    assert bring(signed_in(ada), again)["Location"] == "/host/pets/setup/"
    made = Competition.objects.get()
    assert [(file.name, file.description) for file in made.data_files.all()] == [("été.csv", "Summer")]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_names_of_a_mac_are_read_as_utf_8(pets: Competition, ada: User, form: Literal["NFC", "NFD"]) -> None:
    """Macs write UTF-8 into archives, letters in two code points, and do not say so."""
    data_files.add_data_file(competition=pets, file_name="été.csv", chunks=[b"id,x\n90,1\n"], description="Summer")
    data = exported(signed_in(ada))
    competitions.delete_competition(competition=pets)
    written = unicodedata.normalize(form, "été.csv").encode()
    placeholder = "x" * len(written)
    silent = packed(data, lambda name: name.replace("été.csv", placeholder)).replace(placeholder.encode(), written)
    assert bring(signed_in(ada), silent)["Location"] == "/host/pets/setup/"
    assert [file.description for file in Competition.objects.get().data_files.all()] == ["Summer"]


@pytest.mark.parametrize(
    ("name", "encoding"),
    [("été.csv", "cp850"), ("Übung.csv", "cp1252"), ("données.csv", "cp1252"), ("训练.csv", "gb18030")],
)
def test_names_in_the_encoding_of_a_windows_are_read(pets: Competition, ada: User, name: str, encoding: str) -> None:
    data_files.add_data_file(competition=pets, file_name=name, chunks=[b"id,x\n90,1\n"], description="Summer")
    data = exported(signed_in(ada))
    competitions.delete_competition(competition=pets)
    placeholder = "x" * len(name.encode(encoding))
    old = packed(data, lambda part: part.replace(name, placeholder))
    assert bring(signed_in(ada), old.replace(placeholder.encode(), name.encode(encoding)))["Location"].endswith(
        "setup/"
    )
    assert [file.name for file in Competition.objects.get().data_files.all()] == [name]


def test_a_link_in_an_archive_is_refused(pets: Competition, ada: User) -> None:
    link = zipfile.ZipInfo("data/link.csv")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    data = io.BytesIO(exported(signed_in(ada)))
    with zipfile.ZipFile(data, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    page = bring(signed_in(ada), data.getvalue())
    assert (page.status_code, Competition.objects.count()) == (409, 1)
    assert "data/link.csv is a link" in text_of(page)


def test_what_cannot_be_brought_along_is_said_and_nothing_is_kept(pets: Competition, ada: User) -> None:
    client = signed_in(ada)
    data = exported(client)
    for body, words, status in (
        (b"no zip", "This isn't a ZIP file, or it's damaged or has a password", 409),
        (data[:900], "This isn't a ZIP file, or it's damaged or has a password", 409),
        (gzip.compress(data), "This is a gzip file. Pack the folder as a ZIP file.", 409),
        (b"7z\xbc\xaf\x27\x1c\x00", "This is a 7-Zip archive.", 409),
        (b"", "This file is empty", 422),
    ):
        page = bring(client, body)
        assert page.status_code == status
        assert words in text_of(page)
        assert "Drop your files here" in text_of(page)
    answer = client.post("/host/new/", {"action": "import"})
    assert answer.status_code == 422
    assert Competition.objects.count() == 1


def test_last_years_competition_is_brought_along_beside_itself(pets: Competition, ada: User) -> None:
    """Nobody can write another address into a zip file on the page that says that this one is taken."""
    client = signed_in(ada)
    close(pets)
    data = exported(client)
    for number in (2, 3):
        page = client.get(bring(client, data)["Location"], follow=True)
        assert f"is a draft that only you see, at /c/pets-{number}/." in text_of(page)
        made = Competition.objects.order_by("pk").last()
        assert made is not None
        assert (made.slug, made.title, made.launched_at) == (f"pets-{number}", pets.title, None)
    with pytest.raises(competitions.CannotHost, match=r"competition\.toml can't be used"):
        folders.import_zip(chunks=[data], user=ada)
    assert Competition.objects.count() == 3


def test_a_zip_over_the_sites_limit_is_refused(ada: User, settings: LazySettings) -> None:
    settings.MAX_UPLOAD_BYTES = 10
    page = bring(signed_in(ada), b"x" * 20)
    assert page.status_code == 413
    assert "larger than" in text_of(page)


def test_a_draft_without_answers_goes_along_too(ada: User) -> None:
    copying.create_default_draft(user=ada, title="Pets", slug="pets", overview="Which?")
    archive = zipfile.ZipFile(io.BytesIO(exported(signed_in(ada))))
    assert "truth.csv" not in archive.namelist()


def test_an_assistant_does_not_get_the_answers(pets: Competition, cy: User) -> None:
    roles.give_role(competition=pets, name="cy", role=HostingRole.ASSISTANT)
    assert signed_in(cy).get(EXPORT).status_code in (403, 404)
    assert signed_in(cy).get("/host/pets/submissions/").status_code == 200
