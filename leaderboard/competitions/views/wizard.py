"""The way from nothing to the launch: six pages in any order, each of which saves what it is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from leaderboard.common import responses
from leaderboard.common.access import SiteAudience, open_page_to
from leaderboard.common.display_time import viewer_zone
from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.common.storage import TooLarge

from ..access import Audience, PageContext, open_to
from ..forms.host import BasicsForm, EntryForm, FolderForm, LimitsForm, WizardStepForm
from ..models import Competition, TruthDraft
from ..services import competitions, copying, folders, launches
from .host_responses import add_refusal, posted_data, refuse_too_large, save_competition

StepView = Callable[..., HttpResponse]
CHECKLISTS = ("host_competition", "host_setup_launch")
"""Where the checklist stands. Who comes from there to put one thing right is led back there (`?back=`)."""
WHERE = {
    "truth": "host_setup_metric",
    "overview": "host_setup_basics",
    "deadline": "host_setup_limits",
    "step": "host_setup_limits",
    "candidate": "host_candidate",
    "student_preview": "host_preview",
}
AFTERWARDS = {
    "basics": "host_settings",
    "data": "host_truth",
    "metric": "host_truth_metric",
    "limits": "host_settings",
    "people": "host_settings",
    "launch": "host_competition",
}
"""Step → where the same is found once the competition is launched."""


def draft_of(competition: Competition) -> TruthDraft | None:
    """The draft, asked for once per request. One whose check broke was never stored and is none."""
    draft: TruthDraft | None = getattr(competition, "truth_draft", None)
    return draft if draft is not None and draft.pk else None


def needs_other_file(draft: TruthDraft) -> bool:
    """Whether no choice of a metric helps: nothing can score the file, or the metric that fits is not what blocks."""
    if draft.report["ok"]:
        return False
    fits = draft.report.get("fits", ())
    possible = {fit["key"] for fit in fits if fit["fits"] or fit.get("is_nearly")}
    return not possible or draft.metric in possible


@dataclass(frozen=True)
class ChecklistItem:
    """What a launch needs; `page` is the URL name of where it is put right."""

    text: str
    is_there: bool
    page: str


def checklist_of(competition: Competition) -> list[ChecklistItem]:
    """As `launch_needs`; before there is an answer file, that comes first."""
    places = WHERE if _has_answer_file(competition) else {**WHERE, "truth": "host_setup_data"}
    needs = launches.launch_needs(competition)
    return [ChecklistItem(need.text, need.is_there, places[need.key]) for need in needs]


def _has_answer_file(competition: Competition) -> bool:
    """Answers that some metric can score; the file looked at last is the one that counts."""
    draft = draft_of(competition)
    return competition.ground_truth_id is not None if draft is None else not needs_other_file(draft)


@dataclass(frozen=True)
class WizardStep:
    """One page of the way."""

    key: str
    title: str
    is_done: bool = False

    @property
    def page(self) -> str:
        return f"host_setup_{self.key}"


def steps_of(competition: Competition | None) -> list[WizardStep]:
    """The six steps; a step is done when its host has saved it and the launch needs no more of it.

    Without a competition nothing is.
    """
    done: dict[str, bool] = {}
    if competition is not None:
        needs = {need.key: need.is_there for need in launches.launch_needs(competition)}
        done = {
            "basics": needs["overview"],
            "data": _has_answer_file(competition),
            "metric": needs["truth"] and needs.get("candidate", True),
            "limits": needs["deadline"] and needs.get("step", True) and not competition.limits.is_proposed,
            "people": not competition.admission.is_proposed,
            "launch": competition.launched_at is not None,
        }
    titles = {
        "basics": _("Basics"),
        "data": _("Data and truth"),
        "metric": _("Metric"),
        "limits": _("Limits and dates"),
        "people": _("People"),
        "launch": _("Review and launch"),
    }
    return [WizardStep(key, title, done.get(key, False)) for key, title in titles.items()]


def wizard_step(key: str) -> Callable[[StepView], StepView]:
    """A page of the way to the launch; afterwards it leads to where the same is managed."""

    def declare(view: StepView) -> StepView:
        @wraps(view)
        def guarded(request: HttpRequest, page_context: PageContext) -> HttpResponse:
            if page_context.competition.launched_at is None:
                return view(request, page_context)
            return redirect(AFTERWARDS[key], slug=page_context.competition.slug)

        return guarded

    return declare


def origin_of(request: HttpRequest) -> str:
    """The page with the checklist that somebody came from; empty for who goes from step to step."""
    name = request.GET.get("back", "")
    return name if name in CHECKLISTS else ""


def origin_query(request: HttpRequest) -> str:
    """What an address of the way carries on, so that the last page knows it too."""
    return f"?back={origin_of(request)}" if origin_of(request) else ""


def truth_page_name(competition: Competition, key: str) -> str:
    """The page of the answers (`data`) or of the metric: on the way to the launch, and afterwards under Manage."""
    return f"host_setup_{key}" if competition.launched_at is None else AFTERWARDS[key]


def wizard_context(request: HttpRequest, page_context: PageContext, key: str) -> dict[str, Any]:
    """What the frame of a page needs; `key` is the step shown."""
    competition = page_context.competition
    context: dict[str, Any] = {
        "page_context": page_context,
        "frame": "competitions/manage.html",
        "data_page": truth_page_name(competition, "data"),
        "metric_page": truth_page_name(competition, "metric"),
    }
    if competition.launched_at is not None:
        return context
    steps = steps_of(competition)
    place = [step.key for step in steps].index(key)
    # What would leave the draft unlaunched at its planned time; what is changed on one page may be missing then.
    lacks = key != "launch" and competition.launch_plan.launches_at is not None
    return context | {
        "frame": "competitions/setup.html",
        "steps": steps,
        "step": steps[place],
        "number": place + 1,
        "before": steps[place - 1] if place else None,
        "origin": origin_of(request),
        "origin_query": origin_query(request),
        "lacks": [item.text for item in checklist_of(competition) if not item.is_there] if lacks else [],
    }


@open_page_to(SiteAudience.SITE_HOSTS)
def host_new(request: HttpRequest) -> HttpResponse:
    """Step 1 of a competition that is not there yet."""
    is_import = request.POST.get("action") == "bring" or request.META.get("leaderboard.too_large")
    # In the reader's own zone, where it is known: what is typed is read on the clocks that pages show.
    zone = viewer_zone(request)
    form = BasicsForm(None if is_import else posted_data(request), initial={"zone": zone} if zone else {})
    if is_import:
        return _import_zip(request, form)
    if request.method == "POST" and form.is_valid():
        try:
            competition = copying.create_default_draft(user=signed_in_user(request.user), **form.fields_for_verb)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            messages.success(request, _("“%(title)s” is a draft that only you see.") % {"title": competition})
            return see_other("host_setup_data", slug=competition.slug)
    context = {"form": form, "folder_form": FolderForm(), "steps": steps_of(None)}
    return render(request, "competitions/host_new.html", context, status=422 if form.errors else 200)


def _import_zip(request: HttpRequest, basics_form: BasicsForm) -> HttpResponse:
    """A draft of a folder that was taken along from somewhere."""
    form, status = FolderForm(request.POST, request.FILES), 422
    try:
        refuse_too_large(request)
        if form.is_valid():
            chunks = form.cleaned_data["folder"].chunks()
            # Who brings last year's along has it here still, and nobody can write another address into a zip file here.
            made = folders.import_zip(chunks=chunks, user=signed_in_user(request.user), finds_address=True)
            words = _("“%(title)s” is a draft that only you see, at /c/%(slug)s/.")
            messages.success(request, words % {"title": made, "slug": made.slug})
            return see_other("host_setup", slug=made.slug)
    except (competitions.CannotHost, TooLarge) as error:
        status = add_refusal(form, error)
    context = {"form": basics_form, "folder_form": form, "steps": steps_of(None)}
    return render(request, "competitions/host_new.html", context, status=status)


@open_to(Audience.HOSTS)
@wizard_step("launch")
def host_setup(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Go on with the first step that is not done."""
    steps = steps_of(page_context.competition)
    following = next(step for step in steps if not step.is_done or step.key == "launch")
    return redirect(following.page, slug=page_context.competition.slug)


@open_to(Audience.HOSTS)
@wizard_step("basics")
def host_setup_basics(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    return _fields_step(request, page_context, "basics", BasicsForm)


@open_to(Audience.HOSTS)
@wizard_step("limits")
def host_setup_limits(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    return _fields_step(request, page_context, "limits", LimitsForm)


@open_to(Audience.HOSTS)
@wizard_step("people")
def host_setup_people(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Who gets in. Hosts are added on the page that stays under Manage."""
    more = {
        "hosts": page_context.competition.hosts.order_by("username"),
        "join_link": responses.absolute_url(request, "join_code", page_context.competition.admission.join_code),
        "opening_command": responses.opening_command(request),
    }
    return _fields_step(request, page_context, "people", EntryForm, more)


def _fields_step(
    request: HttpRequest,
    page_context: PageContext,
    key: str,
    form_class: type[WizardStepForm],
    more: dict[str, Any] | None = None,
) -> HttpResponse:
    """A step that is a form: save, and go on to the next one, or back to the checklist."""
    # A copy, because filling the form in changes it and the head of the page must not.
    form = form_class(posted_data(request), instance=Competition.objects.get(pk=page_context.competition.pk))
    if changed := save_competition(page_context, form):
        keys = list(AFTERWARDS)
        following = keys[keys.index(key) + 1]
        return see_other(origin_of(request) or f"host_setup_{following}", slug=changed.slug)
    context = {**wizard_context(request, page_context, key), "form": form, **(more or {})}
    return render(request, f"competitions/host_setup_{key}.html", context, status=422 if form.errors else 200)
