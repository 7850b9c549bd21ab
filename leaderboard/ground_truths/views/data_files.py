"""Pages of data files, and the competition as a zip for hosts."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.common.responses import as_download, csv_download, see_other, zip_download
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.forms import DataFileForm
from leaderboard.competitions.host_responses import REFUSALS, add_refusal, ask_first, is_confirmed, posted_data
from leaderboard.competitions.metric_display import competition_metric
from leaderboard.competitions.views import answered_by_worker

from ..leaks import is_table_unread
from ..services import data_files, folders, publishing


@open_to(Audience.VISITORS)
def data(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    if page_context.has_data:
        lock = ""
    elif page_context.membership is None:
        lock = "join"
    else:
        lock = "wait" if page_context.at < page_context.competition.opens_at else "rules"
    context = {
        "page_context": page_context,
        "files": list(page_context.competition.data_files.all()),
        "lock": lock,
        "measure": competition_metric(page_context.competition.ground_truth),
        "site": request.build_absolute_uri("/").rstrip("/"),
    }
    return render(request, "ground_truths/data.html", context)


@open_to(Audience.VISITORS)
def data_file(request: HttpRequest, page_context: PageContext, name: str) -> HttpResponseBase:
    """Download one data file; a redirect to the page of the data for viewers who may not have it."""
    if not page_context.has_data:
        return redirect("data", slug=page_context.competition.slug)
    file = page_context.competition.data_files.filter(name=name).first()
    if file is None:
        raise Http404(_("This competition has no such file."))
    return as_download(file.file_key, name)


@open_to(Audience.VISITORS)
def sample_submission(request: HttpRequest, page_context: PageContext) -> HttpResponseBase:
    text = _sample(request, page_context)
    return csv_download(text, "sample_submission") if text else redirect("data", slug=page_context.competition.slug)


@open_to(Audience.VISITORS)
def data_zip(request: HttpRequest, page_context: PageContext) -> HttpResponseBase:
    """Download all data files and the sample submission as a zip."""
    competition = page_context.competition
    if not page_context.has_data:
        return redirect("data", slug=competition.slug)
    sample = _sample(request, page_context)
    return zip_download(f"{competition.slug}.zip", lambda archive: data_files.write_data(archive, competition, sample))


def _sample(request: HttpRequest, page_context: PageContext) -> bytes:
    """The sample submission; b"" if the viewer may not have the data, or with a message if there is none."""
    ground_truth = page_context.competition.ground_truth
    if not page_context.has_data or ground_truth is None:
        return b""
    try:
        return publishing.sample_submission_of(ground_truth)
    except FileNotFoundError:
        messages.error(request, _("We couldn't create the sample submission. Tell your host."))
        return b""


@open_to(Audience.HOSTS)
@answered_by_worker(gettext_lazy("Looking for answers in your file"), is_quick=lambda request: not request.FILES)
def host_data(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    competition = page_context.competition
    if request.POST.get("action") == "remove":
        removed = get_object_or_404(competition.data_files, name=request.POST.get("name", ""))
        if not is_confirmed(request):
            return ask_first(request, page_context, str(removed), _("Students can no longer download it."))
        data_files.remove_data_file(data_file=removed, user=page_context.account)
        messages.success(request, _("“%(name)s” was removed.") % {"name": removed})
        return see_other("host_data", slug=competition.slug)
    form = DataFileForm(posted_data(request), request.FILES or None)
    status = add_posted_file(request, page_context, form) if request.method == "POST" else 200
    if status == 303:
        return see_other("host_data", slug=competition.slug)
    context = {"page_context": page_context, "form": form, "files": competition.data_files.all()}
    return render(request, "ground_truths/host_data.html", context, status=status)


def add_posted_file(request: HttpRequest, page_context: PageContext, form: DataFileForm) -> int:
    """Add the posted file to the data files, with a message. Returns the status of the response: 303, or that of a
    refusal, whose text is in the form then."""
    try:
        if not form.is_valid():
            return 422
        file = form.cleaned_data["file"]
        added = data_files.add_data_file(
            competition=page_context.competition,
            file_name=file.name,
            chunks=file.chunks(),
            description=form.cleaned_data["description"],
            user=page_context.account,
        )
    except REFUSALS as error:
        return add_refusal(form, error)
    messages.success(request, _("Students can now download “%(name)s”.") % {"name": added})
    if is_table_unread(added.name):
        messages.warning(
            request,
            _("We only check CSV files for answers. Make sure “%(name)s” contains none.") % {"name": added},
        )
    return 303


@open_to(Audience.HOSTS)
def host_export(request: HttpRequest, page_context: PageContext) -> HttpResponseBase:
    """Download the competition as a zip that any Leaderboard site can import as a draft. It contains the answers."""
    competition = page_context.competition
    return zip_download(f"{competition.slug}.zip", lambda archive: folders.write_folder(archive, competition))
