"""Pages of the site itself. An address has the name of its view and of its template."""

from __future__ import annotations

from django.urls import path

from .views import site, status, take_home

urlpatterns = [
    path("healthz", site.healthz, name="healthz"),
    path("healthz/deep", site.healthz_deep, name="healthz_deep"),
    path("prometheus", status.prometheus, name="prometheus"),
    path("status/", status.status, name="status"),
    path("theme/", site.theme, name="theme"),
    path("setup/<str:secret>/", site.setup, name="setup"),
    path("cli.py", take_home.cli, name="cli"),
    path("metrics/download/", take_home.home_scorer, name="home_scorer"),
    path("metrics/download/<str:name>", take_home.home_scorer_file, name="home_scorer_file"),
]
