"""The site that somebody writes in an afternoon: the baseline of the benches that measure a whole site.

One view stores a file and inserts a row, one Celery task scores it with pandas and scikit-learn, one page shows the
best hundred. SQLite in WAL mode, one web process, one worker process, the same Valkey. Nothing is checked, nobody
signs in, nothing is hidden, and a file that kills the task is lost. `running_plain` starts it in a folder.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

if "PLAIN_FOLDER" in os.environ:
    FOLDER = Path(os.environ["PLAIN_FOLDER"])
    from django.conf import settings

    settings.configure(
        SECRET_KEY="plain",
        ALLOWED_HOSTS=["*"],
        ROOT_URLCONF="bench.plain",
        INSTALLED_APPS=["django.contrib.contenttypes"],
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": FOLDER / "plain.sqlite3",
                "OPTIONS": {"init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;", "timeout": 20},
                "CONN_MAX_AGE": None,
            }
        },
        TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}],
        USE_TZ=True,
    )
    import django

    django.setup()

    import pandas
    from celery import Celery
    from django.core.wsgi import get_wsgi_application
    from django.db import connection, models
    from django.http import HttpRequest, HttpResponse, JsonResponse
    from django.template import Context, Template
    from django.urls import path
    from sklearn.metrics import accuracy_score

    class Submission(models.Model):
        competition = models.CharField(max_length=100)
        team = models.CharField(max_length=100, db_index=True)
        file = models.CharField(max_length=200)
        received_at = models.DateTimeField(auto_now_add=True)
        public = models.FloatField(null=True, db_index=True)
        private = models.FloatField(null=True)
        objects: ClassVar[models.Manager[Any]] = models.Manager()

        class Meta:
            app_label = "contenttypes"

    def make_table() -> None:
        with connection.schema_editor() as editor:
            editor.create_model(Submission)

    app = Celery("plain", broker=f"redis+socket://{FOLDER / 'valkey.sock'}")
    app.conf.task_ignore_result = True

    @app.task
    def score(submission_id: int) -> None:
        submission = Submission.objects.get(pk=submission_id)
        truth = pandas.read_csv(FOLDER / f"{submission.competition}.csv")
        both = truth.merge(pandas.read_csv(submission.file), on="id", suffixes=("_true", "_pred"))
        for field, usage in (("public", "Public"), ("private", "Private")):
            part = both[both["Usage"] == usage]
            setattr(submission, field, accuracy_score(part["label_true"], part["label_pred"]))
        submission.save()

    def upload(request: HttpRequest) -> HttpResponse:
        target = FOLDER / "files" / f"{uuid.uuid4()}.csv"
        with target.open("wb") as file:
            uploaded: Any = request.FILES["file"]
            for chunk in uploaded.chunks():
                file.write(chunk)
        posted = {name: request.POST[name] for name in ("competition", "team")}
        submission = Submission.objects.create(file=str(target), **posted)
        score.delay(submission.pk)
        return JsonResponse({"id": submission.pk}, status=201)

    def result(request: HttpRequest, submission_id: int) -> HttpResponse:
        submission = Submission.objects.get(pk=submission_id)
        return JsonResponse(
            {"status": "pending" if submission.public is None else "scored", "score": submission.public}
        )

    BOARD = Template(
        "<!doctype html><title>Leaderboard</title><table>{% for row in rows %}<tr><td>{{ forloop.counter }}<td>"
        "{{ row.team }}<td>{{ row.best }}<td>{{ row.files }}<td>{{ row.last }}{% endfor %}</table>"
    )

    def board(request: HttpRequest) -> HttpResponse:
        scored = Submission.objects.filter(competition=request.GET["competition"], public__isnull=False)
        teams: Any = scored.values("team").order_by()
        best = {"best": models.Max("public"), "files": models.Count("pk"), "last": models.Max("received_at")}
        return HttpResponse(BOARD.render(Context({"rows": teams.annotate(**best).order_by("-best")[:100]})))

    urlpatterns = [path("upload/", upload), path("submissions/<int:submission_id>/", result), path("", board)]
    application = get_wsgi_application()


@contextmanager
def running_plain(folder: Path, truths: dict[str, str], *, workers: int = 1) -> Iterator[tuple[str, list[int]]]:
    """Start it with the truth of each competition (`id,label,Usage`); gives its address and its processes."""
    from leaderboard.operations.supervisor.processes import valkey_server
    from tests.running_site import free_port, until

    (folder / "files").mkdir(parents=True)
    for competition, truth in truths.items():
        (folder / f"{competition}.csv").write_text(truth)
    port, environment = free_port(), {**os.environ, "PLAIN_FOLDER": str(folder)}
    environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    python = [sys.executable, "-m"]
    subprocess.run([sys.executable, "-c", "from bench import plain; plain.make_table()"], env=environment, check=True)
    broker = [str(valkey_server()), "--port", "0", "--unixsocket", str(folder / "valkey.sock"), "--save", ""]
    worker = [*python, "celery", "-A", "bench.plain:app", "--quiet", "worker", "--concurrency", str(workers)]
    web = [*python, "granian", "--interface", "wsgi", "--port", str(port), "--blocking-threads", "32"]
    with (folder / "log").open("wb") as log:
        commands = (
            broker,
            [*worker, "--loglevel", "WARNING"],
            [*web, "--log-level", "warning", "bench.plain:application"],
        )
        started = [
            subprocess.Popen(one, env=environment, stdout=log, stderr=log, start_new_session=True) for one in commands
        ]
    try:
        until(lambda: _answers(port), what="the plain site")
        yield f"http://127.0.0.1:{port}", [one.pid for one in started]
    finally:
        for one in reversed(started):
            os.killpg(one.pid, signal.SIGKILL)
            one.wait()


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False
