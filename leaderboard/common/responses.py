"""Responses, and absolute addresses of pages, that views of every audience share."""

from __future__ import annotations

import codecs
import tempfile
import zipfile
from collections.abc import Callable, Collection
from typing import TypeVar
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db.models import F, OrderBy
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.request import split_domain_port
from django.urls import reverse
from django.utils.translation import gettext as _

from . import folders, network
from .storage import path_of, scratch_folder
from .web_requests import counted_address

# htmx stops polling when it gets this status.
STOP_POLLING = 286

Account = TypeVar("Account", bound=AbstractBaseUser)


def see_other(name: str, *, query: str = "", fragment: str = "", **parts: object) -> HttpResponse:
    """Go to a page by GET after a POST (303), so that reloading repeats nothing."""
    response = HttpResponseRedirect(reverse(name, kwargs=parts) + query + fragment)
    response.status_code = 303
    return response


def sort_choice(request: HttpRequest, names: Collection[str], default: str) -> tuple[str, bool]:
    """The column that a table is sorted by, and whether descending: `?sort=name` or `?sort=-name`."""
    wanted = request.GET.get("sort", default)
    if wanted.removeprefix("-") not in names:
        wanted = default
    return wanted.removeprefix("-"), wanted.startswith("-")


def in_order(field: str, *, is_backwards: bool) -> OrderBy:
    """Ordering by a field, with rows without a value last in both directions."""
    return F(field).desc(nulls_last=True) if is_backwards else F(field).asc(nulls_last=True)


def posted_number(text: str) -> int:
    """The primary key in a posted field; 0, which no row has, for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else 0


def signed_in_user(user: Account | AnonymousUser) -> Account:
    """The account of a request, for views that only signed-in people reach."""
    assert not isinstance(user, AnonymousUser), "open_to lets nobody anonymous through"
    return user


def client_address_of(request: HttpRequest) -> str:
    """The client's address as all limits count it; behind a trusted proxy, the one that the proxy reports."""
    return counted_address(request.META, settings.ALLAUTH_TRUSTED_PROXY_COUNT)


def csv_download(data: bytes, name: str) -> HttpResponse:
    """A CSV that programs read, which know no byte-order mark."""
    response = HttpResponse(data, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


def spreadsheet_download(text: str, name: str) -> HttpResponse:
    """A CSV that people open in a spreadsheet. Excel reads it as UTF-8 only if it begins with a byte-order mark."""
    return csv_download(codecs.BOM_UTF8 + text.encode(), name)


def as_download(key: str, name: str) -> FileResponse:
    """A stored file as an attachment that the browser saves and does not open."""
    try:
        file = path_of(key).open("rb")
    except FileNotFoundError:
        raise Http404(_("The file no longer exists on the server.")) from None
    return FileResponse(file, as_attachment=True, filename=name, content_type="application/octet-stream")


def zip_download(name: str, write: Callable[[zipfile.ZipFile], None]) -> FileResponse:
    """A zip file that `write` fills, in a nameless file of the storage's folder: it need not fit into memory, and a
    crash leaves nothing behind."""
    file = tempfile.TemporaryFile(dir=scratch_folder())  # noqa: SIM115 - the response closes it
    try:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            write(archive)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return FileResponse(file, as_attachment=True, filename=name, content_type="application/zip")


HERE = ("localhost", "127.0.0.1", "[::1]")
USUAL_PORT = "8000"


def absolute_url(request: HttpRequest, name: str, *args: object) -> str:
    """The absolute URL of a page for other computers: below `SITE_URL`, else below the address of the request, or below
    one of the network if that address means this computer alone."""
    path = reverse(name, args=args)
    if settings.SITE_URL:
        return f"{settings.SITE_URL}{path}"
    urls = network.own_urls(settings.NETWORK_PORT) if _is_local(request.get_host()) and settings.NETWORK_PORT else []
    return urls[0].rstrip("/") + path if urls else request.build_absolute_uri(path)


def opening_command(request: HttpRequest) -> str:
    """The command that makes the site reachable from other machines; `""` if it is reachable already."""
    if not _is_local(urlsplit(absolute_url(request, "home")).netloc):
        return ""
    port = split_domain_port(request.get_host())[1] or USUAL_PORT
    command = f"{folders.COMMAND} up --host 0.0.0.0"
    return command if port == USUAL_PORT else f"{command} --port {port}"


def _is_local(host: str) -> bool:
    return split_domain_port(host)[0] in HERE
