"""URLs of grades. Each has the name of its view and of its template."""

from __future__ import annotations

from django.urls import path

from . import views

urlpatterns = [
    path("c/<slug:slug>/grade/", views.grade, name="grade"),
    path("host/<slug:slug>/truth/grades/", views.host_candidate_grades, name="host_candidate_grades"),
    path("host/<slug:slug>/grades/", views.host_grades, name="host_grades"),
    path("host/<slug:slug>/grades/rules/", views.host_grade_rules, name="host_grade_rules"),
    path("host/<slug:slug>/grades/canvas/", views.host_grade_canvas, name="host_grade_canvas"),
    path("host/<slug:slug>/grades/files/<slug:kind>.csv", views.host_grade_file, name="host_grade_file"),
    path("host/<slug:slug>/grades/release/", views.host_grade_release, name="host_grade_release"),
]
