"""Pages of the site itself. An address has the name of its view and of its template."""

from __future__ import annotations

from django.urls import path

from .views import site

urlpatterns = [
    path("healthz", site.healthz, name="healthz"),
    path("healthz/deep", site.healthz_deep, name="healthz_deep"),
    path("prometheus", site.prometheus, name="prometheus"),
    path("status/", site.status, name="status"),
    path("theme/", site.theme, name="theme"),
    path("setup/<str:secret>/", site.setup, name="setup"),
    path("cli.py", site.cli, name="cli"),
    path("metrics/download/", site.home_scorer, name="home_scorer"),
    path("metrics/download/<str:name>", site.home_scorer_file, name="home_scorer_file"),
]
