"""URLs of competitions. Each has the name of its view and of its template."""

from __future__ import annotations

from django.urls import path

from leaderboard.boards.views import leaderboard, projector
from leaderboard.competitions import views as page_tasks
from leaderboard.ground_truths.views import data_files, ground_truths, launch, setup, truth, truth_metric
from leaderboard.submissions.views import host_submissions, submissions, submit

from .views import competitions, front, home, metrics, overview

urlpatterns = [
    path("", home.home, name="home"),
    path("competitions/", front.competitions, name="competitions"),
    path("tasks/<uuid:task_id>/", page_tasks.page_task, name="page_task"),
    path("metrics/", metrics.metrics, name="metrics"),
    path("metrics/<slug:key>/", metrics.metric, name="metric"),
    path("c/<slug:slug>/", overview.overview, name="overview"),
    path("c/<slug:slug>/data/", data_files.data, name="data"),
    path("c/<slug:slug>/data/sample_submission.csv", data_files.sample_submission, name="sample_submission"),
    path("c/<slug:slug>/data.zip", data_files.data_zip, name="data_zip"),
    path("c/<slug:slug>/data/files/<str:name>", data_files.data_file, name="data_file"),
    path("c/<slug:slug>/leaderboard/", leaderboard.leaderboard, name="leaderboard"),
    path("c/<slug:slug>/leaderboard.csv", leaderboard.leaderboard_csv, name="leaderboard_csv"),
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
        "c/<slug:slug>/submissions/<uuid:submission_id>/problems.csv",
        submissions.submission_problems,
        name="submission_problems",
    ),
    path("c/<slug:slug>/rescored/", submissions.rescored, name="rescored"),
    path("c/<slug:slug>/finals/", submissions.finals, name="finals"),
    path("preview/", competitions.markdown_preview, name="markdown_preview"),
    path("host/", competitions.host, name="host"),
    path("host/new/", setup.host_new, name="host_new"),
    path("host/<slug:slug>/setup/", setup.host_setup, name="host_setup"),
    path("host/<slug:slug>/setup/launch/", launch.host_setup_launch, name="host_setup_launch"),
    path("host/<slug:slug>/export.zip", data_files.host_export, name="host_export"),
    path("host/<slug:slug>/clone/", launch.host_clone, name="host_clone"),
    path("host/<slug:slug>/settings/", competitions.host_settings, name="host_settings"),
    path("host/<slug:slug>/audit/", competitions.host_audit, name="host_audit"),
    path("host/<slug:slug>/truth/", truth.host_truth, name="host_truth"),
    path("host/<slug:slug>/truth/metric/", truth_metric.host_truth_metric, name="host_truth_metric"),
    path("host/<slug:slug>/truth/check/", ground_truths.host_truth_check, name="host_truth_check"),
    path("host/<slug:slug>/truth/<int:number>/file/", ground_truths.host_truth_file, name="host_truth_file"),
    path("host/<slug:slug>/candidate/", ground_truths.host_candidate, name="host_candidate"),
    path("host/<slug:slug>/data/", data_files.host_data, name="host_data"),
    path("host/<slug:slug>/submissions/", host_submissions.host_submissions, name="host_submissions"),
    path("host/<slug:slug>/submissions/again/", host_submissions.host_score_again, name="host_score_again"),
    path(
        "host/<slug:slug>/submissions/<uuid:submission_id>/file/",
        host_submissions.host_submission_file,
        name="host_submission_file",
    ),
    path(
        "host/<slug:slug>/submissions/<uuid:submission_id>/", host_submissions.host_submission, name="host_submission"
    ),
    path("host/<slug:slug>/submissions.zip", host_submissions.host_submissions_zip, name="host_submissions_zip"),
    path("host/<slug:slug>/pause/", launch.host_pause, name="host_pause"),
    path("host/<slug:slug>/baselines/", host_submissions.host_baselines, name="host_baselines"),
    path("host/<slug:slug>/board.csv", leaderboard.host_board_csv, name="host_board_csv"),
    path("host/<slug:slug>/reveal/", launch.host_reveal, name="host_reveal"),
    path("host/<slug:slug>/launch/", launch.host_launch, name="host_launch"),
    path("host/<slug:slug>/projector/", projector.host_projector, name="host_projector"),
    path("host/<slug:slug>/archive/", competitions.host_archive, name="host_archive"),
    path("host/<slug:slug>/restore/", competitions.host_restore, name="host_restore"),
    path("host/<slug:slug>/delete/", competitions.host_delete, name="host_delete"),
]
