"""Is it alive."""

from __future__ import annotations

from django.test import Client


def test_it_answers_without_the_database(client: Client) -> None:
    response = client.get("/healthz")
    assert response.content == b"ok"
    assert response["Content-Type"] == "text/plain"
