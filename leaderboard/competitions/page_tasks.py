"""Queue of posted forms that take too long for a request. The rows are the queue; messages only wake workers.

The database limits each person to one running and one waiting form. A worker claims a form with a lease, calls the view
that it was posted to, and stores the response if its claim still holds (`answer_next_task`).
"""

from __future__ import annotations

import hashlib
import json
import logging
import sys
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing, suppress
from datetime import datetime, timedelta
from typing import Any, cast
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.contrib.messages.storage.base import BaseStorage, Message
from django.core.files.uploadedfile import UploadedFile
from django.core.handlers.exception import response_for_exception
from django.db import IntegrityError, transaction
from django.db.models import F, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import resolve
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django_htmx.middleware import HtmxDetails
from structlog.contextvars import bound_contextvars

from leaderboard.accounts.backend import find_viewer
from leaderboard.accounts.models import User
from leaderboard.common.claims import Claim, called_during_lease, claim_key, claim_rows, has_no_lease
from leaderboard.common.clock import database_now, time_since_arrival
from leaderboard.common.error_pages import temporary_failure_page
from leaderboard.common.storage import path_of, remove_file, store_file
from leaderboard.common.viewer import language_of_request, viewer_zone
from leaderboard.common.web_pools import RECEIVED_AT
from leaderboard.scoring.jobs import shared_waiting_process

from .models.page_task import MAX_UNFINISHED, PageTask

log = logging.getLogger(__name__)

MAX_TRIES = 3
TIME_LIMIT_SECONDS = 600
STORED_DAYS = 3
FOLDER = "page-tasks"
MAX_WAKE_UPS = 8
TOKEN = "leaderboard.token"
"""Key in `META` for the primary key of the API token that came with a form."""
# Headers and cookies that a response depends on, for links, language, time zone and colours.
HEADERS = (
    TOKEN,
    "HTTP_HOST",
    "SERVER_NAME",
    "SERVER_PORT",
    "HTTP_ACCEPT_LANGUAGE",
    "REMOTE_ADDR",
    "HTTP_X_FORWARDED_FOR",
)
COOKIES = ("zone", "theme")

# Stored with a task in English; `failure_text` translates them for the reader.
OUR_FAULT = gettext_noop("This failed several times, through no fault of yours, and was logged. Try again later.")
TOO_LONG = gettext_noop("This took longer than ten minutes and was stopped. Try it with smaller files.")


class TooManyTasks(Exception):
    """The person has the maximum of unfinished tasks; `first` is the oldest."""

    def __init__(self, first: PageTask) -> None:
        super().__init__(first.pk)
        self.first = first


# --- adding a task ----------------------------------------------------------------------------------------------


def add_task(
    request: HttpRequest, user: User, *, path: str = "", is_empty: bool = False, is_of_student: bool = False
) -> PageTask:
    """Store a posted form as a task; returns an unfinished task with the same form if there is one.

    `path` replaces the path of the request; with `is_empty` fields and files are not stored. Raises `TooManyTasks`,
    `StorageUnreachable`.
    """
    fields = QueryDict(mutable=True) if is_empty else request.POST.copy()
    fields.pop("csrfmiddlewaretoken", None)
    given = [] if is_empty else request.FILES.lists()
    files = [_store_form_file(name, file) for name, of_field in given for file in of_field]
    path = path or request.get_full_path()
    digest = hashlib.sha256(json.dumps([path, fields.urlencode(), [_file_facts(file) for file in files]]).encode())
    form = {
        "fields": fields.urlencode(),
        "files": files,
        "scheme": request.scheme,
        "headers": {name: request.META[name] for name in HEADERS if name in request.META},
        "cookies": {name: request.COOKIES[name] for name in COOKIES if name in request.COOKIES},
    }
    task = PageTask(user=user, path=path, form=form, digest=digest.hexdigest(), is_of_student=is_of_student)
    task.created_at = database_now() - time_since_arrival(request)
    try:
        found = _insert_or_join(task)
    except BaseException:
        _remove_files(task)
        raise
    if found is not task:
        _remove_files(task)
    return found


def _insert_or_join(task: PageTask) -> PageTask:
    for _again in range(2):
        unfinished = list(_unfinished_tasks().filter(user=task.user).order_by("created_at"))
        if same := next((one for one in unfinished if one.digest == task.digest), None):
            return same
        free = {*range(1, MAX_UNFINISHED + 1)} - {one.place for one in unfinished}
        if not free:
            raise TooManyTasks(unfinished[0])
        task.place = min(free)
        with suppress(IntegrityError), transaction.atomic():  # another request may have just taken the place
            task.save(force_insert=True)
            return task
    raise TooManyTasks(_unfinished_tasks().filter(user=task.user).earliest("created_at"))


def _store_form_file(name: str, file: UploadedFile[Any]) -> dict[str, Any]:
    stored = store_file(file.chunks(), FOLDER, limit=sys.maxsize)  # the view checks the size
    return {
        "field": name,
        "name": file.name or "",
        "content_type": file.content_type or "",
        "size": stored.size,
        "sha256": stored.sha256,
        "key": stored.key,
    }


def _file_facts(file: dict[str, Any]) -> list[str]:
    return [file["field"], file["name"], file["sha256"]]


def _remove_files(task: PageTask) -> None:
    for file in task.form.get("files", ()):
        remove_file(file["key"])


def _remove_all_files(task: PageTask) -> None:
    """Remove the uploaded files, and the file of the response."""
    _remove_files(task)
    if key := task.answer.get("file"):
        remove_file(key)


def failure_text(task: PageTask) -> str:
    """Reason why a task failed, in the reader's language; "" if it did not."""
    return _(task.failure) if task.failure else ""


# --- claim and lease --------------------------------------------------------------------------------------------


def _unfinished_tasks() -> QuerySet[PageTask]:
    return PageTask.objects.filter(status__in=[PageTask.Status.WAITING, PageTask.Status.RUNNING])


def waiting_tasks() -> Sequence[PageTask]:
    """Tasks that can be claimed, in order: people in turns, so that each waits for at most one task of each other.

    Only one task of students runs at a time, so that threads stay free for hosts.
    """
    free = _unfinished_tasks().filter(has_no_lease(), tries__lt=MAX_TRIES)
    running = PageTask.objects.filter(status=PageTask.Status.RUNNING)
    free = free.exclude(Q(status=PageTask.Status.WAITING) & Q(user__in=running.values("user")))
    if running.filter(is_of_student=True).exists():
        free = free.exclude(status=PageTask.Status.WAITING, is_of_student=True)
    served = PageTask.objects.filter(user=OuterRef("user")).values("user").annotate(at=Max("started_at")).values("at")
    in_turn = free.annotate(served_at=Subquery(served)).order_by(F("served_at").asc(nulls_first=True), "created_at")
    return list(in_turn.only("tries")[:MAX_WAKE_UPS])


def claim_next_task(wake_up_id: str) -> PageTask | None:
    """Claim the next task by compare-and-set; None if there is none."""
    for task in waiting_tasks():
        with suppress(IntegrityError), transaction.atomic():  # another task of the person or of a student has started
            same = _unfinished_tasks().filter(pk=task.pk, tries=task.tries)
            if claim_rows(same, claim_key(wake_up_id), status=PageTask.Status.RUNNING, started_at=Now()):
                return PageTask.objects.get(pk=task.pk)
    return None


def _extended_lease(task: PageTask) -> AbstractContextManager[None]:
    """Extend the lease while the block runs, and fail the task when its time is over.

    The view cannot be stopped, but its response is discarded, because the claim is gone.
    """
    ends_at = time.monotonic() + TIME_LIMIT_SECONDS

    def extend() -> bool:
        if time.monotonic() > ends_at:
            _finish_task(task, answer={}, failure=TOO_LONG)
        return _claim_of(task).extend()

    return called_during_lease(extend)


def _claim_of(task: PageTask) -> Claim:
    return Claim(PageTask, task.pk, task.claim)


# --- calling the view -------------------------------------------------------------------------------------------


class NotedMessages(BaseStorage):
    """Storage for Django's messages that keeps those of the view, to be shown with its response (`add_messages`)."""

    noted: Sequence[Message] = ()

    def _get(self) -> tuple[list[Message], bool]:
        return [], True

    def _store(self, messages: Sequence[Message], response: HttpResponseBase) -> list[Message]:
        self.noted = messages
        return []


class StoredForm(HttpRequest):
    """The request that a view gets for a stored form, in a worker."""

    def __init__(self, task: PageTask, user: User) -> None:
        super().__init__()
        form = task.form
        self.task = task
        self.method = "POST"
        self.path = self.path_info = task.path.partition("?")[0]
        self.META = {"SCRIPT_NAME": "", **form["headers"], "REQUEST_METHOD": "POST"}
        self.META["QUERY_STRING"] = task.path.partition("?")[2]
        # The time of receipt is that of the posted form.
        self.META[RECEIVED_AT] = time.monotonic() - (database_now() - task.created_at).total_seconds()
        self.GET = QueryDict(self.META["QUERY_STRING"])
        self.POST = QueryDict(form["fields"])
        self.COOKIES = form["cookies"]
        self.user = self.sender = user
        self.htmx = HtmxDetails(self)
        self.LANGUAGE_CODE = language_of_request(self)
        self.resolver_match = self.match = resolve(self.path_info)
        self._messages = self.messages = NotedMessages(self)
        for file in form["files"]:
            opened = path_of(file["key"], file["sha256"]).open("rb")
            given = UploadedFile(opened, file["name"], file["content_type"], file["size"])
            self.FILES.appendlist(file["field"], given)
        # The CSRF token was checked when the form was posted.
        self._dont_enforce_csrf_checks = True

    def _get_scheme(self) -> str | None:
        scheme: str = self.task.form["scheme"]
        return scheme


def answer_next_task(wake_up_id: str) -> bool:
    """Claim a task, call its view, and store the response; False if there was no task."""
    task = claim_next_task(wake_up_id)
    if task is None:
        return False
    user = find_viewer(task.user_id)
    with bound_contextvars(page_task=str(task.pk), user=task.user_id), _extended_lease(task):
        try:
            with shared_waiting_process():
                answer = _answer_of(task, user) if user and user.is_active else {}
        except FileNotFoundError:
            log.exception("a file of a page task is gone")
            answer = {}
        if _finish_task(task, answer=answer, failure="" if answer else OUR_FAULT):
            log.info("answered a form", extra={"status": answer.get("status", 0), "tries": task.tries})
    return True


def _answer_of(task: PageTask, user: User) -> dict[str, Any]:
    request = StoredForm(task, user)
    zone = viewer_zone(request)
    with translation.override(request.LANGUAGE_CODE), timezone.override(ZoneInfo(zone) if zone else None):
        response = _call_view(request)
        request.messages.update(response)
        texts = [[one.level, str(one.message), one.extra_tags or ""] for one in request.messages.noted]
    for _field, given in request.FILES.lists():
        for file in given:
            file.close()
    return {
        "status": response.status_code,
        "location": response.get("Location", ""),
        "content_type": response.get("Content-Type", ""),
        "disposition": response.get("Content-Disposition", ""),
        "text": response.content.decode() if isinstance(response, HttpResponse) else "",
        "file": _stored_download(response) if isinstance(response, StreamingHttpResponse) else "",
        "messages": texts,
    }


def _stored_download(response: StreamingHttpResponse) -> str:
    """Store a streamed response; returns the key of the file. The nightly sweep of files removes it after a day."""
    with closing(response):
        return store_file(iter(response), FOLDER, limit=sys.maxsize, max_seconds=TIME_LIMIT_SECONDS).key


def _call_view(request: StoredForm) -> HttpResponseBase:
    """The response of the view, or the error page."""
    view, arguments, facts = request.match
    try:
        response: HttpResponseBase = view(request, *arguments, **facts)
    except Exception as error:
        response = temporary_failure_page(request, error) or response_for_exception(request, error)
    return response


def add_messages(request: HttpRequest, task: PageTask) -> None:
    """Add the messages of a task's view to this request; those that another look at the task added already, once."""
    waiting = cast(BaseStorage, messages.get_messages(request))
    known = [str(one.message) for one in waiting]
    waiting.used = False  # they are still to be shown
    for level, text, tags in task.answer.get("messages", ()):
        if text not in known:
            messages.add_message(request, level, text, tags)


# --- ends -------------------------------------------------------------------------------------------------------


def _finish_task(task: PageTask, *, answer: dict[str, Any], failure: str = "") -> bool:
    """Store the response or failure of a task, and remove its files; False if its claim is gone."""
    status = PageTask.Status.FAILED if failure else PageTask.Status.DONE
    is_finished = _claim_of(task).finish(status=status, answer=answer, failure=failure, finished_at=Now())
    if is_finished:
        _remove_files(task)
    return is_finished


def fail_spent_tasks() -> None:
    """Fail tasks that were tried too often."""
    for task in _unfinished_tasks().filter(has_no_lease(), tries__gte=MAX_TRIES)[:100]:
        log.error("a form could not be answered", extra={"page_task": str(task.pk), "tries": task.tries})
        _finish_task(task, answer={}, failure=OUR_FAULT)


def remove_old_tasks(at: datetime) -> None:
    """Delete tasks older than `STORED_DAYS` days, with their files."""
    for task in PageTask.objects.filter(created_at__lt=at - timedelta(days=STORED_DAYS)):
        task.delete()
        _remove_all_files(task)


def remove_tasks_of(user: User) -> None:
    """Delete all tasks of an account, with their files."""
    for task in PageTask.objects.filter(user=user):
        task.delete()
        _remove_all_files(task)
