"""What tests of pages share: people in a browser, files of a form, and pages as text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import NamedTuple

from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponseBase
from django.test import Client

from leaderboard.accounts.models import User
from tests.conftest import TRUTH


def signed_in(user: User) -> Client:
    """A browser in which this person is signed in."""
    client = Client()
    client.force_login(user)
    return client


def upload(text: str | bytes = TRUTH, name: str = "truth.csv") -> SimpleUploadedFile:
    """A file as a form sends it."""
    return SimpleUploadedFile(name, text.encode() if isinstance(text, str) else text)


def save_settings(client: Client, slug: str, /, **fields: object) -> HttpResponseBase:
    """Save fields in the section of the settings that has them; the others are sent as the page shows them."""
    address = f"/host/{slug}/settings/"
    sections = client.get(address).context["forms"]
    name = next(name for name in ("texts", "limits", "admission", "board") if set(fields) <= set(sections[name].fields))
    shown = {field.html_name: field.value() for field in sections[name] if field.value() not in (None, False)}
    kept = {key: value for key, value in {**shown, **fields}.items() if value is not None}
    return client.post(address, {**kept, "section": name})


def link_in(page: str) -> str:
    """The path of the link to a new password that a page shows."""
    address = page.partition('data-testid="password-link"')[2].partition(">")[2].partition("<")[0]
    return address.removeprefix("http://testserver")


def text_of(response: HttpResponseBase) -> str:
    """The words of a page without its tags."""
    text = re.sub(r"<[^>]+>", " ", response.content.decode())  # type: ignore[attr-defined]
    return " ".join(text.split()).replace("&quot;", '"').replace("&#x27;", "'")


def tidy(page: str) -> str:
    """The page without the whitespace beside its tags: where a template breaks its lines is free."""
    return re.sub(r" ?(<[^>]*>) ?", r"\1", " ".join(page.split()))


def drawing_of(page: str, kind: str) -> str:
    """A chart of the page as it is drawn for the narrowest screens."""
    return page[page.index(f'class="chart {kind}"') :].partition("</svg>")[0]


class BoardLine(NamedTuple):
    """A row of a board. A baseline has no rank."""

    rank: str
    within: str
    name: str
    row: str


def board_lines(page: str) -> list[BoardLine]:
    """The rows of a board in the order of the page."""
    table = tidy(page).partition("<tbody>")[2].partition("</tbody>")[0]
    return [
        BoardLine(
            "".join(re.findall(r"<b[^>]*>(\d+)</b>", row)),
            "".join(re.findall(r'<td class="within">(\d+)', row)),
            re.sub(r"<(\w+)[^>]*>[^<]*</\1>|<[^>]*>", "", row.partition('<th scope="row">')[2].partition("</th>")[0]),
            row,
        )
        for row in re.findall(r"<tr.*?</tr>", table)
    ]


def board_fact(page: str, name: str) -> str:
    """The words of one fact above a board; "" where it is not there."""
    found = tidy(page).partition(f'data-testid="{name}">')[2].partition("data-testid=")[0].partition("<section")[0]
    return " ".join(re.sub(r"<[^>]*(>|$)", " ", found).split())


class _Form(HTMLParser):
    """Collects what a browser would send of the fields of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, str | list[str]] = {}
        self.name, self.is_text, self.is_multiple = "", False, False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name, value, kind = given.get("name") or "", given.get("value") or "", given.get("type") or "text"
        if tag in ("select", "textarea"):
            self.name, self.is_text, self.is_multiple = name, tag == "textarea", "multiple" in given
            if not self.is_multiple:
                self.fields[name] = ""
        elif tag == "option" and "selected" in given:
            self.fields[self.name] = [*self.fields.get(self.name, []), value] if self.is_multiple else value
        elif tag == "input" and name and kind not in ("file", "submit", "checkbox", "radio"):
            self.fields[name] = value
        elif tag == "input" and name and "checked" in given:
            self.fields[name] = value or "on"

    def handle_endtag(self, tag: str) -> None:
        self.is_text &= tag != "textarea"

    def handle_data(self, data: str) -> None:
        if self.is_text:
            self.fields[self.name] = f"{self.fields[self.name]}{data}"


def form_of(response: HttpResponseBase) -> dict[str, str | list[str]]:
    """The fields of a page as it shows them, to send them again; without files and buttons."""
    form = _Form()
    form.feed(response.content.decode())  # type: ignore[attr-defined]
    return form.fields
