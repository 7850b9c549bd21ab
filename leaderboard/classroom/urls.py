"""URLs of a class and its teams. Each has the name of its view and of its template."""

from __future__ import annotations

from django.urls import path

from .views import join, people, roster, students, teams

urlpatterns = [
    path("join/", join.join, name="join"),
    path("join/<str:code>/", join.join_code, name="join_code"),
    path("slip/<str:code>/", join.join_card, name="join_card"),
    path("invitation/<str:invitation>/", join.invitation, name="invitation"),
    path("c/<slug:slug>/join/", join.join_open, name="join_open"),
    path("c/<slug:slug>/rules/", join.rules, name="rules"),
    path("c/<slug:slug>/team/", teams.team, name="team"),
    path("host/<slug:slug>/people/", people.host_people, name="host_people"),
    path("host/<slug:slug>/people/<int:user_id>/", students.host_student, name="host_student"),
    path("host/<slug:slug>/people/roster/", roster.host_roster, name="host_roster"),
    path("host/<slug:slug>/people/invite/", roster.host_invite, name="host_invite"),
    path("host/<slug:slug>/people/slips/", roster.host_join_cards, name="host_join_cards"),
    path("host/<slug:slug>/people/left/", roster.host_left, name="host_left"),
    path("host/<slug:slug>/people/course/", people.host_course, name="host_course"),
    path("host/<slug:slug>/people/who/", people.host_who, name="host_who"),
    path("host/<slug:slug>/people/roles/", people.host_roles, name="host_roles"),
    path("host/<slug:slug>/teams/", teams.host_teams, name="host_teams"),
    path("host/<slug:slug>/teams/<int:team_id>/", teams.host_team, name="host_team"),
]
