"""URLs of site: home, lists of competitions, metrics, settings. Each has the name of its view and of its template."""

from __future__ import annotations

from django.urls import path

from .views import competitions, front, home, metrics, overview

urlpatterns = [
    path("", home.home, name="home"),
    path("competitions/", front.competitions, name="competitions"),
    path("metrics/", metrics.metrics, name="metrics"),
    path("metrics/<slug:key>/", metrics.metric, name="metric"),
    path("c/<slug:slug>/", overview.overview, name="overview"),
    path("preview/", competitions.markdown_preview, name="markdown_preview"),
    path("host/", competitions.host, name="host"),
    path("host/<slug:slug>/settings/", competitions.host_settings, name="host_settings"),
    path("host/<slug:slug>/audit/", competitions.host_audit, name="host_audit"),
    path("host/<slug:slug>/pause/", competitions.host_pause, name="host_pause"),
    path("host/<slug:slug>/archive/", competitions.host_archive, name="host_archive"),
    path("host/<slug:slug>/restore/", competitions.host_restore, name="host_restore"),
    path("host/<slug:slug>/delete/", competitions.host_delete, name="host_delete"),
]
