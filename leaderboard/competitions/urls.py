"""The URL of the page that waits for a worker. It has the name of its view and of its template."""

from __future__ import annotations

from django.urls import path

from . import views

urlpatterns = [
    path("tasks/<uuid:task_id>/", views.page_task, name="page_task"),
]
