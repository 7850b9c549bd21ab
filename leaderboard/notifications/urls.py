"""URLs of notices and announcements. Each has the name of its view and of its template."""

from __future__ import annotations

from django.urls import path

from .views import announcements, notices

urlpatterns = [
    path("account/preferences/", notices.preferences, name="preferences"),
    path("notifications/", notices.notifications, name="notifications"),
    path("notifications/<int:number>/", notices.notice, name="notice"),
    path("notifications/stop/<str:token>/", notices.stop_mail, name="stop_mail"),
    path("host/<slug:slug>/announcements/", announcements.host_announcements, name="host_announcements"),
    path("host/<slug:slug>/announcements/<int:number>/", announcements.host_announcement, name="host_announcement"),
]
