"""What tests of pages share: people in a browser, files of a form, and pages as text."""

from __future__ import annotations

import re

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


def text_of(response: HttpResponseBase) -> str:
    """The words of a page without its tags."""
    text = re.sub(r"<[^>]+>", " ", response.content.decode())  # type: ignore[attr-defined]
    return " ".join(text.split()).replace("&quot;", '"').replace("&#x27;", "'")


def tidy(page: str) -> str:
    """The page without the whitespace beside its tags: where a template breaks its lines is free."""
    return re.sub(r" ?(<[^>]*>) ?", r"\1", " ".join(page.split()))
