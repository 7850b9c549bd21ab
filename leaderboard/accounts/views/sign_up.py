"""Sign-up in one transaction."""

from __future__ import annotations

from typing import Any

from allauth.account.views import SignupView
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.http import HttpResponse


class SignUpView(SignupView):  # type: ignore[misc]
    """django-allauth's sign-up, with all that it writes in one transaction: six of them would each wait for the disk,
    and an account could be left without its address."""

    def form_valid(self, form: Any) -> HttpResponse:
        """Hash the password first: it takes longer than the writes, which keep out all others on SQLite."""
        form.password_hash = make_password(form.cleaned_data["password1"])
        form.cleaned_data["password1"] = ""
        with transaction.atomic():
            response: HttpResponse = super().form_valid(form)
        return response
