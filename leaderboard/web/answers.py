"""What pages of every audience answer alike."""

from __future__ import annotations

from typing import cast

from django.core.cache import cache, caches
from django.http import FileResponse, Http404, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from ..models import User, Viewer
from ..shared_cache import SharedCache
from ..storage import path_of

# htmx stops polling when it gets this status.
STOP_POLLING = 286


def see_other(name: str, *, query: str = "", fragment: str = "", **parts: object) -> HttpResponse:
    """Go to a page by GET after a POST (303), so that reloading repeats nothing."""
    response = HttpResponseRedirect(reverse(name, kwargs=parts) + query + fragment)
    response.status_code = 303
    return response


def person(user: Viewer) -> User:
    """The account behind a page that only signed-in people reach."""
    assert not user.is_anonymous, "open_to lets nobody anonymous through"
    return user


def as_download(key: str, name: str) -> FileResponse:
    """A stored file, whole and unread by the browser."""
    try:
        file = path_of(key).open("rb")
    except FileNotFoundError:
        raise Http404(_("The file is gone from the server.")) from None
    answer = FileResponse(file, as_attachment=True, filename=name, content_type="application/octet-stream")
    answer["X-Content-Type-Options"] = "nosniff"
    return answer


def tries(what: str, who: object) -> int:
    """How often somebody did something lately, in all processes together."""
    return int(cache.get(_key(what, who), 0))


def count_try(what: str, who: object, *, seconds: int) -> int:
    """One more: how many there are with it. The count is forgotten `seconds` after the first."""
    shared = cast(SharedCache, caches["default"])
    return shared.count(_key(what, who), seconds)


def _key(what: str, who: object) -> str:
    return f"tries:{what}:{who}"
