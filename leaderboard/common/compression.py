"""Answers are compressed for browsers that read gzip."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

OF_THE_SITE = ("text/css", "text/javascript", "image/svg+xml")


class CompressionMiddleware(GZipMiddleware):
    """Django's, for pages, answers to programs and the site's own text files. Fonts are compressed already, and a data
    file for a class would be compressed anew for each student."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.streaming and not response.get("Content-Type", "").startswith(OF_THE_SITE):
            return response
        return super().process_response(request, response)
