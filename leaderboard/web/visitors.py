"""Pages that everybody may read who may see the competition."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from .access import Audience, Visit, open_to


@open_to(Audience.ANYONE)
def competitions(request: HttpRequest) -> HttpResponse:
    return HttpResponse("competitions")


@open_to(Audience.ANYONE)
def healthz(request: HttpRequest) -> HttpResponse:
    return HttpResponse("healthz")


@open_to(Audience.ANYONE)
def theme(request: HttpRequest) -> HttpResponse:
    return HttpResponse("theme")


@open_to(Audience.ANYONE)
def setup(request: HttpRequest, secret: str) -> HttpResponse:
    return HttpResponse("setup")


@open_to(Audience.ANYONE)
def metrics(request: HttpRequest) -> HttpResponse:
    return HttpResponse("metrics")


@open_to(Audience.ANYONE)
def metric(request: HttpRequest, key: str) -> HttpResponse:
    return HttpResponse("metric")


@open_to(Audience.VISITORS)
def overview(request: HttpRequest, visit: Visit) -> HttpResponse:
    return HttpResponse("overview")


@open_to(Audience.VISITORS)
def data(request: HttpRequest, visit: Visit) -> HttpResponse:
    return HttpResponse("data")


@open_to(Audience.VISITORS)
def sample_submission(request: HttpRequest, visit: Visit) -> HttpResponse:
    return HttpResponse("sample_submission")


@open_to(Audience.VISITORS)
def data_file(request: HttpRequest, visit: Visit, name: str) -> HttpResponse:
    return HttpResponse("data_file")


@open_to(Audience.VISITORS)
def rules(request: HttpRequest, visit: Visit) -> HttpResponse:
    return HttpResponse("rules")


@open_to(Audience.VISITORS)
def leaderboard(request: HttpRequest, visit: Visit) -> HttpResponse:
    return HttpResponse("leaderboard")


@open_to(Audience.VISITORS)
def leaderboard_csv(request: HttpRequest, visit: Visit) -> HttpResponse:
    return HttpResponse("leaderboard_csv")
