"""The way from nothing to the launch: six pages in any order, each of which saves what it is about."""

from __future__ import annotations

from collections.abc import Callable
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
from ..forms.wizard import BasicsForm, EntryForm, FolderForm, LimitsForm, WizardStepForm
from ..models import Competition
from ..services import competitions, copying, folders
from .host_responses import add_refusal, posted_data, refuse_too_large
from .launch_checklist import checklist_of, next_step, steps_of

StepView = Callable[..., HttpResponse]
CHECKLISTS = ("host_competition", "host_setup_launch")
"""Where the checklist stands. Who comes from there to put one thing right is led back there (`?back=`)."""


def wizard_step(key: str) -> Callable[[StepView], StepView]:
    """A page of the way to the launch; afterwards it leads to where the same is managed."""

    def declare(view: StepView) -> StepView:
        @wraps(view)
        def guarded(request: HttpRequest, page_context: PageContext, **parts: Any) -> HttpResponse:
            if page_context.competition.launched_at is None:
                return view(request, page_context, **parts)
            after = next(step.after for step in steps_of(page_context.competition) if step.key == key)
            return redirect(after, slug=page_context.competition.slug)

        return guarded

    return declare


def origin(request: HttpRequest) -> str:
    """The page with the checklist that somebody came from; empty for who goes from step to step."""
    name = request.GET.get("back", "")
    return name if name in CHECKLISTS else ""


def origin_query(request: HttpRequest) -> str:
    """What an address of the way carries on, so that the last page knows it too."""
    return f"?back={origin(request)}" if origin(request) else ""


def truth_page_name(competition: Competition, key: str) -> str:
    """The page of the answers (`data`) or of the metric: on the way to the launch, and afterwards under Manage."""
    under_manage = {"data": "host_truth", "metric": "host_truth_metric"}
    return f"host_setup_{key}" if competition.launched_at is None else under_manage[key]


def wizard_context(request: HttpRequest, page_context: PageContext, key: str) -> dict[str, Any]:
    """What the frame of a page needs; `key` is the step shown."""
    places = {f"{key}_page": truth_page_name(page_context.competition, key) for key in ("data", "metric")}
    if page_context.competition.launched_at is not None:
        return {"page_context": page_context, "frame": "competitions/manage.html", **places}
    steps = steps_of(page_context.competition)
    place = [step.key for step in steps].index(key)
    return {
        "page_context": page_context,
        "frame": "competitions/setup.html",
        **places,
        "steps": steps,
        "step": steps[place],
        "number": place + 1,
        "before": steps[place - 1] if place else None,
        "behind": steps[place + 1] if place + 1 < len(steps) else None,
        "origin": origin(request),
        "origin_query": origin_query(request),
        "lacks": _missing_for_launch(page_context.competition) if key != "launch" else [],
    }


def _missing_for_launch(competition: Competition) -> list[str]:
    """What would leave a draft unlaunched at its planned time; what is changed on one page may be missing then."""
    if competition.launch_plan.launches_at is None:
        return []
    return [item.text for item in checklist_of(competition) if not item.is_there]


@open_page_to(SiteAudience.SITE_HOSTS)
def host_new(request: HttpRequest) -> HttpResponse:
    """Step 1 of a competition that is not there yet."""
    if request.POST.get("action") == "bring" or request.META.get("leaderboard.too_large"):
        return _import_zip(request)
    form = _basics(request, posted_data(request))
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


def _basics(request: HttpRequest, data: Any = None) -> BasicsForm:
    """In the reader's own zone, where it is known: what is typed is read on the clocks that pages show."""
    zone = viewer_zone(request)
    return BasicsForm(data, initial={"zone": zone} if zone else {})


def _import_zip(request: HttpRequest) -> HttpResponse:
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
    context = {"form": _basics(request), "folder_form": form, "steps": steps_of(None)}
    return render(request, "competitions/host_new.html", context, status=status)


@open_to(Audience.HOSTS)
@wizard_step("launch")
def host_setup(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Go on where something is missing."""
    return redirect(next_step(page_context.competition).page, slug=page_context.competition.slug)


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
    if request.method == "POST" and form.is_valid():
        try:
            changed = competitions.change_competition(
                competition=page_context.competition, user=signed_in_user(page_context.user), **form.fields_for_verb
            )
        except ValidationError as error:
            form.add_error(None, error)
        else:
            here = wizard_context(request, page_context, key)
            return see_other(here["origin"] or here["behind"].page, slug=changed.slug)
    context = {**wizard_context(request, page_context, key), "form": form, **(more or {})}
    return render(request, f"competitions/host_setup_{key}.html", context, status=422 if form.errors else 200)
