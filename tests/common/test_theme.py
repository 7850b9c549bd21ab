"""Light or dark, and back to where one was."""

from __future__ import annotations

import pytest
from django.test import Client


def test_a_choice_is_kept_and_shown(client: Client, db: None) -> None:
    response = client.get("/theme/?to=dark&next=/metrics/%3Fq%3Df1")
    assert response["Location"] == "/metrics/?q=f1"
    assert client.cookies["theme"]["samesite"] == "Lax"
    assert 'data-theme="dark"' in client.get("/").content.decode()
    client.get("/theme/?to=light")
    assert 'data-theme="light"' in client.get("/").content.decode()
    client.get("/theme/?to=purple")
    assert "data-theme" not in client.get("/").content.decode()


@pytest.mark.parametrize(
    "target",
    ["//evil.example", "/\\evil.example", "https:evil.example", "https://evil.example", "\\\\evil",
     "javascript:alert(1)", "%09//evil.example", "/%09/evil.example", "%0d%0aSet-Cookie:x=1", "///evil.example", "http://testserver/",
     "evil", ""],
)  # fmt: skip
def test_nobody_is_sent_elsewhere(client: Client, db: None, target: str) -> None:
    assert client.get(f"/theme/?to=dark&next={target}")["Location"] == "/"
