"""How the site is: what waits, who works, what the last check of the promises found."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from ... import watching
from ..access import Audience, open_to


@open_to(Audience.OPERATORS)
def status(request: HttpRequest) -> HttpResponse:
    return render(request, "operators/status.html", watching.overview())
