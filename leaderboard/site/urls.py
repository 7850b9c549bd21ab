"""URLs of site: home, lists of competitions, metrics, settings. Each has the name of its view and of its template."""

from __future__ import annotations

from django.urls import path

from .views import competitions, home, host, metrics, settings

urlpatterns = [
    path("", home.home, name="home"),
    path("competitions/", competitions.competitions, name="competitions"),
    path("metrics/", metrics.metrics, name="metrics"),
    path("metrics/<slug:key>/", metrics.metric, name="metric"),
    path("c/<slug:slug>/", competitions.overview, name="overview"),
    path("course/<slug:slug>/", home.course, name="course"),
    path("course/<slug:slug>/add/", home.course_add, name="course_add"),
    path("host/", host.host, name="host"),
    path("host/<slug:slug>/settings/", settings.host_settings, name="host_settings"),
    path("host/<slug:slug>/audit/", host.host_audit, name="host_audit"),
    path("host/<slug:slug>/deadline/", host.host_deadline, name="host_deadline"),
    path("host/<slug:slug>/restore/", host.host_restore, name="host_restore"),
]
