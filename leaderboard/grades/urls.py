"""URLs of grades. Each has the name of its view."""

from __future__ import annotations

from django.urls import path

from . import file_views, hand_views, views
from .pages import grade_paths

urlpatterns = [
    path("c/<slug:slug>/grade/", views.grade, name="grade"),
    path("course/<slug:slug>/grade/", views.course_grade, name="course_grade"),
    path("host/<slug:slug>/truth/grades/", views.host_candidate_grades, name="host_candidate_grades"),
    *grade_paths("", views.grades),
    *grade_paths("rules/", views.grade_rules),
    *grade_paths("release/", views.grade_release),
    *grade_paths("canvas/", file_views.grade_canvas),
    *grade_paths("files/<slug:kind>.csv", file_views.grade_file),
    *grade_paths("points/", hand_views.grade_points),
    *grade_paths("of/<int:user_id>/", hand_views.grade_student),
]
