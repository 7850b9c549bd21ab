"""Grades for learning platforms."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.common.storage import TooLarge
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.services import competitions
from leaderboard.competitions.views.host_responses import add_refusal, posted_data, refuse_too_large

from .. import canvas, files, moodle_brightspace, sheets

KINDS = ("canvas", *moodle_brightspace.GRADE_FILES)


class GradebookForm(forms.Form):
    file = forms.FileField(
        label=gettext_lazy("Gradebook of Canvas"),
        max_length=1000,
        error_messages={
            "required": gettext_lazy("Choose a file first."),
            "empty": gettext_lazy("This file is empty."),
        },
        help_text=gettext_lazy("In Canvas: Grades, Export, Export Entire Gradebook."),
    )


@open_to(Audience.GRADERS)
def host_grade_file(request: HttpRequest, page_context: PageContext, kind: str) -> HttpResponse:
    if kind not in KINDS:
        raise Http404(_("There is no such file."))
    sheet = sheets.grade_sheet(page_context.competition, at=page_context.at)
    try:
        data = files.grade_file(page_context.competition, sheet, kind)
    except competitions.CannotHost as error:
        messages.error(request, " ".join([error.message, *error.details]))
        return see_other("host_grades", slug=page_context.competition.slug)
    response = HttpResponse(data, content_type="text/csv")
    response["Content-Disposition"] = f'attachment; filename="{page_context.competition.slug}-grades-{kind}.csv"'
    return response


@open_to(Audience.GRADERS)
def host_grade_canvas(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Upload Canvas's own gradebook, see who was found in it, choose the column, take it back filled."""
    form = GradebookForm(posted_data(request), request.FILES or None)
    status = 422 if request.method == "POST" else 200
    try:
        refuse_too_large(request)
        if request.method == "POST" and _do_gradebook_action(request, page_context, form):
            return see_other("host_grade_canvas", slug=page_context.competition.slug)
    except (competitions.CannotHost, TooLarge) as error:
        status = add_refusal(form, error)
    sheet = sheets.grade_sheet(page_context.competition, at=page_context.at)
    filling = files.gradebook_filling(page_context.competition, sheet)
    context = {"page_context": page_context, "sheet": sheet, "form": form, "filling": filling}
    return render(request, "grades/host_grade_canvas.html", context, status=status)


def _do_gradebook_action(request: HttpRequest, page_context: PageContext, form: GradebookForm) -> bool:
    """Do what was asked; False where the form has mistakes."""
    competition, action = page_context.competition, request.POST.get("action")
    if action == "forget":
        files.forget_gradebook(competition=competition)
        messages.success(request, _("The file is deleted here."))
        return True
    if action == "choose":
        form.errors.clear()
        column, is_scaled = request.POST.get("column", ""), request.POST.get("scaled") == "yes"
        files.choose_column(competition=competition, column=column, is_scaled=is_scaled)
        return True
    if not form.is_valid():
        return False
    file = form.cleaned_data["file"]
    if file.size > canvas.MOST_BYTES:
        raise TooLarge(canvas.MOST_BYTES)
    files.save_gradebook(
        competition=competition, user=signed_in_user(page_context.user), file_name=file.name, data=file.read()
    )
    return True
