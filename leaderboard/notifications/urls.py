"""Pages of notices, announcements and calendars. An address has the name of its view and of its template."""

from __future__ import annotations

from django.urls import path

from .views import announcements, calendar, notices

urlpatterns = [
    path("account/preferences/", notices.preferences, name="preferences"),
    path("notifications/", notices.notifications, name="notifications"),
    path("notifications/<int:number>/", notices.notice, name="notice"),
    path("notifications/stop/<str:token>/", notices.stop_mail, name="stop_mail"),
    path("account/calendar/", calendar.calendar, name="calendar"),
    path("calendar/<str:secret>.ics", calendar.my_calendar, name="my_calendar"),
    path("c/<slug:slug>/calendar.ics", calendar.competition_calendar, name="competition_calendar"),
    path("host/<slug:slug>/announcements/", announcements.host_announcements, name="host_announcements"),
    path("host/<slug:slug>/announcements/<int:number>/", announcements.host_announcement, name="host_announcement"),
]
