"""URLs of the site's own pages and of the API.

A page's URL has the name of its view and of its template. Every URL below `/api/v1/` responds in JSON, except the
documentation page.
"""

from __future__ import annotations

from django.urls import URLPattern, include, path, re_path

from leaderboard.site.api import grades, host, student
from leaderboard.site.api.base import answer_in_json, api
from leaderboard.site.api.docs import api as page
from leaderboard.site.api.docs import not_found, openapi

from . import views

OPERATIONS = (grades, host, student)  # each registers its URLs with the API when it is imported


def _operations() -> list[URLPattern]:
    """Ninja's URL patterns, with responses in this site's JSON format; without Ninja's root."""
    found = [pattern for pattern in api.urls[0] if isinstance(pattern, URLPattern) and pattern.name != "api-root"]
    return [URLPattern(p.pattern, answer_in_json(p.callback), p.default_args, p.name) for p in found]


api_urlpatterns = [
    path("docs", page, name="api"),
    path("openapi.json", answer_in_json(openapi), name="openapi"),
    *_operations(),
    re_path(r"^(?P<path>[\s\S]*)$", answer_in_json(not_found), name="api_nothing"),
]

urlpatterns = [
    path("api/v1/", include(api_urlpatterns)),
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
