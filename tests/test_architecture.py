"""The house stands as design says: layers, who knows what, what a web process loads."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.urls import URLPattern, URLResolver

ROOT = Path(__file__).resolve().parent.parent
SOURCES = [
    path
    for folder in ("leaderboard", "metrics")
    for path in (ROOT / folder).rglob("*.py")
    if not {"migrations", "tests"} & set(path.parts)
]


def pages() -> list[URLPattern]:
    """The addresses of all apps' pages; not those of the API, the admin and the libraries."""
    from leaderboard.urls import urlpatterns

    included = [one.url_patterns for one in urlpatterns if isinstance(one, URLResolver) and str(one.pattern) == ""]
    return [pattern for patterns in included for pattern in patterns if isinstance(pattern, URLPattern)]


def python(code: str) -> str:
    """Run code in a fresh interpreter with the site's settings."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_a_web_process_starts_without_the_heavy_libraries() -> None:
    loaded = python(
        "import os, sys; os.environ['DJANGO_SETTINGS_MODULE'] = 'leaderboard.settings'\n"
        "import leaderboard.asgi, leaderboard.urls, metrics\n"
        "[metric.parameters for metric in metrics.catalogue()]\n"
        "print(sorted({'sklearn', 'scipy', 'pandas', 'pyarrow', 'ziamath'} & set(sys.modules)))"
    )
    assert loaded == "[]"


@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        (
            r"^\s*(from|import) celery\b",
            (
                "leaderboard/celery.py",
                "leaderboard/submissions/worker.py",
                "leaderboard/operations/tasks.py",
                "leaderboard/operations/worker_processes.py",
            ),
        ),
        (r"\b(pickle|read_pickle|allow_pickle)\b", ("metrics/reading/formats.py",)),
        (r"\.raw\(|\.extra\(|RawSQL", ()),
        (
            r"^\s*(from|import) (requests|urllib\.request|httpx)\b",
            (
                "leaderboard/operations/",
                "leaderboard/accounts/institution/sessions.py",
                "leaderboard/lti/addresses.py",
            ),
        ),
    ],
)
@pytest.mark.attack("making the server fetch addresses; pickles, raw SQL")
def test_some_words_stay_in_their_rooms(words: str, allowed: tuple[str, ...]) -> None:
    strangers = [
        f"{name}: {line.strip()}"
        for path in SOURCES
        for line in path.read_text().splitlines()
        if re.search(words, line) and not (name := path.relative_to(ROOT).as_posix()).startswith(allowed)
    ]
    assert strangers == []


def test_every_template_obeys_the_content_security_policy() -> None:
    offences = [
        f"{path.relative_to(ROOT)}: {found.group()}"
        for path in (ROOT / "templates").rglob("*.html")
        for found in re.finditer(r"\sstyle=\"|\son[a-z]+=\"|hx-on|<style|<script(?![^>]*\bsrc=)", path.read_text())
    ]
    assert offences == []


def test_every_page_declares_its_audience() -> None:
    undeclared = [pattern.name for pattern in pages() if not hasattr(pattern.callback, "audience")]
    assert undeclared == []


def test_a_pages_name_is_its_views_name() -> None:
    assert [p.name for p in pages() if p.name != p.callback.__name__] == []


def test_files_stay_small_enough_to_be_one_thing() -> None:
    served_as_one = ROOT / "leaderboard/operations/command_line.py"
    sources = [path for path in SOURCES if path != served_as_one and path.name != "settings.py"]
    long = [f"{p.relative_to(ROOT)}: {n}" for p in sources if (n := len(p.read_text().splitlines())) > 500]
    assert long == []
