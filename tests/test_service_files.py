"""Olga's server starts the site by itself and reaches it by TLS: every line of the files that say so."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from leaderboard.management import services, supervisor

ROOT = Path(__file__).resolve().parent.parent
SECRET = 'a "quoted" $HOME `x` \\ password'


@pytest.fixture
def folder(tmp_path: Path, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the command writes for a site of its own."""
    settings.SITE_URL, settings.VAR_DIR = "https://leaderboard.example.org/", Path("/srv/leaderboard/var")
    settings.BASE_DIR = Path("/srv/leaderboard")
    settings.SCORING_MEMORY_MB, settings.MAX_UPLOAD_BYTES = 3072, 104857600
    for name in services.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EMAIL_URL", SECRET)
    monkeypatch.setenv("ADMIN_PASSWORD", "never written")
    call_command("service_files", str(tmp_path / "new"), user="olga", port=8123, workers=2, stdout=StringIO())
    return tmp_path / "new"


def unit(folder: Path) -> dict[str, dict[str, str]]:
    """The unit by section and key; a key that occurs twice is a mistake."""
    sections: dict[str, dict[str, str]] = {}
    for line in (folder / "leaderboard.service").read_text().splitlines():
        if found := re.fullmatch(r"\[(\w+)\]", line):
            current = sections.setdefault(found.group(1), {})
        elif line and not line.startswith("#"):
            key, _, value = line.partition("=")
            assert key not in current, key
            current[key] = value
    return sections


UNIT = {
    "Type": "exec",
    "User": "olga",
    "WorkingDirectory": "/srv/leaderboard",
    "EnvironmentFile": "/etc/leaderboard/leaderboard.env",
    "ExecStart": f"{sys.executable} /srv/leaderboard/manage.py up "
    "--no-browser --host 127.0.0.1 --port 8123 --workers 2",
    "Restart": "always",
    "RestartSec": "5",
    "SyslogIdentifier": "leaderboard",
    "UMask": "0077",
    "KillMode": "mixed",
    "KillSignal": "SIGTERM",
    "TimeoutStopSec": "15",
    "MemoryMax": "7680M",
    "OOMPolicy": "continue",
    "TasksMax": "4096",
    "LimitNOFILE": "16384",
    "ProtectSystem": "strict",
    "ReadWritePaths": "/srv/leaderboard/var",
    "ProtectHome": "read-only",
    "NoNewPrivileges": "yes",
    "CapabilityBoundingSet": "",
    "AmbientCapabilities": "",
    "RestrictAddressFamilies": "AF_UNIX AF_INET AF_INET6 AF_NETLINK",
    "RemoveIPC": "yes",
    "SystemCallArchitectures": "native",
    "SystemCallFilter": "@system-service landlock_create_ruleset landlock_add_rule landlock_restrict_self seccomp",
    "SystemCallErrorNumber": "EPERM",
    **dict.fromkeys(
        [
            "PrivateTmp",
            "PrivateDevices",
            "RestrictSUIDSGID",
            "RestrictNamespaces",
            "RestrictRealtime",
            "LockPersonality",
            "ProtectClock",
            "ProtectControlGroups",
            "ProtectHostname",
            "ProtectKernelLogs",
            "ProtectKernelModules",
            "ProtectKernelTunables",
        ],
        "yes",
    ),
    "ProtectProc": "invisible",
}


def test_every_key_of_the_unit_is_meant(folder: Path) -> None:
    found = unit(folder)
    assert found["Service"] == UNIT
    assert found["Unit"]["StartLimitIntervalSec"] == "0"
    assert found["Install"] == {"WantedBy": "multi-user.target"}


def test_systemd_waits_longer_than_the_site_takes_to_stop() -> None:
    assert int(UNIT["TimeoutStopSec"]) > supervisor.TIME_TO_FINISH + supervisor.TIME_TO_SAVE


def test_the_options_of_the_unit_are_those_of_up() -> None:
    parser = __import__("argparse").ArgumentParser()
    supervisor.add_arguments(parser)
    given = parser.parse_args(UNIT["ExecStart"].split("manage.py up ")[1].split())
    assert (given.host, given.port, given.workers, given.no_browser) == ("127.0.0.1", 8123, 2, True)


def test_systemd_itself_finds_nothing_wrong(folder: Path, tmp_path: Path) -> None:
    """Where it is installed; with programs and folders that exist here."""
    if not shutil.which("systemd-analyze"):
        return
    text = (folder / "leaderboard.service").read_text().replace("/srv/leaderboard", str(ROOT)).replace("olga", "root")
    path = tmp_path / "leaderboard.service"
    path.write_text(text)
    run = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(path)], capture_output=True, text=True, check=False
    )
    said = [line for line in run.stderr.splitlines() if "leaderboard.service" in line]
    assert said == []


def test_the_environment_is_what_was_set_and_a_shell_reads_it_back(folder: Path) -> None:
    path = folder / "leaderboard.env"
    assert path.stat().st_mode & 0o777 == 0o600
    run = subprocess.run(
        ["sh", "-c", 'set -a; . "$0"; env', str(path)], capture_output=True, text=True, check=True, env={"PATH": "/bin"}
    )
    told = dict(line.split("=", 1) for line in run.stdout.splitlines() if "=" in line)
    assert told["SITE_URL"] == "https://leaderboard.example.org/"
    assert told["VAR_DIR"] == "/srv/leaderboard/var"
    assert told["TRUSTED_PROXIES"] == "1"
    assert told["EMAIL_URL"] == SECRET
    assert "never written" not in path.read_text()


def test_no_variable_of_the_site_is_forgotten() -> None:
    """Whatever the code asks the environment for is carried over, or named here with a reason not to."""
    asked = re.compile(r'(?:env\.(?:str|int|bool|list|db|email_url)\(|environ(?:\.get\(|\[))"([A-Z_]+)"')
    files = [*(ROOT / "leaderboard").rglob("*.py"), *(ROOT / "metrics").rglob("*.py"), ROOT / "manage.py"]
    at_home = ROOT / "leaderboard" / "cli"  # what students download asks their own machines
    files = [path for path in files if at_home not in path.parents]
    names = {name for path in files for name in asked.findall(path.read_text())}
    always = {"SITE_URL", "VAR_DIR", "TRUSTED_PROXIES"}
    once = {"ADMIN_USERNAME", "ADMIN_PASSWORD", "ADMIN_EMAIL"}
    of_a_request = {"REMOTE_ADDR", "CONTENT_LENGTH", "HTTP_X_FORWARDED_FOR", "HTTP_COOKIE", "HTTP_AUTHORIZATION"}
    of_the_system = {"DISPLAY", "WAYLAND_DISPLAY", "LD_LIBRARY_PATH", "DJANGO_SETTINGS_MODULE", "PATH", "HOME"}
    from_up = {"SQLITE_STATEMENTS"}
    rest = names - set(services.VARIABLES) - always - once - of_a_request - of_the_system - from_up
    assert rest == {"DEBUG"}


def test_a_command_is_run_as_the_sites_user_with_the_sites_variables(folder: Path, tmp_path: Path) -> None:
    """With a `runuser` that tells what it was given."""
    text = (folder / "leaderboard.sh").read_text()
    assert "/etc/leaderboard/leaderboard.env" in text
    stage = text.replace("/etc/leaderboard", str(folder)).replace("cd /srv/leaderboard", f"cd {tmp_path}")
    (tmp_path / "leaderboard").write_text(stage)
    (tmp_path / "runuser").write_text('#!/bin/sh\necho "$PWD" "$@"\necho "$SITE_URL" "$EMAIL_URL"\numask\n')
    (tmp_path / "runuser").chmod(0o755)
    command = ["sh", str(tmp_path / "leaderboard"), "backup", "/backup/a b"]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env={"PATH": f"{tmp_path}:/bin"})
    assert run.stdout.splitlines() == [
        f"{tmp_path} -u olga -- {sys.executable} manage.py backup /backup/a b",
        f"https://leaderboard.example.org/ {SECRET}",
        "0077",
    ]


# --- Caddy ------------------------------------------------------------------------------------------------------


def lines_of(folder: Path) -> list[str]:
    text = (folder / "Caddyfile").read_text()
    return [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]


def test_every_line_of_the_caddyfile_is_meant(folder: Path) -> None:
    assert lines_of(folder) == [
        "{", "servers {", "timeouts {", "read_header 10s", "read_body 15m", "write 30m", "idle 2m", "}", "}", "}",
        "leaderboard.example.org {",
        "request_body {", "max_size 105906176", "}",
        "@numbers path /prometheus", "respond @numbers 404",
        "@static path /static/*", "encode @static zstd gzip",
        "header -Server",
        "reverse_proxy 127.0.0.1:8123 {",
        "lb_try_duration 20s", "lb_try_interval 250ms",
        "transport http {", "dial_timeout 5s", "keepalive 5s", "response_header_timeout 3m", "}", "}",
        "handle_errors {",
        "@away expression {err.status_code} in [502, 503, 504]",
        "header @away Retry-After 30",
        'respond @away "The site is being restarted. What was handed in is kept. Try again in half a minute." 503',
        'respond "{err.status_code} {err.status_text}" {err.status_code}',
        "}", "}",
    ]  # fmt: skip


def test_caddy_itself_finds_nothing_wrong(folder: Path) -> None:
    """Where it is installed; our own look above always runs."""
    caddy = shutil.which("caddy")
    if not caddy:
        return
    command = [caddy, "validate", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    run = subprocess.run(
        command, capture_output=True, text=True, check=False, env={"HOME": str(folder), "PATH": "/bin"}
    )
    assert run.returncode == 0, run.stderr


def test_a_form_with_the_largest_file_passes_the_proxy(folder: Path, settings: LazySettings) -> None:
    (size,) = [int(line.split()[1]) for line in lines_of(folder) if line.startswith("max_size")]
    assert settings.MAX_UPLOAD_BYTES < size < settings.MAX_UPLOAD_BYTES * 1.1


# --- refusals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["", "http://leaderboard.example.org", "https://"])
def test_without_an_address_for_tls_nothing_is_written(settings: LazySettings, tmp_path: Path, address: str) -> None:
    settings.SITE_URL = address
    with pytest.raises(CommandError, match="Set SITE_URL"):
        call_command("service_files", str(tmp_path / "new"), user="olga")
    assert not (tmp_path / "new").exists()


def test_root_is_asked_who_shall_run_it(
    settings: LazySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SITE_URL = "https://leaderboard.example.org"
    monkeypatch.setattr(os, "getuid", lambda: 0)
    with pytest.raises(CommandError, match="--user leaderboard"):
        call_command("service_files", str(tmp_path / "new"))


def test_a_proxy_elsewhere_can_be_let_in(settings: LazySettings, tmp_path: Path) -> None:
    settings.SITE_URL = "https://leaderboard.example.org"
    call_command("service_files", str(tmp_path), user="olga", host="0.0.0.0", stdout=StringIO())
    assert "up --no-browser --host 0.0.0.0 --port 8000 --workers 1" in (tmp_path / "leaderboard.service").read_text()


def test_a_folder_with_a_blank_is_refused_in_words(settings: LazySettings, tmp_path: Path) -> None:
    settings.SITE_URL, settings.VAR_DIR = "https://leaderboard.example.org", Path("/srv/my site/var")
    with pytest.raises(CommandError, match="/srv/my site/var has a blank"):
        call_command("service_files", str(tmp_path / "new"), user="olga")


def test_a_value_with_two_lines_is_refused(
    settings: LazySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SITE_URL = "https://leaderboard.example.org"
    monkeypatch.setenv("EMAIL_URL", "smtp://a\nUser=root")
    with pytest.raises(CommandError, match="several lines"):
        call_command("service_files", str(tmp_path / "new"), user="olga")
