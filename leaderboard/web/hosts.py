"""Pages of those who host."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse

from .access import Audience, Visit, open_to


@open_to(Audience.SITE_HOSTS)
def host(request: HttpRequest) -> HttpResponse:
    return HttpResponse("host")


@open_to(Audience.SITE_HOSTS)
def host_new(request: HttpRequest) -> HttpResponse:
    return HttpResponse("host_new")


@open_to(Audience.HOSTS)
def host_competition(request: HttpRequest, visit: Visit) -> HttpResponse:
    return HttpResponse("host_competition")


@open_to(Audience.HOSTS)
def host_settings(request: HttpRequest, visit: Visit) -> HttpResponse:
    return HttpResponse("host_settings")


@open_to(Audience.HOSTS)
def host_truth(request: HttpRequest, visit: Visit) -> HttpResponse:
    return HttpResponse("host_truth")


@open_to(Audience.HOSTS)
def host_truth_file(request: HttpRequest, visit: Visit, number: int) -> HttpResponse:
    return HttpResponse("host_truth_file")


@open_to(Audience.HOSTS)
def host_candidate(request: HttpRequest, visit: Visit) -> HttpResponse:
    return HttpResponse("host_candidate")


@open_to(Audience.HOSTS)
def host_data(request: HttpRequest, visit: Visit) -> HttpResponse:
    return HttpResponse("host_data")


@open_to(Audience.HOSTS)
def host_submissions(request: HttpRequest, visit: Visit) -> HttpResponse:
    return HttpResponse("host_submissions")


@open_to(Audience.HOSTS)
def host_submission_file(request: HttpRequest, visit: Visit, submission_id: UUID) -> HttpResponse:
    return HttpResponse("host_submission_file")


@open_to(Audience.HOSTS)
def host_baselines(request: HttpRequest, visit: Visit) -> HttpResponse:
    return HttpResponse("host_baselines")


@open_to(Audience.HOSTS)
def host_board_csv(request: HttpRequest, visit: Visit) -> HttpResponse:
    return HttpResponse("host_board_csv")


@open_to(Audience.HOSTS)
def host_reveal(request: HttpRequest, visit: Visit) -> HttpResponse:
    return HttpResponse("host_reveal")


@open_to(Audience.HOSTS)
def host_launch(request: HttpRequest, visit: Visit) -> HttpResponse:
    return HttpResponse("host_launch")


@open_to(Audience.HOSTS)
def host_delete(request: HttpRequest, visit: Visit) -> HttpResponse:
    return HttpResponse("host_delete")
