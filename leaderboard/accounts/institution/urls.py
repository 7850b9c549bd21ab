"""URLs of the sign-in at an institution: the page that leads there, and the callback."""

from __future__ import annotations

from django.urls import path

from . import views

urlpatterns = [
    path("<int:number>/login/", views.institution_login, name="institution_login"),
    path("<int:number>/login/callback/", views.institution_callback, name="institution_callback"),
]
