"""Pages of those who take part."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse

from .access import Audience, Visit, open_to


@open_to(Audience.ANYONE)
def join(request: HttpRequest) -> HttpResponse:
    return HttpResponse("join")


@open_to(Audience.ANYONE)
def join_code(request: HttpRequest, code: str) -> HttpResponse:
    return HttpResponse("join_code")


@open_to(Audience.ANYONE)
def invitation(request: HttpRequest, invitation: str) -> HttpResponse:
    return HttpResponse("invitation")


@open_to(Audience.SIGNED_IN)
def my_teams(request: HttpRequest) -> HttpResponse:
    return HttpResponse("my_teams")


@open_to(Audience.SIGNED_IN)
def account(request: HttpRequest) -> HttpResponse:
    return HttpResponse("account")


@open_to(Audience.MEMBERS)
def submit(request: HttpRequest, visit: Visit) -> HttpResponse:
    return HttpResponse("submit")


@open_to(Audience.MEMBERS)
def submissions(request: HttpRequest, visit: Visit) -> HttpResponse:
    return HttpResponse("submissions")


@open_to(Audience.MEMBERS)
def submission(request: HttpRequest, visit: Visit, submission_id: UUID) -> HttpResponse:
    return HttpResponse("submission")


@open_to(Audience.MEMBERS)
def submission_progress(request: HttpRequest, visit: Visit, submission_id: UUID) -> HttpResponse:
    return HttpResponse("submission_progress")


@open_to(Audience.MEMBERS)
def submission_file(request: HttpRequest, visit: Visit, submission_id: UUID) -> HttpResponse:
    return HttpResponse("submission_file")


@open_to(Audience.MEMBERS)
def submission_problems(request: HttpRequest, visit: Visit, submission_id: UUID) -> HttpResponse:
    return HttpResponse("submission_problems")


@open_to(Audience.MEMBERS)
def finals(request: HttpRequest, visit: Visit) -> HttpResponse:
    return HttpResponse("finals")


@open_to(Audience.MEMBERS)
def team(request: HttpRequest, visit: Visit) -> HttpResponse:
    return HttpResponse("team")
