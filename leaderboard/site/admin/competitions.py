"""Admin of competitions, their teams and submissions."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.utils import flatten_fieldsets
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.competitions import services as competitions
from leaderboard.competitions.forms import CompetitionForm
from leaderboard.competitions.models import Competition, Membership, Score, Submission, Team
from leaderboard.ground_truths.services import publishing

from .scope import ScopedAdmin, error_lines

HOST_PAGES = (
    ("host_competition", "Dashboard"),
    ("host_truth", "Ground truth"),
    ("host_candidate", "Waiting ground truth"),
    ("host_data", "Data"),
    ("host_submissions", "Submissions"),
    ("host_baselines", "Baselines"),
    ("host_people", "People"),
    ("host_teams", "Teams"),
    ("host_reveal", "Reveal"),
    ("host_grades", "Grades"),
    ("host_delete", "Delete"),
)


class AdminCompetitionForm(CompetitionForm):
    """The form of the host's pages, with the field `hosts` for operators."""

    class Meta(CompetitionForm.Meta):
        fields: ClassVar = [*CompetitionForm.Meta.fields, "hosts"]


@admin.register(Competition)
class CompetitionAdmin(ScopedAdmin):
    form = AdminCompetitionForm
    list_display = ("title", "state", "closes_at", "team_count", "host_pages")
    search_fields = ("title", "slug", "course__title")
    autocomplete_fields = ("hosts",)
    readonly_fields = ("state", "answers", "launched_at", "revealed_at", "host_pages")
    actions = ("launch", "reveal", "look_at_candidate")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Competition]:
        return Competition.objects.hosted_by(request.user)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_module_permission(request) and bool(getattr(request.user, "is_host", False))

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._is_in_scope(request, obj)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        own = AdminCompetitionForm.Meta.fields
        shown = [name for name in ("course", *own) if name != "hosts" or _is_operator(request)]
        return shown if obj is None else [*self.readonly_fields, *shown]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        # The title of the course is a field of the form and none of the row, so Django must not look for it there.
        kwargs["fields"] = [name for name in flatten_fieldsets(self.get_fieldsets(request, obj)) if name != "course"]
        return super().get_form(request, obj, change=change, **kwargs)

    def get_autocomplete_fields(self, request: HttpRequest) -> tuple[str, ...]:
        return ("hosts",) if _is_operator(request) else ()

    def save_model(self, request: HttpRequest, obj: Competition, form: Any, change: bool) -> None:
        """Save by the services, so that rules get a new version and cached boards are invalidated."""
        fields = form.fields_for_verb
        if change:
            competitions.change_competition(competition=obj, user=request.user, **fields)  # type: ignore[arg-type]
        else:
            made = competitions.create_competition(user=request.user, **fields)  # type: ignore[arg-type]
            obj.pk, obj._state.adding, obj._state.db = made.pk, False, made._state.db
        obj.refresh_from_db()

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        competition, before = form.instance, set(form.instance.hosts.all())
        if "hosts" in form.cleaned_data:
            super().save_related(request, form, formsets, change)
        if not competition.hosts.exists():
            competition.hosts.add(request.user)
        after = set(competition.hosts.all())
        changes = [*((AuditEvent.HOST_ADDED, host) for host in after - before)]
        changes += [(AuditEvent.HOST_REMOVED, host) for host in before - after]
        for event, host in sorted(changes, key=lambda pair: pair[1].pk):
            AuditEntry.append(event, user=request.user, competition=competition, account=host)  # type: ignore[arg-type]

    @admin.display(description="state")
    def state(self, obj: Competition) -> str:
        return obj.state(timezone.now())

    @admin.display(description="teams")
    def team_count(self, obj: Competition) -> int:
        return obj.teams.count()

    @admin.display(description="answers")
    def answers(self, obj: Competition) -> SafeString:
        current = f"number {obj.ground_truth.number} ({obj.ground_truth.metric})" if obj.ground_truth else "none"
        words = f"{current}; number {obj.candidate.number} waits" if obj.candidate else current
        where = reverse("admin:competitions_truthdraft_add")
        return format_html('{} · <a href="{}?competition={}">Set answers and metric</a>', words, where, obj.pk)

    @admin.display(description="host pages")
    def host_pages(self, obj: Competition) -> SafeString:
        shown = [(name, text) for name, text in HOST_PAGES if obj.candidate_id or name != "host_candidate"]
        return format_html_join(
            " · ", '<a href="{}">{}</a>', ((reverse(name, args=[obj.slug]), text) for name, text in shown)
        )

    @admin.action(description="Launch")
    def launch(self, request: HttpRequest, queryset: QuerySet[Competition]) -> None:
        for competition in queryset:
            try:
                publishing.launch_competition(competition=competition, user=request.user)  # type: ignore[arg-type]
            except competitions.CannotHost as error:
                self.message_user(request, f"“{competition}”: {' '.join(error_lines(error))}", messages.ERROR)
            else:
                self.message_user(request, f"“{competition}” is launched.", messages.SUCCESS)

    @admin.action(description="Open the private board (asks once more)")
    def reveal(self, request: HttpRequest, queryset: QuerySet[Competition]) -> HttpResponse | None:
        return self._redirect_for_one(request, queryset, "host_reveal")

    @admin.action(description="Apply or discard the waiting ground truth")
    def look_at_candidate(self, request: HttpRequest, queryset: QuerySet[Competition]) -> HttpResponse | None:
        return self._redirect_for_one(request, queryset, "host_candidate")

    def _redirect_for_one(
        self, request: HttpRequest, queryset: QuerySet[Competition], page: str
    ) -> HttpResponse | None:
        """Redirect to the page that shows the consequences, because these actions cannot be undone."""
        if len(queryset) == 1:
            return redirect(page, slug=queryset[0].slug)
        self.message_user(request, "Choose one competition.", messages.ERROR)
        return None


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
class TeamAdmin(ScopedAdmin):
    list_display = ("name", "competition", "captain", "created_at")
    list_filter = (("competition", admin.RelatedOnlyFieldListFilter),)
    list_select_related = ("competition", "captain")
    search_fields = ("name", "memberships__user__username")
    fields = ("name", "competition", "captain", "created_at")
    inlines = (MembershipInline,)


@admin.register(Submission)
class SubmissionAdmin(ScopedAdmin):
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


def _is_operator(request: HttpRequest) -> bool:
    return bool(getattr(request.user, "is_superuser", False))
