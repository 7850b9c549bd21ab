"""URLs of grades. Each has the name of its view and of its template."""

from __future__ import annotations

from django.urls import path

from . import course_views, file_views, hand_views, views

urlpatterns = [
    path("c/<slug:slug>/grade/", views.grade, name="grade"),
    path("host/<slug:slug>/truth/grades/", views.host_candidate_grades, name="host_candidate_grades"),
    path("host/<slug:slug>/grades/", views.host_grades, name="host_grades"),
    path("host/<slug:slug>/grades/rules/", views.host_grade_rules, name="host_grade_rules"),
    path("host/<slug:slug>/grades/canvas/", file_views.host_grade_canvas, name="host_grade_canvas"),
    path("host/<slug:slug>/grades/files/<slug:kind>.csv", file_views.host_grade_file, name="host_grade_file"),
    path("host/<slug:slug>/grades/release/", views.host_grade_release, name="host_grade_release"),
    path("host/<slug:slug>/grades/points/", hand_views.host_grade_points, name="host_grade_points"),
    path("host/<slug:slug>/grades/of/<int:user_id>/", hand_views.host_grade_student, name="host_grade_student"),
    path("course/<slug:slug>/grade/", course_views.course_grade, name="course_grade"),
    path("course/<slug:slug>/grades/", course_views.course_grades, name="course_grades"),
    path("course/<slug:slug>/grades/rules/", course_views.course_grade_rules, name="course_grade_rules"),
    path("course/<slug:slug>/grades/release/", course_views.course_grade_release, name="course_grade_release"),
    path("course/<slug:slug>/grades/canvas/", file_views.course_grade_canvas, name="course_grade_canvas"),
    path("course/<slug:slug>/grades/files/<slug:kind>.csv", file_views.course_grade_file, name="course_grade_file"),
    path("course/<slug:slug>/grades/points/", hand_views.course_grade_points, name="course_grade_points"),
    path("course/<slug:slug>/grades/of/<int:user_id>/", hand_views.course_grade_student, name="course_grade_student"),
]
