"""Addresses that people hand on to others: on a join card, on the board of a class, in a chat."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port
from django.urls import reverse

HERE = ("localhost", "127.0.0.1", "[::1]")
USUAL_PORT = "8000"


def absolute_url(request: HttpRequest, name: str, *args: object) -> str:
    """The whole address of a page: under the site's own (`SITE_URL`), else under the one that was asked."""
    path = reverse(name, args=args)
    return settings.SITE_URL.rstrip("/") + path if settings.SITE_URL else request.build_absolute_uri(path)


def opening_command(request: HttpRequest) -> str:
    """What starts the site where others reach it; empty unless such addresses open on this machine alone."""
    host = urlsplit(settings.SITE_URL).netloc or request.get_host()
    if split_domain_port(host)[0] not in HERE:
        return ""
    port = split_domain_port(request.get_host())[1] or USUAL_PORT
    command = f"SITE_URL=http://…:{port} python3 manage.py up --host 0.0.0.0"
    return command if port == USUAL_PORT else f"{command} --port {port}"
