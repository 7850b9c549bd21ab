"""Long tables come in pages, and what was asked for stays asked for on each of them."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.template.loader import render_to_string
from django.test import RequestFactory

from tests.pages import tidy


def links(query: str, *, of: int = 5, **words: str) -> str:
    request = RequestFactory().get("/host/pets/people/", QUERY_STRING=query)
    page = Paginator(range(of), 2).get_page(request.GET.get("page"))
    return tidy(render_to_string("pagination.html", {"page": page, **words}, request))


def test_both_neighbours_keep_the_filter() -> None:
    found = links("q=bo+%26+cy&state=joined&page=2")
    assert 'rel="prev" href="?q=bo+%26+cy&amp;state=joined&amp;page=1"' in found
    assert 'rel="next" href="?q=bo+%26+cy&amp;state=joined&amp;page=3"' in found
    assert "Page 2 of 3" in found


def test_the_ends_have_one_neighbour() -> None:
    assert "prev" not in links("")
    assert "next" not in links("page=99")


def test_what_fits_on_one_page_needs_no_links() -> None:
    assert links("q=bo", of=2).strip() == ""


def test_the_words_are_those_of_the_table() -> None:
    assert ">Newer</a>" in links("page=2", before="Newer", after="Older")
    assert ">Older</a>" in links("page=2", before="Newer", after="Older")
    assert ">Back</a>" in links("page=2")


def test_what_somebody_put_into_the_address_is_no_markup() -> None:
    assert "<b>" not in links("q=%3Cb%3E%22%3E&page=2")
