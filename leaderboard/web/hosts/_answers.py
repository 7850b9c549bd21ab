"""What the host pages answer alike."""

from __future__ import annotations

from django.conf import settings
from django.forms import Form
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse

from ...hosting import CannotHost
from ...models import User, Viewer
from ...storage import TooLarge, path_of


def see_other(name: str, *, fragment: str = "", **parts: object) -> HttpResponse:
    """Go to a page by GET after a POST (303), so that reloading repeats nothing."""
    response = HttpResponseRedirect(reverse(name, kwargs=parts) + fragment)
    response.status_code = 303
    return response


def person(user: Viewer) -> User:
    """The account behind a page that only signed-in people reach."""
    assert not user.is_anonymous, "open_to lets nobody anonymous through"
    return user


def posted(request: HttpRequest) -> QueryDict | None:
    """What binds a form: also an empty POST, which then has its mistakes shown."""
    return request.POST if request.method == "POST" else None


def refuse_too_large(request: HttpRequest) -> None:
    """Raise `TooLarge` for an upload that was cut off on its way in."""
    request.FILES  # noqa: B018 - reading the body is what notices it
    if request.META.get("leaderboard.too_large"):
        raise TooLarge(settings.MAX_UPLOAD_BYTES)


def add_refusal(form: Form, error: Exception) -> int:
    """Put what a verb refused above the form; gives the status of the answer."""
    if isinstance(error, TooLarge):
        # The file never arrived whole, so the form thinks that none was chosen.
        form.errors.pop("file", None)
    lines = [error.message, *error.details] if isinstance(error, CannotHost) else [str(error)]
    for line in lines:
        form.add_error(None, line)
    return 413 if isinstance(error, TooLarge) else 409


def as_download(key: str, name: str) -> FileResponse:
    """A stored file, whole and unread by the browser."""
    try:
        file = path_of(key).open("rb")
    except FileNotFoundError:
        raise Http404("The file is gone from the server.") from None
    answer = FileResponse(file, as_attachment=True, filename=name, content_type="application/octet-stream")
    answer["X-Content-Type-Options"] = "nosniff"
    return answer
