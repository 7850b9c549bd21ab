"""Every page's address; the name is the view's and the template's."""

from __future__ import annotations

from django.urls import path

from . import hosts, students, visitors

urlpatterns = [
    path("", visitors.competitions, name="competitions"),
    path("healthz", visitors.healthz, name="healthz"),
    path("theme/", visitors.theme, name="theme"),
    path("setup/<str:secret>/", visitors.setup, name="setup"),
    path("metrics/", visitors.metrics, name="metrics"),
    path("metrics/download/", visitors.home_scorer, name="home_scorer"),
    path("metrics/download/<str:name>", visitors.home_scorer_file, name="home_scorer_file"),
    path("metrics/<slug:key>/", visitors.metric, name="metric"),
    path("c/<slug:slug>/", visitors.overview, name="overview"),
    path("c/<slug:slug>/data/", visitors.data, name="data"),
    path("c/<slug:slug>/data/sample_submission.csv", visitors.sample_submission, name="sample_submission"),
    path("c/<slug:slug>/data/files/<str:name>", visitors.data_file, name="data_file"),
    path("c/<slug:slug>/rules/", visitors.rules, name="rules"),
    path("c/<slug:slug>/leaderboard/", visitors.leaderboard, name="leaderboard"),
    path("c/<slug:slug>/leaderboard.csv", visitors.leaderboard_csv, name="leaderboard_csv"),
    path("join/", students.join, name="join"),
    path("join/<str:code>/", students.join_code, name="join_code"),
    path("invitation/<str:invitation>/", students.invitation, name="invitation"),
    path("teams/", students.my_teams, name="my_teams"),
    path("account/", students.account, name="account"),
    path("c/<slug:slug>/join/", students.join_open, name="join_open"),
    path("c/<slug:slug>/submit/", students.submit, name="submit"),
    path("c/<slug:slug>/submissions/", students.submissions, name="submissions"),
    path("c/<slug:slug>/submissions/<uuid:submission_id>/", students.submission, name="submission"),
    path(
        "c/<slug:slug>/submissions/<uuid:submission_id>/progress/",
        students.submission_progress,
        name="submission_progress",
    ),
    path("c/<slug:slug>/submissions/<uuid:submission_id>/file/", students.submission_file, name="submission_file"),
    path(
        "c/<slug:slug>/submissions/<uuid:submission_id>/problems.csv",
        students.submission_problems,
        name="submission_problems",
    ),
    path("c/<slug:slug>/finals/", students.finals, name="finals"),
    path("c/<slug:slug>/team/", students.team, name="team"),
    path("host/", hosts.host, name="host"),
    path("host/new/", hosts.host_new, name="host_new"),
    path("host/<slug:slug>/", hosts.host_competition, name="host_competition"),
    path("host/<slug:slug>/settings/", hosts.host_settings, name="host_settings"),
    path("host/<slug:slug>/people/", hosts.host_people, name="host_people"),
    path("host/<slug:slug>/truth/", hosts.host_truth, name="host_truth"),
    path("host/<slug:slug>/truth/<int:number>/file/", hosts.host_truth_file, name="host_truth_file"),
    path("host/<slug:slug>/candidate/", hosts.host_candidate, name="host_candidate"),
    path("host/<slug:slug>/data/", hosts.host_data, name="host_data"),
    path("host/<slug:slug>/submissions/", hosts.host_submissions, name="host_submissions"),
    path(
        "host/<slug:slug>/submissions/<uuid:submission_id>/file/",
        hosts.host_submission_file,
        name="host_submission_file",
    ),
    path("host/<slug:slug>/baselines/", hosts.host_baselines, name="host_baselines"),
    path("host/<slug:slug>/board.csv", hosts.host_board_csv, name="host_board_csv"),
    path("host/<slug:slug>/reveal/", hosts.host_reveal, name="host_reveal"),
    path("host/<slug:slug>/launch/", hosts.host_launch, name="host_launch"),
    path("host/<slug:slug>/delete/", hosts.host_delete, name="host_delete"),
]
