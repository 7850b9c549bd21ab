"""Pages of files with grades for learning platforms, of a competition and of a course."""

from __future__ import annotations

from dataclasses import replace

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.common.responses import csv_download, spreadsheet_download
from leaderboard.common.storage import TooLarge
from leaderboard.competitions import services as competitions
from leaderboard.competitions.access import Audience
from leaderboard.competitions.host_responses import add_refusal, posted_data

from . import canvas, files, services
from .pages import GradePages, grade_page


class GradebookForm(forms.Form):
    file = forms.FileField(
        label=gettext_lazy("Canvas gradebook"),
        max_length=1000,
        error_messages={
            "required": gettext_lazy("Choose a file first."),
            "empty": gettext_lazy("This file is empty."),
        },
        help_text=gettext_lazy("In Canvas: Grades, Export, Export Entire Gradebook."),
    )


@grade_page(Audience.GRADERS)
def grade_file(request: HttpRequest, pages: GradePages, kind: str) -> HttpResponse:
    if kind != "canvas" and kind not in files.GRADE_FILES:
        raise Http404(_("This file doesn't exist."))
    try:
        data = files.grade_file(pages.graded, pages.sheet(), kind)
    except competitions.CannotHost as error:
        messages.error(request, " ".join([error.message, *error.details]))
        return pages.leave_to("grades")
    name = f"{pages.graded.slug}-grades-{kind}"
    # Canvas gets the bytes of its own export, with a mark if that had one.
    return csv_download(data, name) if kind == "canvas" else spreadsheet_download(data.decode(), name)


@grade_page(Audience.GRADERS)
def grade_canvas(request: HttpRequest, pages: GradePages) -> HttpResponse:
    """Upload a gradebook exported from Canvas, check the matched students, choose the column, download it filled."""
    form = GradebookForm(posted_data(request), request.FILES or None)
    status = 422 if request.method == "POST" else 200
    try:
        if request.POST.get("action") == "download":
            return _filled_gradebook(request, pages)
        if request.method == "POST" and _do_gradebook_action(request, pages, form):
            return pages.leave_to("grade_canvas")
    except (competitions.CannotHost, TooLarge) as error:
        status = add_refusal(form, error)
    sheet = pages.sheet()
    filling = files.gradebook_filling(pages.graded, sheet)
    context = {**pages.frame, "sheet": sheet, "form": form, "filling": filling}
    return render(request, "grades/grade_canvas.html", context, status=status)


def _filled_gradebook(request: HttpRequest, pages: GradePages) -> HttpResponse:
    """Redirect to the filled file. A column just chosen, out of other points, is first checked on the page."""
    column, sheet = request.POST.get("column", ""), pages.sheet()
    filling = files.gradebook_filling(pages.graded, sheet)
    if filling is not None and filling.column != column:
        services.choose_gradebook_column(graded=pages.graded, column=column)
        if replace(filling, column=column).differs:
            messages.info(request, _("Canvas has another maximum here. Choose the points below, then download."))
            return pages.leave_to("grade_canvas")
    return pages.leave_to("grade_file", kind="canvas")


def _do_gradebook_action(request: HttpRequest, pages: GradePages, form: GradebookForm) -> bool:
    """Delete the gradebook, choose its column, or save an upload; False if the form has errors."""
    action = request.POST.get("action")
    if action == "forget":
        services.delete_gradebook(graded=pages.graded)
        messages.success(request, _("Uploaded file deleted."))
        return True
    if action == "choose":
        form.errors.clear()
        column, is_scaled = request.POST.get("column", ""), request.POST.get("scaled") == "yes"
        services.choose_gradebook_column(graded=pages.graded, column=column, is_scaled=is_scaled)
        return True
    if not form.is_valid():
        return False
    file = form.cleaned_data["file"]
    if file.size > canvas.MAX_GRADEBOOK_BYTES:
        raise TooLarge(canvas.MAX_GRADEBOOK_BYTES)
    services.save_gradebook(graded=pages.graded, user=pages.user, file_name=file.name, data=file.read())
    return True
