"""Forms about accounts: a new password, deletion, an API token, an account made by an operator."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.forms import AddEmailForm, ChangePasswordForm, ResetPasswordKeyForm, SignupForm
from allauth.account.internal.userkit import filter_users_by_email
from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from leaderboard.common.names import clean_text

from .hashers import NameSimilarityValidator
from .models import ApiToken, User

PASSWORD_RULES = _("At least eight characters. Not only digits, not a common password and not similar to your name.")

USERNAME_RULES = _("Letters, digits and @ . + - _, no spaces. It can't be changed later.")
NAME_OF_TEAM = _("A team you start has this name until you rename it on its page.")


class RealName(forms.CharField):
    """A person's real name, for their hosts."""

    def __init__(self, **kwargs: Any) -> None:
        help_text = _("As on your class list. Only your teachers see it.")
        widget = forms.TextInput(attrs={"autocomplete": "name"})
        super().__init__(
            label=_("Your name"), max_length=120, required=False, help_text=help_text, widget=widget, **kwargs
        )

    def clean(self, value: Any) -> str:
        return clean_text(super().clean(value))


class SignUpForm(SignupForm):  # type: ignore[misc]
    """django-allauth's form for an account, with the person's real name for their hosts."""

    full_name = RealName()
    field_order: tuple[str, ...] = ("full_name", "username", "email", "password1")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].help_text = f"{USERNAME_RULES} {NAME_OF_TEAM}"
        self.fields["email"].label = _("E-mail address")
        self.fields["password1"].help_text = PASSWORD_RULES

    def clean_password1(self) -> str:
        """django-allauth compares the password with username and address, and knows no name before the account."""
        password: str = self.cleaned_data["password1"]
        NameSimilarityValidator().validate(password, User(last_name=self.cleaned_data.get("full_name", "")))
        return password


class EndsTokens(forms.Form):
    """Mixin for django-allauth's forms for a new password, which have `user`.

    It removes the field that repeats the password, which can be shown, and adds the option to delete all API tokens.
    """

    user: User
    end_tokens = forms.BooleanField(
        required=False,
        label=_("Also revoke my API tokens"),
        help_text=_("Programs using them lose access. Do this if someone else may know your password."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["password2"]
        self.fields["password1"].label = _("New password")
        self.fields["password1"].help_text = PASSWORD_RULES

    def save(self) -> None:
        super().save()  # type: ignore[misc]
        if self.cleaned_data["end_tokens"]:
            self.user.api_tokens.all().delete()


class ChangeForm(EndsTokens, ChangePasswordForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["oldpassword"].label = _("Current password")


class ResetForm(EndsTokens, ResetPasswordKeyForm):  # type: ignore[misc]
    pass


class AddAddressForm(AddEmailForm):  # type: ignore[misc]
    """django-allauth's form for a further address. It refuses one of another account, unless that would tell more than
    the site's sign-up does (`ACCOUNT_EMAIL_VERIFICATION`)."""

    def clean_email(self) -> str:
        address: str = super().clean_email()
        others = [one for one in filter_users_by_email(address) if one.pk != self.user.pk]
        if others and settings.ACCOUNT_EMAIL_VERIFICATION == "none":
            raise get_adapter().validation_error("email_taken")
        return address


class DeleteAccountForm(forms.Form):
    """Confirmation by the password, or by the user name for accounts without a password."""

    password = forms.CharField(
        label=_("Your password"), widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )
    confirm = forms.CharField(
        label=_("Your username"), widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"})
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        del self.fields["confirm" if user.has_usable_password() else "password"]

    def clean_password(self) -> str:
        given: str = self.cleaned_data["password"]
        if not self.user.check_password(given):
            raise ValidationError(_("Incorrect password."))
        return given

    def clean_confirm(self) -> str:
        given: str = self.cleaned_data["confirm"]
        if given != self.user.get_username():
            raise ValidationError(_("Enter your username exactly."))
        return given


class TokenForm(forms.Form):
    name = forms.CharField(
        label=_("Token name"),
        max_length=60,
        help_text=_("Where you'll use it, such as “laptop” or “training notebook”."),
    )
    scope = forms.ChoiceField(label=_("Access"), required=False, initial=ApiToken.Scope.SUBMIT)

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        may_host = user.is_host_anywhere
        self.fields["scope"].choices = [  # type: ignore[attr-defined]
            (value, label) for value, label in ApiToken.Scope.choices if may_host or value != ApiToken.Scope.HOST
        ]
        if may_host:
            words = _("Each level includes the ones above it. Choose the lowest you need.")
            self.fields["scope"].help_text = words

    def clean_scope(self) -> str:
        return self.cleaned_data["scope"] or ApiToken.Scope.SUBMIT


class PersonForm(forms.Form):
    """A new account, made by an operator. The rules for names and addresses are those of the sign-up form."""

    username = forms.CharField(
        label=_("Username"),
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )
    email = forms.EmailField(label=_("E-mail"), widget=forms.EmailInput(attrs={"autocomplete": "off"}))
    can_host = forms.BooleanField(label=_("Can host competitions"), required=False)

    def clean_username(self) -> str:
        name: str = get_adapter().clean_username(self.cleaned_data["username"])
        return name

    def clean_email(self) -> str:
        address: str = get_adapter().clean_email(self.cleaned_data["email"])
        if filter_users_by_email(address):
            raise ValidationError(_("Another account uses this address."))
        return address
