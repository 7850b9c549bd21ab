"""The scorer to take home: the library that scores here, as one file for pip."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect

import metrics

from ..access import Audience, open_to


@open_to(Audience.ANYONE)
def home_scorer(request: HttpRequest) -> HttpResponseBase:
    """To the file of today; pip reads its name from the address."""
    return redirect("home_scorer_file", metrics.wheel()[0])


@open_to(Audience.ANYONE)
def home_scorer_file(request: HttpRequest, name: str) -> HttpResponseBase:
    current, data = metrics.wheel()
    if name != current:
        raise Http404("The site scores with another version now; take the current file.")
    response = HttpResponse(data, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
