"""Permissions in the admin: staff within the competitions they host, operators everywhere."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

import metrics
from leaderboard.competitions.host_responses import REFUSALS, refusal_lines
from leaderboard.competitions.models import Competition


class ScopedAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Rows of competitions that the viewer hosts; read-only unless a subclass permits more.

    `competition_path` is the lookup from the model to its competition.
    """

    competition_path = "competition"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        hosted = Competition.objects.hosted_by(request.user)
        return super().get_queryset(request).filter(**{f"{self.competition_path}__in": hosted})

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(getattr(request.user, "is_staff", False))

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self._is_in_scope(request, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def _is_in_scope(self, request: HttpRequest, obj: Model | None) -> bool:
        if not self.has_module_permission(request):
            return False
        return obj is None or self.get_queryset(request).filter(pk=obj.pk).exists()


REFUSAL_ERRORS = (*REFUSALS, metrics.ParameterError)


def error_lines(error: Exception) -> list[str]:
    """Sentences about an error of a service, for the user."""
    if isinstance(error, metrics.ParameterError):
        return [f"{name}: {sentence}" for name, sentence in error.errors.items()]
    return refusal_lines(error)
