"""URLs of notices, preferences and announcements. Each has the name of its view and of its template."""

from __future__ import annotations

from django.urls import path

from . import views

urlpatterns = [
    path("account/preferences/", views.preferences, name="preferences"),
    path("notifications/", views.notifications, name="notifications"),
    path("notifications/<int:number>/", views.notice, name="notice"),
    path("notifications/stop/<str:token>/", views.stop_mail, name="stop_mail"),
    path("host/<slug:slug>/announcements/", views.host_announcements, name="host_announcements"),
    path("host/<slug:slug>/announcements/<int:number>/", views.host_announcement, name="host_announcement"),
]
