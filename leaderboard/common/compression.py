"""Compression of responses for browsers that accept brotli or gzip."""

from __future__ import annotations

import re
import secrets

import brotli
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import patch_vary_headers

OF_THE_SITE = ("text/css", "text/javascript", "image/svg+xml")
LEAST = 200
READS_BROTLI = re.compile(r"\bbr\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))")
# A board gets a seventh smaller than with gzip, in 0.8 ms instead of 0.6; the highest quality takes 60 ms.
QUALITY = 6


class CompressionMiddleware(GZipMiddleware):
    """Django's gzip middleware, with brotli, for pages, API responses and the site's own text files. Other streamed
    files are left alone: fonts are compressed already, and a data file would be compressed anew for each student."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.streaming and not response.get("Content-Type", "").startswith(OF_THE_SITE):
            return response
        if isinstance(response, HttpResponse) and READS_BROTLI.search(request.headers.get("Accept-Encoding", "")):
            return self._as_brotli(response)
        return super().process_response(request, response)

    def _as_brotli(self, response: HttpResponse) -> HttpResponse:
        """A response compressed with brotli and padded to a random length, as Django does with gzip: the length must
        not reveal a page's secrets (BREACH)."""
        if len(response.content) < LEAST or response.has_header("Content-Encoding"):
            return response
        patch_vary_headers(response, ("Accept-Encoding",))
        response.content = brotli.compress(response.content, quality=QUALITY)
        response.headers["Content-Length"] = str(len(response.content))
        response.headers["Content-Encoding"] = "br"
        response.headers["X-Padding"] = "0" * secrets.randbelow(self.max_random_bytes)
        etag = response.get("ETag", "")
        if etag.startswith('"'):
            response.headers["ETag"] = f"W/{etag}"
        return response
