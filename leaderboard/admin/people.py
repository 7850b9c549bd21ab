"""Accounts, for operators alone: who is staff, who may host."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.http import HttpRequest

from ..models import User


@admin.register(User)
class UserAdmin(DjangoUserAdmin):  # type: ignore[type-arg]
    list_display = ("username", "email", "can_host", "is_staff", "is_active", "date_joined")
    list_filter = ("can_host", "is_staff", "is_superuser", "is_active")
    actions = ("let_host",)
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

    def _is_operator(self, request: HttpRequest) -> bool:
        return bool(getattr(request.user, "is_superuser", False))

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self._is_operator(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._is_operator(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._is_operator(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._is_operator(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._is_operator(request)

    @admin.action(description="Let them host")
    def let_host(self, request: HttpRequest, queryset: Any) -> None:
        self.message_user(request, f"{queryset.update(can_host=True)} people may host.")
