"""URLs of a person's account, and of the sign-in at an institution. Each has the name of its view."""

from __future__ import annotations

from django.urls import path

from .institution import views as institution
from .views import account, people, personal_data

urlpatterns = [
    path("accounts/oidc/<int:number>/login/", institution.institution_login, name="institution_login"),
    path("accounts/oidc/<int:number>/login/callback/", institution.institution_callback, name="institution_callback"),
    path("account/", account.account, name="account"),
    path("account/data/", personal_data.my_data, name="my_data"),
    path("people/", people.people, name="people"),
    path("password/<str:token>/", account.password_link, name="password_link"),
    path("account/delete/", personal_data.delete_account, name="delete_account"),
]
