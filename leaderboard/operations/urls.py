"""URLs of the site's own pages. Each has the name of its view and of its template."""

from __future__ import annotations

from django.urls import path

from . import views

urlpatterns = [
    path("robots.txt", views.robots, name="robots"),
    path("favicon.ico", views.favicon, name="favicon"),
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
    path("healthz/deep", views.healthz_deep, name="healthz_deep"),
    path("prometheus", views.prometheus, name="prometheus"),
    path("status/", views.status, name="status"),
    path("status/remove-demo/", views.remove_demo, name="remove_demo"),
    path("theme/", views.theme, name="theme"),
    path("setup/<str:secret>/", views.setup, name="setup"),
    path("help/", views.help, name="help"),
    path("help/<slug:guide>/", views.guide, name="guide"),
    path("cli.py", views.cli, name="cli"),
    path("metrics/download/", views.home_scorer, name="home_scorer"),
    path("metrics/download/<str:name>", views.home_scorer_file, name="home_scorer_file"),
]
