"""Choosing a new password, which may end the tokens of one's programs as well."""

from __future__ import annotations

from allauth.account.forms import ChangePasswordForm, ResetPasswordKeyForm
from django import forms
from django.utils.translation import gettext_lazy as _


def _end_tokens() -> forms.BooleanField:
    return forms.BooleanField(
        required=False,
        label=_("End my API tokens too"),
        help_text=_("Programs that use one are shut out. Do this if somebody else may know your password."),
    )


class ChangeForm(ChangePasswordForm):  # type: ignore[misc]
    end_tokens = _end_tokens()

    def save(self) -> None:
        super().save()
        if self.cleaned_data["end_tokens"]:
            self.user.api_tokens.all().delete()


class ResetForm(ResetPasswordKeyForm):  # type: ignore[misc]
    end_tokens = _end_tokens()

    def save(self) -> None:
        super().save()
        if self.cleaned_data["end_tokens"]:
            self.user.api_tokens.all().delete()
