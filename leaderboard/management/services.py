"""What a server needs to start the site by itself and to reach it by TLS, written from the settings of this site."""

from __future__ import annotations

import os
import pwd
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from string import Template
from urllib.parse import urlsplit

from django.conf import settings

TEMPLATES = Path(__file__).resolve().parent / "services"
NAMES = ("leaderboard.service", "leaderboard.env", "leaderboard.sh", "Caddyfile")
# Memory in MB beside what scoring takes: web server, workers' own, broker, beat, and the disk's cache.
BESIDES = 1536
FORM_AROUND_A_FILE = 1_048_576
# Taken over from the environment in which the files are written, so that a site that runs goes on as it is.
VARIABLES = (
    "DATABASE_URL", "REDIS_URL", "STORAGE_URL", "EMAIL_URL", "DEFAULT_FROM_EMAIL", "ALLOWED_HOSTS", "SECRET_KEY",
    "MAX_UPLOAD_BYTES", "TEAM_BYTES", "SCORING_TIME_LIMIT", "SCORING_MEMORY_MB", "METRICS_DIR", "METRICS_CACHE",
    "METRICS_MEMORY_MB", "METRICS_SECONDS", "TRUST_METRICS", "CACHE_BYTES",
    "OPEN_SIGN_UP", "SECOND_FACTOR_FOR", "LOG_FORMAT", "LOG_LEVEL", "PROMETHEUS_TOKEN",
    "WEBHOOK_HOSTS", "REQUESTS_CA_BUNDLE",
)  # fmt: skip


class CannotWrite(Exception):
    """Why no files were written, in words for the operator."""


def write(folder: Path, *, user: str = "", host: str = "127.0.0.1", port: int = 8000, workers: int = 1) -> list[Path]:
    """Write the files; the one with secrets can be read by its owner alone."""
    facts = _facts(user or _own_name(), host, port, workers)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name in NAMES:
        text = Template((TEMPLATES / name).read_text()).substitute(facts)
        if name.endswith(".env"):
            text += environment(os.environ)
        path = folder / name
        path.unlink(missing_ok=True)
        path.touch(mode=0o600 if name.endswith(".env") else 0o644)
        path.write_text(text)
        written.append(path)
    return written


def environment(current: Mapping[str, str]) -> str:
    """What the service is told: the site's address, its folder, that one proxy stands before it, and what was set."""
    told = {"SITE_URL": settings.SITE_URL, "VAR_DIR": str(settings.VAR_DIR.absolute()), "TRUSTED_PROXIES": "1"}
    told |= {name: current[name] for name in VARIABLES if current.get(name)}
    return "".join(f"{name}={_quoted(value)}\n" for name, value in told.items())


def _facts(user: str, host: str, port: int, workers: int) -> dict[str, object]:
    address = urlsplit(settings.SITE_URL)
    if address.scheme != "https" or not address.hostname:
        raise CannotWrite(
            "Set SITE_URL to the address that students type, for example https://leaderboard.example.org."
        )
    paths = {"base": settings.BASE_DIR, "var": settings.VAR_DIR.absolute(), "python": Path(sys.executable)}
    for path in paths.values():
        if not re.fullmatch(r"[\w./+@-]+", str(path)):
            raise CannotWrite(f"{path} has a blank or another character that service files cannot hold. Move it.")
    return {
        **paths,
        "user": user,
        "host": host,
        "port": port,
        "workers": workers,
        "site_url": settings.SITE_URL.rstrip("/"),
        "address": address.netloc,
        "memory": f"{workers * settings.SCORING_MEMORY_MB + BESIDES}M",
        "max_body": settings.MAX_UPLOAD_BYTES + FORM_AROUND_A_FILE,
    }


def _own_name() -> str:
    """Who writes them is who will run the site, but for root."""
    if os.getuid() == 0:
        raise CannotWrite("The site should not run as root. Name the user who shall run it: --user leaderboard")
    return pwd.getpwuid(os.getuid()).pw_name


def _quoted(value: str) -> str:
    """As systemd reads it: between double quotes, where a backslash, a quote, a dollar and a back-tick are marked."""
    if "\n" in value:
        raise CannotWrite("A variable with several lines cannot be written into an environment file.")
    return '"' + re.sub(r'(["\\$`])', r"\\\1", value) + '"'
