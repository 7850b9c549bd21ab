"""URLs of submissions. Each has the name of its view and of its template."""

from __future__ import annotations

from django.urls import path

from .views import host_submissions, submissions, submit

urlpatterns = [
    path("c/<slug:slug>/submit/", submit.submit, name="submit"),
    path("c/<slug:slug>/submissions/", submissions.submissions, name="submissions"),
    path("c/<slug:slug>/submissions/<uuid:submission_id>/", submissions.submission, name="submission"),
    path(
        "c/<slug:slug>/submissions/<uuid:submission_id>/progress/",
        submit.submission_progress,
        name="submission_progress",
    ),
    path(
        "c/<slug:slug>/submissions/<uuid:submission_id>/convert/",
        submit.submission_convert,
        name="submission_convert",
    ),
    path("c/<slug:slug>/submissions/<uuid:submission_id>/file/", submissions.submission_file, name="submission_file"),
    path(
        "c/<slug:slug>/submissions/<uuid:submission_id>/attachment/",
        submissions.submission_attachment,
        name="submission_attachment",
    ),
    path(
        "c/<slug:slug>/submissions/<uuid:submission_id>/problems.csv",
        submissions.submission_problems,
        name="submission_problems",
    ),
    path("c/<slug:slug>/rescored/", submissions.rescored, name="rescored"),
    path("c/<slug:slug>/finals/", submissions.finals, name="finals"),
    path("host/<slug:slug>/submissions/", host_submissions.host_submissions, name="host_submissions"),
    path("host/<slug:slug>/submissions/again/", host_submissions.host_score_again, name="host_score_again"),
    path(
        "host/<slug:slug>/submissions/<uuid:submission_id>/", host_submissions.host_submission, name="host_submission"
    ),
    path("host/<slug:slug>/submissions.zip", host_submissions.host_submissions_zip, name="host_submissions_zip"),
    path("host/<slug:slug>/baselines/", host_submissions.host_baselines, name="host_baselines"),
]
