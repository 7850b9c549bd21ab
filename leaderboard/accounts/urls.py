"""URLs of a person's account. Each has the name of its view and of its template."""

from __future__ import annotations

from django.urls import path

from .views import account, people, personal_data

urlpatterns = [
    path("account/", account.account, name="account"),
    path("account/data/", personal_data.my_data, name="my_data"),
    path("people/", people.people, name="people"),
    path("password/<str:token>/", account.password_link, name="password_link"),
    path("account/delete/", personal_data.delete_account, name="delete_account"),
]
