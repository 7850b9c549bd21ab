"""What people fill in about their account: a new password, an API token, the end of the account."""

from __future__ import annotations

from typing import Any

from allauth.account.forms import ChangePasswordForm, ResetPasswordKeyForm
from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from .models import ApiToken, User


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


class DeleteAccountForm(forms.Form):
    """The password once more; who signs in without one types the user name."""

    password = forms.CharField(
        label=_("Your password"), widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )
    confirm = forms.CharField(
        label=_("Your user name"), widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"})
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        del self.fields["confirm" if user.has_usable_password() else "password"]

    def clean_password(self) -> str:
        given: str = self.cleaned_data["password"]
        if not self.user.check_password(given):
            raise ValidationError(_("This is not your password."))
        return given

    def clean_confirm(self) -> str:
        given: str = self.cleaned_data["confirm"]
        if given != self.user.get_username():
            raise ValidationError(_("Type your user name exactly."))
        return given


class TokenForm(forms.Form):
    name = forms.CharField(
        label=_("Name of the token"),
        max_length=60,
        help_text=_("Where you will use it, for example “laptop” or “training notebook”."),
    )
    scope = forms.ChoiceField(label=_("What the token may do"), required=False, initial=ApiToken.Scope.SUBMIT)

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        may_host = user.is_host_anywhere
        self.fields["scope"].choices = [  # type: ignore[attr-defined]
            (value, label) for value, label in ApiToken.Scope.choices if may_host or value != ApiToken.Scope.HOST
        ]
        if may_host:
            words = _("Each may do what stands before it as well. Take the least that is enough.")
            self.fields["scope"].help_text = words

    def clean_scope(self) -> str:
        return self.cleaned_data["scope"] or ApiToken.Scope.SUBMIT
