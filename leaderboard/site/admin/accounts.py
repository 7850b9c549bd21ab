"""Admin of accounts: what the page “People” lacks, such as staff rights and deletion.

Only for operators: superusers have all of Django's permissions, other accounts none.
"""

from __future__ import annotations

from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.http import HttpRequest

from leaderboard.accounts import personal_data
from leaderboard.accounts.institution.people import unlink
from leaderboard.accounts.models import User
from leaderboard.common.responses import signed_in_user


@admin.register(User)
class UserAdmin(DjangoUserAdmin):  # type: ignore[type-arg]
    list_display = ("username", "email", "can_host", "is_staff", "is_active", "date_joined")
    list_filter = ("can_host", "is_staff", "is_superuser", "is_active")
    actions = ("drop_second_factor", "unlink_institution")
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        (
            "Rights",
            {
                "fields": ("is_active", "can_host", "is_staff", "is_superuser"),
                "description": "Who may host opens competitions; staff who host reach them in this admin too.",
            },
        ),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )
    readonly_fields = ("last_login", "date_joined")

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Save, and log granted or removed rights in the audit log."""
        before = personal_data.rights_of(User.objects.get(pk=obj.pk)) if change else {}
        super().save_model(request, obj, form, change)
        personal_data.log_rights_changes(account=obj, before=before, user=request.user)  # type: ignore[arg-type]

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Lists only the accounts, because teams and files stay, and the reasons why some cannot be deleted."""
        needed = [f"{account}: {words}" for account in objs if (words := personal_data.obstacle_to_deleting(account))]
        return [str(account) for account in objs], {"accounts": len(objs)}, set(), needed

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        personal_data.delete_account(account=obj, user=request.user)  # type: ignore[arg-type]

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for account in queryset:
            self.delete_model(request, account)

    @admin.action(description="Take the second factor away (lost telephone)")
    def drop_second_factor(self, request: HttpRequest, queryset: Any) -> None:
        gone = Authenticator.objects.filter(user__in=queryset).values("user").distinct().count()
        Authenticator.objects.filter(user__in=queryset).delete()
        self.message_user(request, f"{gone} people sign in with their password alone now.")

    @admin.action(description="Unlink from the institution (its subjects have changed)")
    def unlink_institution(self, request: HttpRequest, queryset: Any) -> None:
        gone = sum(unlink(account=account, user=signed_in_user(request.user)) for account in queryset)
        self.message_user(request, f"{gone} accounts are found by their address at the next sign-in.")
