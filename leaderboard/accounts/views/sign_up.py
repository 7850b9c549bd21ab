"""Sign-up in one transaction."""

from __future__ import annotations

from typing import Any

from allauth.account.views import SignupView
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.http import HttpResponse


class SignUpView(SignupView):  # type: ignore[misc]
    """django-allauth's sign-up with all its writes in one transaction.

    Otherwise there are six transactions, which each wait for the disk, and a crash could leave an account without its
    address.
    """

    def form_valid(self, form: Any) -> HttpResponse:
        """Hash the password before the transaction, because that takes longer than the writes and would lock SQLite."""
        form.password_hash = make_password(form.cleaned_data["password1"])
        form.cleaned_data["password1"] = ""
        with transaction.atomic():
            response: HttpResponse = super().form_valid(form)
        return response
