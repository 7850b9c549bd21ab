"""The setup page: from uploaded files to a draft competition, with findings, proposals and settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.common import responses
from leaderboard.common.access import SiteAudience, open_page_to
from leaderboard.common.display_time import known_zones, viewer_zone
from leaderboard.common.names import slug_from_title
from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.common.storage import TooLarge
from leaderboard.competitions import services as competitions
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.forms import FolderForm, SetupForm
from leaderboard.competitions.host_responses import add_refusal, ask_first, is_confirmed, save_competition
from leaderboard.competitions.models import Competition, TruthDraft
from leaderboard.competitions.services import CannotHost
from leaderboard.competitions.views import answer_later, answered_by_worker
from leaderboard.scoring import JobFailed

from .. import copying, findings, folders, launches, setup_files
from ..forms import AnswersForm
from ..services import checks, drafts
from ..specs import TruthSpec, proposed_parameters
from ..truth_reports import (
    BROKEN,
    draft_of,
    fitting_metrics,
    initial_split,
    last_check_report,
    metric_or_none,
)

PageView = Callable[..., HttpResponse]
METRICS_PROPOSED = 3
READING_BUTTONS = {
    "drop", "students", "answers", "predict", "predict_these", "split", "metric", "fix", "create",
}  # fmt: skip
"""Names of the buttons on the setup page that read the files again."""
ANSWERS_PROPOSED = 5
WHERE = {
    "truth": "host_setup",
    "overview": "host_settings",
    "deadline": "host_setup",
    "candidate": "host_candidate",
    "student_preview": "host_setup_launch",
}


@dataclass(frozen=True)
class ChecklistItem:
    """A condition for the launch; `page` is the URL name of the page where it can be met."""

    text: str
    is_there: bool
    page: str


def checklist_of(competition: Competition) -> list[ChecklistItem]:
    needs = launches.launch_needs(competition)
    return [ChecklistItem(need.text, need.is_there, WHERE[need.key]) for need in needs]


def until_launch(page: str) -> Callable[[PageView], PageView]:
    """Decorator for pages of drafts: after the launch they redirect to the URL name `page`."""

    def declare(view: PageView) -> PageView:
        @wraps(view)
        def guarded(request: HttpRequest, page_context: PageContext) -> HttpResponse:
            if page_context.competition.launched_at is None:
                return view(request, page_context)
            return redirect(page, slug=page_context.competition.slug)

        return guarded

    return declare


# --- a new one --------------------------------------------------------------------------------------------------


def _imports_nothing(request: HttpRequest) -> bool:
    return request.POST.get("action") != "import" and "folder" not in request.FILES


@open_page_to(SiteAudience.SITE_HOSTS)
@answered_by_worker(gettext_lazy("Reading your files"), is_quick=_imports_nothing)
def host_new(request: HttpRequest) -> HttpResponseBase:
    """Start a competition from uploaded files, or import one (`action=import`)."""
    if request.POST.get("action") == "import" or "folder" in request.FILES:
        return _import_zip(request)
    status = 200
    if request.method == "POST":
        try:
            if request.FILES.getlist("files"):
                return _start(request)
            messages.error(request, _("Choose one or more files."))
            status = 422
        except TooLarge as error:
            messages.error(request, str(error))
            status = 413
    return render(request, "ground_truths/host_new.html", {"folder_form": FolderForm()}, status=status)


def _start(request: HttpRequest) -> HttpResponseBase:
    """Create the draft, then have a worker read the files; so there is one draft, however often the worker tries."""
    user, zone = signed_in_user(request.user), request.POST.get("zone", "")
    zone = viewer_zone(request) or (zone if zone in known_zones() else "UTC")
    title = copying.NEW_TITLE
    made = copying.create_default_draft(user=user, title=title, slug=copying.free_slug(title), zone=zone)
    return answer_later(request, path=reverse("host_setup", kwargs={"slug": made.slug}))


def _take_files(request: HttpRequest, competition: Competition, files: list[Any]) -> None:
    """Add the uploaded files to the draft; refusals become messages."""
    try:
        named = [(file.name or "", file.chunks()) for file in files]
        user = signed_in_user(request.user)
        for refusal in setup_files.add_files(competition=competition, user=user, files=named):
            messages.error(request, refusal)
    except JobFailed:
        messages.error(request, str(BROKEN))


def _import_zip(request: HttpRequest) -> HttpResponse:
    """Import an exported competition as a draft."""
    form, status = FolderForm(request.POST, request.FILES), 422
    try:
        if form.is_valid():
            chunks = form.cleaned_data["folder"].chunks()
            # A number is added to a slug that is taken: often the exported competition is still on this site.
            made = folders.import_zip(chunks=chunks, user=signed_in_user(request.user), finds_address=True)
            words = _("“%(title)s” is a draft that only you see, at /c/%(slug)s/.")
            messages.success(request, words % {"title": made, "slug": made.slug})
            return see_other("host_setup", slug=made.slug)
    except (CannotHost, TooLarge) as error:
        status = add_refusal(form, error)
    return render(request, "ground_truths/host_new.html", {"folder_form": form}, status=status)


# --- the draft --------------------------------------------------------------------------------------------------


def _saves_alone(request: HttpRequest) -> bool:
    """Whether a form of the setup page needs no reading of files."""
    return not (request.FILES or READING_BUTTONS & set(request.POST))


@open_to(Audience.HOSTS)
@answered_by_worker(gettext_lazy("Reading your files"), is_quick=_saves_alone)
@until_launch("host_settings")
def host_setup(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """GET: the findings and proposals. POST: save the fields, and do the action of the pressed button.

    Its name is the action: `add`, `drop`, `students`, `answers`, `predict`, `split`, `metric`, `fix`, `accept`,
    `discard`, `create`.
    """
    if request.method != "POST":
        return _setup_page(request, page_context, _form_of(page_context.competition))
    if request.POST.get("discard") or is_confirmed(request):
        return _discard(request, page_context)
    try:
        form = _saved_form(request, page_context)
        if form is not None and form.errors:
            return _setup_page(request, page_context, form, status=422)
        if "create" in request.POST:
            return _create(request, page_context)
        fragment = _do(request, page_context.competition)
    except (CannotHost, TooLarge) as error:
        lines = [error.message, *error.details] if isinstance(error, CannotHost) else [str(error)]
        messages.error(request, " ".join(lines))
        fragment = "#files"
    except JobFailed:
        messages.error(request, str(BROKEN))
        fragment = "#files"
    return see_other("host_setup", fragment=fragment, slug=page_context.competition.slug)


def _form_of(competition: Competition, request: HttpRequest | None = None) -> SetupForm:
    # A copy, because validating the form changes the instance, and the head of the page must not change.
    copy = Competition.objects.get(pk=competition.pk) if request else competition
    return SetupForm(request.POST if request else None, instance=copy)


def _saved_form(request: HttpRequest, page_context: PageContext) -> SetupForm | None:
    """Save the posted fields; returns the form, or None if none of them was posted."""
    if "title" not in request.POST:
        return None
    form = _form_of(page_context.competition, request)
    if changed := save_competition(page_context, form):
        page_context.competition.refresh_from_db()
        _follow_title(request, page_context.competition, changed.title)
    return form


def _follow_title(request: HttpRequest, competition: Competition, title: str) -> None:
    """Make a slug that was made from an earlier title again from the new one; students do not know it yet."""
    if "title" in request.POST and competition.slug.startswith(("new-competition", "predict-")):
        wanted = slug_from_title(title)[:50].strip("-")
        if wanted and not competition.slug.startswith(wanted):
            user = signed_in_user(request.user)
            competitions.change_competition(competition=competition, user=user, slug=copying.free_slug(title))
            competition.refresh_from_db()


def _do(request: HttpRequest, competition: Competition) -> str:
    """Do the action of the pressed button; returns the fragment of the page where its effect is visible."""
    posted, user = request.POST, signed_in_user(request.user)
    if files := request.FILES.getlist("files"):
        _take_files(request, competition, files)
        return "#files" if "title" in posted else ""
    if "drop" in posted:
        setup_files.drop_file(competition=competition, user=user, name=posted["drop"])
        return "#files"
    if "students" in posted:
        setup_files.give_answers_to_students(competition=competition, user=user)
        return "#files"
    if "answers" in posted:
        setup_files.use_as_answers(competition=competition, user=user, name=posted["answers"])
        return "#files"
    names = posted.getlist("column") if "predict_these" in posted else posted.getlist("predict")
    if names or "predict_these" in posted:
        setup_files.choose_answers(competition=competition, user=user, names=names)
        return "#proposal"
    if "split" in posted or "metric" in posted:
        _check_again(request, competition)
        return "#proposal"
    if "accept" in posted:
        findings.accept_finding(competition=competition, user=user, key=posted["accept"])
        return "#warnings"
    if "fix" in posted:
        _fix(competition, request)
        return "#warnings"
    if "title" in posted:
        messages.success(request, _("Saved."))
    return ""


def _check_again(request: HttpRequest, competition: Competition, *, redraws: bool = False) -> None:
    """Check the answers again with another split, ID column or metric. Raises `CannotHost` and `JobFailed`."""
    draft, posted = draft_of(competition), request.POST
    held = draft or competition.ground_truth
    if held is None:
        raise CannotHost(_("Add the answer file first."))
    form = AnswersForm(posted, request.FILES, has_file=held.file_name, has_split=True)
    if "split" in posted and not form.is_valid():
        raise CannotHost(
            _("The split didn't change."), [str(error) for found in form.errors.values() for error in found]
        )
    spec = replace(TruthSpec.of(held), redraws_split=redraws)
    if "split" in posted:
        spec = replace(spec, **form.split)
    key = posted.get("metric", held.metric)
    if key != held.metric:
        if metric_or_none(key) is None:
            raise CannotHost(_("There is no such metric."))
        spec = replace(spec, metric=key, params=proposed_parameters(key, draft.fits if draft else ()))
    drafts.save_draft(competition=competition, spec=spec, suggests_metrics=True)


def _fix(competition: Competition, request: HttpRequest) -> None:
    user = signed_in_user(request.user)
    match request.POST["fix"]:
        case "convert":
            drafts.apply_spreadsheet_conversion(competition=competition)
            setup_files.propose_again(competition=competition, user=user)
        case "redraw":
            _check_again(request, competition, redraws=True)
        case "remove_leaks":
            setup_files.remove_leaks(competition=competition, user=user)


def _create(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    competition, user = page_context.competition, signed_in_user(request.user)
    setup_files.make_ready(competition=competition, user=user, is_confirmed=bool(request.POST.get("is_confirmed")))
    return see_other("host_setup_launch", slug=competition.slug)


def _discard(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Delete the draft after a confirmation. Not by way of the bin, because a draft has no students."""
    competition = page_context.competition
    if not is_confirmed(request):
        return ask_first(request, page_context, str(competition), _("The draft and its files were deleted."))
    competitions.delete_competition(competition=competition, user=signed_in_user(request.user))
    messages.info(request, _("The draft was discarded."))
    return see_other("host")


def _setup_page(request: HttpRequest, page_context: PageContext, form: SetupForm, *, status: int = 200) -> HttpResponse:
    competition = page_context.competition
    about = last_check_report(competition)
    draft: TruthDraft | None = about["draft"]
    report = about["report"] or {}
    held = about["checked"]
    fits = fitting_metrics(draft, held.metric) if held else None
    context = {
        **about,
        "page_context": page_context,
        "form": form,
        "report": report,
        "files": list(competition.data_files.all()),
        "answer_choice": draft.answer_choice if draft else {},
        "answer_choices": _answer_choices(draft) if draft else [],
        "columns": checks.column_names(draft) if draft else [],
        "found": findings.shown_findings(about["held_check"], may_fix=True),
        "split_form": _split_form(draft, competition),
        "metrics": (fits["best"][:METRICS_PROPOSED] if fits else []),
        "is_proposed_metric": any(one.key == held.metric for one, _reason in fits["best"][:METRICS_PROPOSED])
        if held and fits
        else False,
        "metric_count": len(fits["best"]) + len(fits["others"]) if fits else 0,
        "join_link": responses.absolute_url(request, "join_code", competition.admission.join_code),
    }
    return render(request, "ground_truths/host_setup.html", context, status=status)


def _answer_choices(draft: TruthDraft) -> list[tuple[str, bool]]:
    """(column, whether it is an answer): the chosen columns, then the last ones of the others."""
    names = checks.possible_answers(draft)
    chosen = draft.answer_choice.get("columns") or draft.report.get("target_columns") or []
    others = [name for name in reversed(names) if name not in chosen]
    shown = [*(name for name in names if name in chosen), *others][: max(ANSWERS_PROPOSED, len(chosen))]
    return [(name, name in chosen) for name in shown]


def _split_form(draft: TruthDraft | None, competition: Competition) -> AnswersForm | None:
    """The form of the split with its current settings; None without answers."""
    held = draft or competition.ground_truth
    if held is None:
        return None
    has_split = draft is None or not draft.report["is_split_by_system"]
    initial = {"id_column": held.id_column} if draft is None else initial_split(draft)
    return AnswersForm(initial=initial, has_file=held.file_name, has_split=has_split)
