"""URLs of the dashboard and of reports about a competition. Each has the name of its view and of its template."""

from __future__ import annotations

from django.urls import path

from . import views

urlpatterns = [
    path("host/<slug:slug>/", views.host_competition, name="host_competition"),
    path("host/<slug:slug>/report/", views.host_report, name="host_report"),
    path("host/<slug:slug>/report.csv", views.host_report_csv, name="host_report_csv"),
    path("host/<slug:slug>/rows/", views.host_rows, name="host_rows"),
    path("host/<slug:slug>/teams/similar/", views.host_similar, name="host_similar"),
    path("host/<slug:slug>/pulse/", views.host_activity, name="host_activity"),
]
