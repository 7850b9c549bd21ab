"""URLs of accounts: one's own, the operators' pages about people, password links and the sign-in at an institution.

Each has the name of its view.
"""

from __future__ import annotations

from django.urls import path

from . import views
from .institution import views as institution

urlpatterns = [
    path("accounts/oidc/1/login/", institution.institution_login, name="institution_login"),
    path("accounts/oidc/1/login/callback/", institution.institution_callback, name="institution_callback"),
    path("account/", views.account, name="account"),
    path("account/data/", views.my_data, name="my_data"),
    path("people/", views.people, name="people"),
    path("password/<str:token>/", views.password_link, name="password_link"),
    path("account/delete/", views.delete_account, name="delete_account"),
]
