"""Pages of a person's account. An address has the name of its view and of its template."""

from __future__ import annotations

from django.urls import path

from .views import account, personal_data

urlpatterns = [
    path("account/", account.account, name="account"),
    path("account/data/", personal_data.my_data, name="my_data"),
    path("account/delete/", personal_data.delete_account, name="delete_account"),
]
