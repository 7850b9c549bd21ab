"""The settings of a real installation: what Django's own check says, and what cookies and redirects do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).resolve().parent.parent.parent


def python(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A process of a site behind TLS."""
    stored = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environment = {
        **stored, "VAR_DIR": str(folder), "SITE_URL": "https://leaderboard.example.org",
        "DJANGO_SETTINGS_MODULE": "leaderboard.settings", **variables,
    }  # fmt: skip
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.attack("settings of an installation")
def test_djangos_check_of_a_deployment_finds_nothing(tmp_path: Path) -> None:
    run = python(tmp_path, "-m", "django", "check", "--deploy", "--fail-level", "WARNING")
    assert run.returncode == 0, run.stderr
    assert "no issues" in run.stdout + run.stderr


def test_behind_tls_cookies_belong_to_this_host_and_plain_requests_are_led_to_the_sites_address(tmp_path: Path) -> None:
    code = (
        "import django; django.setup()\n"
        "from django.test import Client\n"
        "from django.core.management import call_command; call_command('migrate', verbosity=0)\n"
        "plain = Client().get('/metrics/', headers={'host': 'localhost'})\n"
        "print(plain.status_code, plain['Location'])\n"
        "print(Client().get('/healthz', headers={'host': 'localhost'}).status_code)\n"
        "page = Client().get('/accounts/login/', secure=True, headers={'host': 'leaderboard.example.org'})\n"
        "print(page.status_code, page['Strict-Transport-Security'], page['Cross-Origin-Opener-Policy'])\n"
        "for name, cookie in page.cookies.items():\n"
        "    print(name, *(repr(cookie[part]) for part in ('secure', 'path', 'domain', 'samesite', 'httponly')))\n"
        "from django.conf import settings as s\n"
        "print(s.SESSION_COOKIE_NAME, s.SESSION_COOKIE_SECURE, s.SESSION_COOKIE_HTTPONLY, s.MFA_SUPPORTED_TYPES)\n"
    )
    run = python(tmp_path, "-c", code)
    assert run.stdout.splitlines() == [
        "301 https://leaderboard.example.org/metrics/",
        "200",
        "200 max-age=31536000 same-origin",
        "__Host-csrftoken True '/' '' 'Lax' True",
        "__Host-sessionid True True ['totp', 'recovery_codes', 'webauthn']",
    ], run.stderr


@pytest.mark.parametrize(
    ("name", "word"), [("SECOND_FACTOR_FOR", "host"), ("LOG_FORMAT", "xml"), ("PROMETHEUS_TOKEN", "short")]
)
def test_a_wrong_word_stops_the_site(tmp_path: Path, name: str, word: str) -> None:
    run = python(tmp_path, "-m", "django", "check", **{name: word})
    assert run.returncode != 0
    assert name in run.stderr
