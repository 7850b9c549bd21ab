"""Admin of competitions, and of the audit log."""

from __future__ import annotations

from typing import Any, cast
from zoneinfo import ZoneInfo

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

import metrics
from leaderboard.common.display_time import day_and_time_text
from leaderboard.common.models import AuditEntry
from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.competitions import services as competitions
from leaderboard.competitions.host_responses import REFUSALS, add_refusal, refusal_lines
from leaderboard.competitions.models import Competition, StudentPreview
from leaderboard.competitions.views import answer_later, answered_by_worker
from leaderboard.ground_truths.forms import ParameterForm
from leaderboard.ground_truths.queries import current_truth, draft_of, last_check, launch_needs
from leaderboard.ground_truths.services import publishing, setup
from leaderboard.ground_truths.views.setup import answer_choices, press_button

from .competition_page import AdminCompetitionForm, CompetitionFormPage, metric_named

CHANGE_PAGE = "admin:competitions_competition_change"


def _uses_no_answers(request: HttpRequest) -> bool:
    return request.POST.get("action") != "use_answers"


@admin.register(Competition)
class CompetitionAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    form = AdminCompetitionForm
    fields = (*AdminCompetitionForm.Meta.fields,)
    list_display = ("title", "state", "answers", "deadline", "team_count", "page")
    search_fields = ("title", "slug", "course__title")
    actions = ("use_answers", "launch", "open_page")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Competition]:
        return Competition.objects.hosted_by(request.user).select_related("ground_truth", "truth_draft")

    def has_module_permission(self, request: HttpRequest) -> bool:
        return _is_staff(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return _is_staff(request) and bool(getattr(request.user, "is_host", False))

    def has_view_permission(self, request: HttpRequest, obj: Competition | None = None) -> bool:
        return _is_staff(request) and (obj is None or self.get_queryset(request).filter(pk=obj.pk).exists())

    def has_change_permission(self, request: HttpRequest, obj: Competition | None = None) -> bool:
        return self.has_view_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Competition | None = None) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.parameters_view)
        return [path("parameters/", view, name="competitions_competition_parameters"), *super().get_urls()]

    def parameters_view(self, request: HttpRequest) -> HttpResponse:
        """Fragment with the parameter fields of the chosen metric, for htmx."""
        key, asked = metric_named(request.GET.get("metric", "")), request.GET.get("competition", "")
        hosted = self.get_queryset(request)
        competition = hosted.filter(pk=int(asked)).first() if asked.isdecimal() and len(asked) < 19 else None
        parameters = ParameterForm(key, current_truth(competition)) if key else None
        context = {"metric": metrics.get(key) if key else None, "parameters": parameters}
        return render(request, "admin/competitions/competition/parameters.html", context)

    # --- the page of one ----------------------------------------------------------------------------------------

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """The form of a new one. Create the draft, then have a worker read the files, by the form of its page."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        page = self._page(request, None)
        if request.method != "POST" or not page.is_valid():
            return self._render(request, page, status=422 if request.method == "POST" else 200)
        user = signed_in_user(request.user)
        try:
            competition = competitions.create_competition(user=user, **page.settings.fields_for_verb)
        except ValidationError as error:
            return self._render(request, page, status=add_refusal(page.settings, error))
        self.log_addition(request, competition, "")
        return cast(HttpResponse, answer_later(request, path=reverse(CHANGE_PAGE, args=[competition.pk])))

    @method_decorator(answered_by_worker(gettext_lazy("Checking the answers")))
    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """GET: the form, with what the check of the answers found. POST: save it, and do the action of the button."""
        competition = self.get_object(request, unquote(object_id))
        if not self.has_change_permission(request):
            raise PermissionDenied
        if competition is None:
            raise Http404
        page, status = self._page(request, competition), 422
        if request.method != "POST":
            return self._render(request, page)
        try:
            if page.is_valid():
                self._save(request, page, competition)
                return self._act(request, competition)
        except (ValidationError, *REFUSALS) as error:
            status = add_refusal(page.settings if isinstance(error, ValidationError) else page.answers, error)
        return self._render(request, page, status=status)

    def _page(self, request: HttpRequest, competition: Competition | None) -> CompetitionFormPage:
        form_class: Any = self.get_form(request, competition, change=competition is not None)
        return CompetitionFormPage(request, competition, form_class)

    def _save(self, request: HttpRequest, page: CompetitionFormPage, competition: Competition) -> None:
        """Save by the services, so that rules get a new version and cached boards are invalidated."""
        user = signed_in_user(request.user)
        competitions.change_competition(competition=competition, user=user, **page.settings.fields_for_verb)
        competition.refresh_from_db()
        page.save_answers(competition)
        self.log_change(request, competition, "")

    def _act(self, request: HttpRequest, competition: Competition) -> HttpResponse:
        """Do the action of the pressed button; a redirect to where its effect is visible."""
        if "use" in request.POST:
            self._use_answers(request, competition, is_confirmed="is_confirmed" in request.POST)
            if competition.candidate_id is not None:
                return redirect("host_truth", slug=competition.slug)
        elif "launch" in request.POST:
            self._launch(request, competition)
        elif not press_button(request.POST, competition, signed_in_user(request.user)):
            self.message_user(request, "Saved.", messages.SUCCESS)
        return see_other(CHANGE_PAGE, fragment="#check", object_id=competition.pk)

    def _render(self, request: HttpRequest, page: CompetitionFormPage, *, status: int = 200) -> HttpResponse:
        competition = page.competition
        check: dict[str, Any] = last_check(competition) if competition else {}
        draft, needs = check.get("draft"), launch_needs(competition) if competition else []
        context = {
            **self.admin_site.each_context(request),
            **check,
            "opts": self.opts,
            "title": competition or "Add competition",
            "competition": competition,
            "page": page,
            "metric": metrics.get(page.parameters.key) if page.parameters else None,
            "parameters": page.parameters,
            "metrics": metrics.catalogue(),
            "answer_choice": draft.answer_choice if draft else {},
            "answer_choices": answer_choices(draft) if draft else [],
            "is_in_use": competition is not None and _is_in_use(competition),
            "is_ready": all(need.is_there for need in needs),
            "needs": needs,
            "student_preview": StudentPreview.objects.filter(
                ground_truth=competition.ground_truth_id if competition else None
            ).first(),
        }
        return render(request, "admin/competitions/competition/change_form.html", context, status=status)

    # --- the list -----------------------------------------------------------------------------------------------

    @method_decorator(answered_by_worker(gettext_lazy("Publishing the answers"), is_quick=_uses_no_answers))
    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        return super().changelist_view(request, extra_context)

    @admin.display(description="state")
    def state(self, obj: Competition) -> str:
        return obj.state(timezone.now())

    @admin.display(ordering="closes_at")
    def deadline(self, obj: Competition) -> str:
        return f"{day_and_time_text(obj.closes_at.astimezone(ZoneInfo(obj.zone)))}, {obj.zone}"

    @admin.display(description="teams")
    def team_count(self, obj: Competition) -> int:
        return obj.teams.count()

    @admin.display(description="answers")
    def answers(self, obj: Competition) -> str:
        if obj.candidate_id is not None:
            return "correction pending"
        if not _is_in_use(obj):
            return "not used yet" if draft_of(obj) else "none"
        return f"no. {obj.ground_truth.number}" if obj.ground_truth else "none"

    @admin.display(description="page")
    def page(self, obj: Competition) -> SafeString:
        return format_html('<a href="{}">Open</a>', reverse("host_competition", args=[obj.slug]))

    @admin.action(description="Use these answers")
    def use_answers(self, request: HttpRequest, queryset: QuerySet[Competition]) -> None:
        for competition in queryset:
            self._answer_action(request, competition, self._use_answers, is_confirmed=False)

    @admin.action(description="Launch")
    def launch(self, request: HttpRequest, queryset: QuerySet[Competition]) -> None:
        for competition in queryset:
            self._answer_action(request, competition, self._launch)

    @admin.action(description="Open the page")
    def open_page(self, request: HttpRequest, queryset: QuerySet[Competition]) -> HttpResponse | None:
        if len(queryset) == 1:
            return redirect("host_competition", slug=queryset[0].slug)
        self.message_user(request, "Choose one competition.", messages.ERROR)
        return None

    def _answer_action(self, request: HttpRequest, competition: Competition, act: Any, **options: Any) -> None:
        """Do an action; a refusal becomes a message."""
        try:
            act(request, competition, **options)
        except REFUSALS as error:
            self.message_user(request, f"“{competition}”: {' '.join(refusal_lines(error))}", messages.ERROR)

    def _use_answers(self, request: HttpRequest, competition: Competition, *, is_confirmed: bool) -> None:
        """Publish the checked answers; before the launch their test begins, after it all files are scored with them."""
        user = signed_in_user(request.user)
        if competition.launched_at is None:
            setup.make_ready(competition=competition, user=user, is_confirmed=is_confirmed)
            text = f"“{competition}” uses the answers. A sample submission is being tested."
        else:
            publishing.publish_draft(competition=competition, user=user, is_confirmed=is_confirmed)
            text = f"“{competition}”: all submissions are scored with the new answers before you apply them."
        self.message_user(request, text, messages.SUCCESS)

    def _launch(self, request: HttpRequest, competition: Competition) -> None:
        user = signed_in_user(request.user)
        setup.launch_tested(competition=competition, user=user)
        self.message_user(request, f"“{competition}” is launched.", messages.SUCCESS)


def _is_in_use(competition: Competition) -> bool:
    """Whether the last checked answers are the current ones."""
    draft, current = draft_of(competition), competition.ground_truth
    return current is not None and (draft is None or draft.uploaded_at <= current.published_at)


@admin.register(AuditEntry)
class AuditEntryAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Read-only. Staff see entries about competitions that they host; operators see all, even about deleted ones."""

    list_display = ("pk", "at", "words", "about", "competition", "by", "account")
    list_filter = ("event",)
    fields = ("at", "words", "about", "competition", "by", "account", "before", "after")
    readonly_fields = ("words",)
    search_fields = ("about",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found = AuditEntry.objects.all()
        if _is_operator(request):
            return found
        return found.filter(competition__in=Competition.objects.hosted_by(request.user).values("pk"))

    def has_module_permission(self, request: HttpRequest) -> bool:
        return _is_staff(request)

    def has_view_permission(self, request: HttpRequest, obj: AuditEntry | None = None) -> bool:
        return _is_staff(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: AuditEntry | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: AuditEntry | None = None) -> bool:
        return False


def _is_staff(request: HttpRequest) -> bool:
    return bool(getattr(request.user, "is_staff", False))


def _is_operator(request: HttpRequest) -> bool:
    return bool(getattr(request.user, "is_superuser", False))
