"""Views whose forms are processed by a worker: the form is stored, and a page polls until the response is there."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.middleware.csrf import get_token
from django.shortcuts import get_object_or_404, render
from django.urls import Resolver404, resolve
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django_htmx.http import HttpResponseClientRedirect

from leaderboard.common.access import SiteAudience, View, open_page_to
from leaderboard.common.responses import as_download, see_other, signed_in_user

from . import page_tasks, wake_ups
from .models.page_task import PageTask

WORKING = gettext_lazy("Working on it")
_TOKEN = re.compile(r'(name="csrfmiddlewaretoken" value=")[^"]*')


def _is_never_quick(_request: HttpRequest) -> bool:
    return False


def answered_by_worker(
    heading: Promise = WORKING,
    *,
    is_quick: Callable[[HttpRequest], bool] = _is_never_quick,
    is_of_student: bool = False,
) -> Callable[[View], View]:
    """Have the forms of a view processed by a worker of pages, except quick ones; `heading` is shown meanwhile.

    Must be below the decorator that declares the audience, which then checks the rights when the form is posted and
    again in the worker. The view itself needs no changes.
    """

    def declare(view: View) -> View:
        @wraps(view)
        def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if isinstance(request, page_tasks.StoredForm):
                return view(request, *args, **kwargs)
            if request.method == "POST" and not is_quick(request):
                return answer_later(request, is_of_student=is_of_student)
            if request.method == "GET" and (task := _answered_task(request)):
                return _answer(request, task)
            return view(request, *args, **kwargs)

        answered.heading = heading  # type: ignore[attr-defined]
        return answered

    return declare


def answer_later(request: HttpRequest, *, path: str = "", is_of_student: bool = False) -> HttpResponseBase:
    """Store the form of a request as a task for a worker, for its view or the view of `path`."""
    try:
        task = page_tasks.add_task(request, signed_in_user(request.user), path=path, is_of_student=is_of_student)
    except page_tasks.TooManyTasks as error:
        messages.warning(request, _("Wait until this is done, then send your last request again. It wasn't saved."))
        return see_other("page_task", task_id=error.first.pk)
    wake_ups.wake_workers(wake_ups.ANSWER_PAGE)
    task.refresh_from_db()
    return _answer(request, task) if task.is_over else see_other("page_task", task_id=task.pk)


def _answered_task(request: HttpRequest) -> PageTask | None:
    """The viewer's finished task in `?task=`, if it belongs to this path; else None."""
    try:
        number = UUID(request.GET.get("task", ""))
    except ValueError:
        return None
    mine = PageTask.objects.filter(user=signed_in_user(request.user), status=PageTask.Status.DONE)
    task = mine.filter(pk=number).first() if request.user.is_authenticated else None
    return task if task and task.path.partition("?")[0] == request.path else None


def _answer(request: HttpRequest, task: PageTask) -> HttpResponseBase:
    """The response of the view, with its messages and a new CSRF token; for failed tasks a redirect to their page."""
    if task.status == PageTask.Status.FAILED:
        return see_other("page_task", task_id=task.pk)
    page_tasks.add_messages(request, task)
    answer = task.answer
    if key := answer.get("file"):
        download = as_download(key, "")
        download["Content-Type"], download["Content-Disposition"] = answer["content_type"], answer["disposition"]
        return download
    if answer["location"]:
        response: HttpResponse = HttpResponseRedirect(answer["location"])
    else:
        token = get_token(request)
        text = _TOKEN.sub(lambda found: found[1] + token, answer["text"])
        response = HttpResponse(text, content_type=answer["content_type"])
        if answer["disposition"]:
            response["Content-Disposition"] = answer["disposition"]
    response.status_code = answer["status"]
    return response


@open_page_to(SiteAudience.SIGNED_IN)
def page_task(request: HttpRequest, task_id: UUID) -> HttpResponseBase:
    """The progress of one of the viewer's tasks; a redirect to the response once it is done."""
    task = get_object_or_404(PageTask, pk=task_id, user=signed_in_user(request.user))
    is_htmx = getattr(request, "htmx", False)
    if task.is_over and is_htmx:
        return HttpResponseClientRedirect(request.path)
    answer_path = f"{task.path.partition('?')[0]}?{urlencode({'task': task.pk})}"
    if task.status == PageTask.Status.DONE and not task.answer.get("file"):
        return _answer(request, task) if task.answer["location"] else HttpResponseRedirect(answer_path)
    context = {
        "task": task,
        "heading": _heading_of(task),
        "failure": page_tasks.failure_text(task),
        "back": task.path,
        "download": answer_path if task.is_over else "",
        "is_after_another": _is_after_another(task),
    }
    template = "competitions/page_task_progress.html" if is_htmx else "competitions/page_task.html"
    return render(request, template, context)


def _heading_of(task: PageTask) -> Promise:
    try:
        heading: Promise = getattr(resolve(task.path.partition("?")[0]).func, "heading", WORKING)
    except Resolver404:
        return WORKING
    return heading


def _is_after_another(task: PageTask) -> bool:
    """Whether a task waits until another one of the same person is done."""
    is_waiting = task.status == PageTask.Status.WAITING
    others = PageTask.objects.filter(user=task.user_id, status=PageTask.Status.RUNNING)
    return is_waiting and others.exists()
