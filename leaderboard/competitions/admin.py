"""Django's admin: accounts for operators, and everything else to read; hosts change it on their own pages.

Staff see the competitions that they host, operators all.
"""

from __future__ import annotations

import json
from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from leaderboard.accounts import personal_data
from leaderboard.accounts.models import User
from leaderboard.common.models import AuditEntry

from .models import Competition, GroundTruth, Membership, Score, Submission, Team
from .ranking import secondary

HOST_PAGES = (
    ("host_competition", "Dashboard"),
    ("host_settings", "Settings"),
    ("host_truth", "Ground truth"),
    ("host_candidate", "Waiting ground truth"),
    ("host_data", "Data"),
    ("host_submissions", "Submissions"),
    ("host_baselines", "Baselines"),
    ("host_people", "People"),
    ("host_roles", "Hosts"),
    ("host_teams", "Teams"),
    ("host_reveal", "Reveal"),
    ("host_grades", "Grades"),
    ("host_delete", "Delete"),
)


@admin.register(User)
class UserAdmin(DjangoUserAdmin):  # type: ignore[type-arg]
    """Accounts, for operators alone: who is staff, who may host."""

    list_display = ("username", "email", "can_host", "is_staff", "is_active", "date_joined")
    list_filter = ("can_host", "is_staff", "is_superuser", "is_active")
    actions = ("let_host", "drop_second_factor")
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        (
            "Rights",
            {
                "fields": ("is_active", "can_host", "is_staff", "is_superuser"),
                "description": "Who may host opens competitions; staff who host see them in this admin too.",
            },
        ),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )
    readonly_fields = ("last_login", "date_joined")

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(getattr(request.user, "is_superuser", False))

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """What rights it gives or takes goes into the audit log."""
        before = personal_data.rights_of(User.objects.get(pk=obj.pk)) if change else {}
        super().save_model(request, obj, form, change)
        personal_data.log_rights_changes(account=obj, before=before, user=request.user)  # type: ignore[arg-type]

    @admin.action(description="Let them host")
    def let_host(self, request: HttpRequest, queryset: Any) -> None:
        with transaction.atomic():
            for account in queryset.select_for_update():
                before = personal_data.rights_of(account)
                account.can_host = True
                account.save(update_fields=["can_host"])
                personal_data.log_rights_changes(account=account, before=before, user=request.user)  # type: ignore[arg-type]
        self.message_user(request, f"{len(queryset)} people may host.")

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """The accounts; their teams and files stay, and who is needed here cannot be deleted."""
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


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Rows of the competitions that the viewer hosts, to read."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).filter(competition__in=Competition.objects.hosted_by(request.user))

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(getattr(request.user, "is_staff", False))

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        if not self.has_module_permission(request):
            return False
        return obj is None or self.get_queryset(request).filter(pk=obj.pk).exists()

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ("number", "at", "words", "about", "competition", "by", "account")
    list_filter = ("event",)
    fields = ("number", "at", "words", "about", "competition", "by", "account", "before", "after", "previous", "digest")
    readonly_fields = ("words",)
    search_fields = ("about",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Operators see all entries, also of what is deleted."""
        found = AuditEntry.objects.all()
        if getattr(request.user, "is_superuser", False):
            return found
        return found.filter(competition__in=Competition.objects.hosted_by(request.user).values("pk"))


@admin.register(Competition)
class CompetitionAdmin(ReadOnlyAdmin):
    list_display = ("title", "state", "closes_at", "team_count", "host_pages")
    search_fields = ("title", "slug", "course")
    fields = (
        "state",
        "board",
        "launched_at",
        "revealed_at",
        "host_pages",
        "title",
        "slug",
        "subtitle",
        "course",
        "contact",
        "opens_at",
        "closes_at",
        "zone",
        "hosts",
    )
    readonly_fields = ("state", "board", "host_pages")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Competition]:
        return Competition.objects.hosted_by(request.user)

    @admin.display(description="state")
    def state(self, obj: Competition) -> str:
        return obj.state(timezone.now())

    @admin.display(description="teams")
    def team_count(self, obj: Competition) -> int:
        return obj.teams.count()

    @admin.display(description="ground truth")
    def board(self, obj: Competition) -> str:
        current = f"number {obj.ground_truth.number} ({obj.ground_truth.metric})" if obj.ground_truth else "none"
        return f"{current}; number {obj.candidate.number} waits" if obj.candidate else current

    @admin.display(description="host pages")
    def host_pages(self, obj: Competition) -> SafeString:
        shown = [(name, text) for name, text in HOST_PAGES if obj.candidate_id or name != "host_candidate"]
        return format_html_join(
            " · ", '<a href="{}">{}</a>', ((reverse(name, args=[obj.slug]), text) for name, text in shown)
        )


class MembershipInline(admin.TabularInline):  # type: ignore[type-arg]
    model = Membership
    fields = readonly_fields = ("user", "joined_at", "rules_version", "rules_accepted_at")
    can_delete = False
    extra = 0

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True


@admin.register(Team)
class TeamAdmin(ReadOnlyAdmin):
    list_display = ("name", "competition", "captain", "created_at")
    list_filter = (("competition", admin.RelatedOnlyFieldListFilter),)
    list_select_related = ("competition", "captain")
    search_fields = ("name", "memberships__user__username")
    fields = ("name", "competition", "captain", "created_at")
    inlines = (MembershipInline,)


@admin.register(Submission)
class SubmissionAdmin(ReadOnlyAdmin):
    list_display = ("file_name", "competition", "team_or_baseline", "status", "received_at")
    list_filter = ("status", ("competition", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("competition", "team", "baseline")
    search_fields = ("file_name", "team__name", "user__username")
    fields = (
        "file_name",
        "competition",
        "team_or_baseline",
        "user",
        "note",
        "sha256",
        "size",
        "received_at",
        "is_late",
        "is_selected",
        "status",
        "score_list",
        "problem_list",
        "failure",
        "finished_at",
        "download",
    )
    readonly_fields = ("team_or_baseline", "score_list", "problem_list", "download")

    @admin.display(description="team or baseline")
    def team_or_baseline(self, obj: Submission) -> str:
        return obj.team.name if obj.team else f"baseline {obj.baseline}"

    @admin.display(description="scores")
    def score_list(self, obj: Submission) -> str:
        scores = Score.objects.filter(submission=obj).select_related("ground_truth").order_by("ground_truth", "split")
        found = [f"{score.split} {score.value!r} (ground truth {score.ground_truth.number})" for score in scores]
        return "; ".join(found) or "–"

    @admin.display(description="problems")
    def problem_list(self, obj: Submission) -> SafeString:
        return format_html_join("", "<div>{}</div>", ((problem["message"],) for problem in obj.problems))

    @admin.display(description="file")
    def download(self, obj: Submission) -> SafeString:
        where = reverse("host_submission_file", args=[obj.competition.slug, obj.pk])
        return format_html('<a href="{}" download>Download</a>', where)


@admin.register(GroundTruth)
class GroundTruthAdmin(ReadOnlyAdmin):
    list_display = ("competition", "number", "metric", "rows", "published_by", "published_at")
    list_filter = (("competition", admin.RelatedOnlyFieldListFilter), "metric")
    list_select_related = ("competition", "published_by")
    fields = (
        "competition",
        "number",
        "file_name",
        "sha256",
        "metric",
        "metric_version",
        "parameters",
        "secondary_metrics",
        "id_column",
        "rows",
        "public_rows",
        "private_rows",
        "ignored_rows",
        "note",
        "published_by",
        "published_at",
        "download",
    )
    readonly_fields = ("parameters", "secondary_metrics", "download")

    @admin.display(description="parameters")
    def parameters(self, obj: GroundTruth) -> str:
        return json.dumps(obj.params)

    @admin.display(description="secondary metrics")
    def secondary_metrics(self, obj: GroundTruth) -> str:
        return "; ".join(one.name for one in secondary.secondary_metrics_of(obj)) or "none"

    @admin.display(description="file")
    def download(self, obj: GroundTruth) -> SafeString:
        where = reverse("host_truth_file", args=[obj.competition.slug, obj.number])
        return format_html('<a href="{}" download>Download</a> (hosts alone)', where)
