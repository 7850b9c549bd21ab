"""URLs of boards. Each has the name of its view."""

from __future__ import annotations

from django.urls import path

from .views import leaderboard, projector, reveal

urlpatterns = [
    path("c/<slug:slug>/leaderboard/", leaderboard.leaderboard, name="leaderboard"),
    path("c/<slug:slug>/leaderboard.csv", leaderboard.leaderboard_csv, name="leaderboard_csv"),
    path("host/<slug:slug>/board.csv", leaderboard.host_board_csv, name="host_board_csv"),
    path("host/<slug:slug>/reveal/", reveal.host_reveal, name="host_reveal"),
    path("host/<slug:slug>/projector/", projector.host_projector, name="host_projector"),
]
