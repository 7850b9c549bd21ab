"""Pages of what can be learned from a competition. An address has the name of its view and of its template."""

from __future__ import annotations

from django.urls import path

from .views import dashboard, hardest_rows, report, shake_up

urlpatterns = [
    path("c/<slug:slug>/shake-up/", shake_up.shake_up, name="shake_up"),
    path("host/<slug:slug>/", dashboard.host_competition, name="host_competition"),
    path("host/<slug:slug>/report/", report.host_report, name="host_report"),
    path("host/<slug:slug>/report.csv", report.host_report_csv, name="host_report_csv"),
    path("host/<slug:slug>/rows/", hardest_rows.host_rows, name="host_rows"),
    path("host/<slug:slug>/teams/similar/", report.host_similar, name="host_similar"),
    path("host/<slug:slug>/pulse/", dashboard.host_activity, name="host_activity"),
]
