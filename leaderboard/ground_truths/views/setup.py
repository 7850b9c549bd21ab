"""Pages from uploaded files to a launched competition: new ones, findings and proposals, launch."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.accounts.models import User
from leaderboard.common.access import SiteAudience, open_page_to
from leaderboard.common.responses import absolute_url, opening_command, see_other, signed_in_user
from leaderboard.common.viewer import known_zones, viewer_zone
from leaderboard.competitions import hooks as competitions_hooks
from leaderboard.competitions import services as competitions
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.forms import FolderForm, SetupForm
from leaderboard.competitions.host_responses import (
    REFUSALS,
    add_refusal,
    ask_first,
    is_confirmed,
    refusal_lines,
    save_competition,
)
from leaderboard.competitions.models import Competition, Course, TruthDraft
from leaderboard.competitions.services import CannotHost
from leaderboard.competitions.views import answer_later, answered_by_worker

from ..forms import AnswersForm
from ..queries import current_truth, draft_of, fitting_metrics, last_check, metric_or_none
from ..services import checks, copying, drafts, folders, setup
from ..specs import GroundTruthSpec, proposed_parameters

PROPOSED_METRICS = 3
PROPOSED_ANSWERS, MAX_ASKED_ANSWERS = 5, 12
FILE_BUTTONS = {"drop", "students", "answers"}
READING_BUTTONS = FILE_BUTTONS | {"predict", "predict_these", "split", "metric", "fix", "create", "launch"}
"""Names of the buttons on the setup page that read the files again."""


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
        if request.FILES.getlist("files"):
            return _start(request)
        messages.error(request, _("Choose one or more files."))
        status = 422
    return render(request, "ground_truths/host_new.html", {"folder_form": FolderForm()}, status=status)


def _start(request: HttpRequest) -> HttpResponseBase:
    """Create the draft, then have a worker read the files; so there is one draft, however often the worker tries."""
    user, zone = signed_in_user(request.user), request.POST.get("zone", "")
    zone = viewer_zone(request) or (zone if zone in known_zones() else "UTC")
    title = request.POST.get("name", "").strip()[:120] or copying.NEW_TITLE
    course = Course.proposed_for(user) or ""
    draft = copying.create_default_draft(user=user, course=course, title=title, zone=zone)
    return answer_later(request, path=reverse("host_setup", kwargs={"slug": draft.slug}))


def _import_zip(request: HttpRequest) -> HttpResponse:
    """Import an exported competition as a draft."""
    form, status = FolderForm(request.POST, request.FILES), 422
    try:
        if form.is_valid():
            chunks = form.cleaned_data["folder"].chunks()
            # A number is added to a slug that is taken: often the exported competition is still on this site.
            draft = folders.import_zip(chunks=chunks, user=signed_in_user(request.user), finds_address=True)
            message = _("“%(title)s” is a draft that only you see, at /c/%(slug)s/.")
            messages.success(request, message % {"title": draft, "slug": draft.slug})
            return see_other("host_setup", slug=draft.slug)
    except REFUSALS as error:
        status = add_refusal(form, error)
    return render(request, "ground_truths/host_new.html", {"folder_form": form}, status=status)


# --- the draft --------------------------------------------------------------------------------------------------


def _saves_alone(request: HttpRequest) -> bool:
    """Whether a form of the setup page needs no reading of files."""
    return not (request.FILES or READING_BUTTONS & set(request.POST))


@open_to(Audience.HOSTS)
@answered_by_worker(gettext_lazy("Preparing your competition"), is_quick=_saves_alone)
def host_setup(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """GET: the findings and proposals. POST: save the fields, and do the action of the pressed button. After the launch
    it redirects.

    The name of the button is the action: `add`, `drop`, `students`, `answers`, `predict`, `split`, `metric`, `fix`,
    `accept`, `discard`, `create`, `launch`.
    """
    competition, user = page_context.competition, signed_in_user(request.user)
    if competition.launched_at is not None:
        return redirect("host_competition" if "launch" in request.POST else "host_settings", slug=competition.slug)
    if request.method != "POST":
        return _setup_page(request, page_context, _form_of(competition, user))
    if request.POST.get("discard") or is_confirmed(request):
        return _discard(request, page_context)
    try:
        form = _saved_form(request, page_context)
        if form is not None and form.errors:
            return _setup_page(request, page_context, form, status=422)
        if "create" in request.POST:
            setup.make_ready(competition=competition, user=user, is_confirmed="is_confirmed" in request.POST)
            messages.success(request, _("The draft is saved."))
            return see_other("host_competition", slug=competition.slug)
        if "launch" in request.POST:
            setup.launch_after_test(competition=competition, user=user, is_confirmed="is_confirmed" in request.POST)
            messages.success(request, _("Launched. Give your students the join code or the link on this page."))
            return see_other("host_competition", slug=competition.slug)
        fragment = _change_draft(request, competition, user)
    except REFUSALS as error:
        messages.error(request, " ".join(refusal_lines(error)))
        fragment = "#files"
    return see_other("host_setup", fragment=fragment, slug=competition.slug)


def _form_of(competition: Competition, user: User, request: HttpRequest | None = None) -> SetupForm:
    # A copy, because validating the form changes the instance, and the head of the page must not change.
    copy = Competition.objects.get(pk=competition.pk) if request else competition
    return SetupForm(request.POST if request else None, instance=copy, user=user)


def _saved_form(request: HttpRequest, page_context: PageContext) -> SetupForm | None:
    """Save the posted fields; returns the form, or None if none of them was posted."""
    if "title" not in request.POST:
        return None
    competition, user = page_context.competition, signed_in_user(request.user)
    form = _form_of(competition, user, request)
    if save_competition(page_context, form):
        if form.moves_to_course:
            competitions_hooks.course_chosen(competition=competition, course=form.chosen_course, user=user)
        competition.refresh_from_db()
        copying.follow_title(competition=competition, user=user)
    return form


def _change_draft(request: HttpRequest, competition: Competition, user: User) -> str:
    """Do the action of the pressed button; returns the fragment of the page where its effect is visible."""
    posted = request.POST
    if request.FILES.getlist("files"):
        _add_files(request, competition, user)
        return "#files" if "title" in posted else ""
    if FILE_BUTTONS & set(posted):
        _change_role_of_file(request, competition, user)
        return "#files"
    if press_button(posted, competition, user):
        return "#warnings" if {"accept", "fix"} & set(posted) else "#proposal"
    if "split" in posted or "metric" in posted:
        _check_again(request, competition)
        return "#proposal"
    if "title" in posted:
        messages.success(request, _("Saved."))
    return ""


def press_button(posted: QueryDict, competition: Competition, user: User) -> bool:
    """Do what a button about the checked answers asks: `predict` a column, `predict_these`, `accept` or `fix` a
    finding; False if none was pressed."""
    if "predict" in posted or "predict_these" in posted:
        names = posted.getlist("column" if "predict_these" in posted else "predict")
        setup.choose_answers(competition=competition, user=user, names=names)
    elif key := posted.get("accept"):
        checks.accept_finding(competition=competition, user=user, key=key)
    elif fix := posted.get("fix"):
        setup.fix_answers(competition=competition, user=user, fix=fix)
    else:
        return False
    return True


def _add_files(request: HttpRequest, competition: Competition, user: User) -> None:
    named = [(file.name or "", file.chunks()) for file in request.FILES.getlist("files")]
    for refusal in setup.add_files(competition=competition, user=user, files=named):
        messages.error(request, refusal)


def _change_role_of_file(request: HttpRequest, competition: Competition, user: User) -> None:
    posted = request.POST
    if "drop" in posted:
        setup.drop_file(competition=competition, user=user, name=posted["drop"])
    elif "students" in posted:
        setup.give_answers_to_students(competition=competition, user=user)
    else:
        setup.use_as_answers(competition=competition, user=user, name=posted["answers"])


def _check_again(request: HttpRequest, competition: Competition) -> None:
    """Check the answers again with another split, ID column or metric. Raises `CannotHost` and `JobFailed`."""
    draft, posted = draft_of(competition), request.POST
    spec = GroundTruthSpec.from_truth(current_truth(competition))
    if "split" in posted:
        form = AnswersForm(competition, request)
        if not form.is_valid():
            lines = [str(error) for errors in form.errors.values() for error in errors]
            raise CannotHost(_("The split didn't change."), lines)
        spec = replace(spec, **form.split_fields)
    key = posted.get("metric", spec.metric)
    if key != spec.metric:
        if metric_or_none(key) is None:
            raise CannotHost(_("There is no such metric."))
        spec = replace(spec, metric=key, params=proposed_parameters(key, draft.fits if draft else ()))
    drafts.save_draft(competition=competition, spec=spec, suggests_metrics=True)


def _discard(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Delete the draft after a confirmation. Not by way of the bin, because a draft has no students."""
    competition = page_context.competition
    if not is_confirmed(request):
        return ask_first(request, page_context, str(competition), _("The draft and its files will be deleted."))
    competitions.delete_competition(competition=competition, user=signed_in_user(request.user))
    messages.info(request, _("The draft was discarded."))
    return see_other("host")


def _setup_page(request: HttpRequest, page_context: PageContext, form: SetupForm, *, status: int = 200) -> HttpResponse:
    competition = page_context.competition
    check = last_check(competition)
    draft: TruthDraft | None = check["draft"]
    key = check["checked"].metric if check["checked"] else ""
    fits = fitting_metrics(draft, key)
    proposed = fits["best"][:PROPOSED_METRICS]
    answer_choice = draft.answer_choice if draft else {}
    is_readable = checks.is_readable(draft) if draft else bool(check["checked"])
    context = {
        **check,
        "page_context": page_context,
        "form": form,
        "report": check["report"] or {},
        "files": list(competition.data_files.all()),
        "answer_choice": answer_choice,
        "answer_choices": answer_choices(draft) if draft else [],
        "is_readable": is_readable,
        "is_blocked": bool(not is_readable or check["findings"].errors or answer_choice.get("is_asked")),
        "columns": checks.column_names(draft) if draft else [],
        "split_form": AnswersForm(competition),
        "metrics": proposed,
        "is_proposed_metric": any(metric.key == key for metric, _reason in proposed),
        "metric_count": len(fits["best"]) + len(fits["others"]),
        "address": urlsplit(absolute_url(request, "home")).netloc,
        "opening_command": opening_command(request),
    }
    return render(request, "ground_truths/host_setup.html", context, status=status)


def answer_choices(draft: TruthDraft) -> list[tuple[str, bool]]:
    """(column, whether it is an answer): the chosen columns, then the last ones of the others; if the host is asked,
    the most likely ones."""
    if draft.answer_choice.get("is_asked"):
        return [(name, False) for name in draft.answer_choice["possible"][:MAX_ASKED_ANSWERS]]
    names = checks.possible_answers(draft)
    answers = draft.answer_choice.get("columns") or draft.report.get("target_columns") or []
    chosen = [name for name in names if name in answers]
    others = [name for name in reversed(names) if name not in answers]
    return [(name, name in answers) for name in [*chosen, *others][: max(PROPOSED_ANSWERS, len(answers))]]
