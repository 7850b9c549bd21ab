"""A form that was cut off on its way is no form.

Django takes what came of a file for the whole file: of a client that hung up, or that named too short a length, the
beginning would be scored. What a client sends without naming a length at all, it does not read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.files.uploadhandler import FileUploadHandler, StopUpload, TemporaryFileUploadHandler
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import render

from .slow_clients import MeteredBody

TAIL = 1024
NO_LENGTH = "Send this file with its length (Content-Length); a body in chunks without one is not read."


class TailReader:
    """A stream that remembers how it ended."""

    def __init__(self, source: Any) -> None:
        self.source = source
        self.end = b""

    def read(self, *size: int) -> bytes:
        data: bytes = self.source.read(*size)
        self.end = (self.end + data)[-TAIL:]
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)


class WholeFormHandler(FileUploadHandler):
    """Refuses a form whose last boundary has not come, and stops at files that nobody sends; stands first, and touches
    no file."""

    stream: TailReader | None = None
    last_boundary = b""
    is_stopped = False

    def new_file(self, *arguments: Any, **options: Any) -> None:
        """No form for strangers asks for a file, and what one has in it was written to the disk before anybody looked
        who it is. The rest is read and forgotten."""
        super().new_file(*arguments, **options)
        user, owner = getattr(self.request, "user", None), getattr(self.request, "auth", None)
        if owner is None and not getattr(user, "is_authenticated", False):
            self.is_stopped = True
            raise StopUpload(connection_reset=False)

    def handle_raw_input(
        self, input_data: Any, meta: dict[str, Any], content_length: int, boundary: Any, encoding: str | None = None
    ) -> None:
        if isinstance(input_data, HttpRequest):
            self.stream = TailReader(input_data._stream)
            setattr(input_data, "_stream", self.stream)  # noqa: B010 - it is read from like the one it stands for
            self.last_boundary = b"--" + boundary + b"--"

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None

    def upload_complete(self) -> None:
        is_too_large = self.request is not None and self.request.META.get("leaderboard.too_large")
        if (
            self.stream is not None
            and not (is_too_large or self.is_stopped)
            and self.last_boundary not in self.stream.end
        ):
            raise MultiPartParserError("The form ended before its last boundary.")


class DiskUploadHandler(TemporaryFileUploadHandler):
    """Lets the body empty the file on the disk, should it fall silent."""

    def new_file(self, *arguments: Any, **options: Any) -> None:
        super().new_file(*arguments, **options)
        body = self.request.META.get("wsgi.input") if self.request else None
        if isinstance(body, MeteredBody):
            body.files.append(self.file)


class LengthMiddleware:
    """Says what is missing to a client that sends a body in chunks; no browser does."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        is_chunked = "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower()
        if not is_chunked or request.META.get("CONTENT_LENGTH"):
            return self.get_response(request)
        if request.path.startswith("/api/"):
            return JsonResponse({"detail": NO_LENGTH, "errors": []}, status=411)
        return render(request, "400.html", {"why": NO_LENGTH}, status=411)
