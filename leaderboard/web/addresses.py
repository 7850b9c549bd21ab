"""Addresses that people hand on to others: on a slip, on the board of a class, in a chat."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port
from django.urls import reverse

HERE = ("localhost", "127.0.0.1", "[::1]")


def whole(request: HttpRequest, name: str, *args: object) -> str:
    """The whole address of a page: under the site's own (`SITE_URL`), else under the one that was asked."""
    path = reverse(name, args=args)
    return settings.SITE_URL.rstrip("/") + path if settings.SITE_URL else request.build_absolute_uri(path)


def is_only_here(request: HttpRequest) -> bool:
    """Whether such addresses open on this machine alone, so that handing them on helps nobody."""
    host = urlsplit(settings.SITE_URL).netloc or request.get_host()
    return split_domain_port(host)[0] in HERE
