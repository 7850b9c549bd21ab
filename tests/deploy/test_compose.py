"""deploy/compose.yml: every part runs without rights, and its proxy passes what the site takes."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import LazySettings

from leaderboard.operations.supervisor import up as up_module

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
CADDYFILE = (DEPLOY / "Caddyfile").read_text()
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load((DEPLOY / "compose.yml").read_text())["services"]
OURS = [name for name, service in SERVICES.items() if "leaderboard" in service["image"]]


def test_the_site_is_all_there() -> None:
    assert set(OURS) == {"web", "worker", "migrate"}
    assert set(SERVICES) - set(OURS) == {"proxy", "database", "broker"}
    assert SERVICES["web"]["deploy"]["replicas"] == SERVICES["worker"]["deploy"]["replicas"] == 2


@pytest.mark.parametrize("name", SERVICES)
def test_no_part_has_rights(name: str) -> None:
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"], "and no other seccomp profile"
    assert not {"privileged", "pid", "network_mode", "ipc", "devices"} & set(service)
    assert ".sock" not in str(service), "no socket of a container engine"
    if name in OURS:
        assert service["read_only"]
        assert not {"cap_add", "user"} & set(service)


def test_only_the_proxy_is_reached_from_outside() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"]


@pytest.mark.parametrize("name", ["web", "worker"])
def test_each_part_starts_with_options_that_it_has_after_the_migrations(name: str) -> None:
    up, *words = SERVICES[name]["command"]
    options = argparse.ArgumentParser()
    up_module.add_arguments(options)
    given = options.parse_args(words)
    assert (up, given.only, given.no_migrate) == ("up", [name], True)
    assert SERVICES[name]["depends_on"] == {"migrate": {"condition": "service_completed_successfully"}}
    assert int(SERVICES[name]["stop_grace_period"].removesuffix("s")) > up_module.SERVICE_TIME_TO_FINISH


def test_no_secret_has_a_default() -> None:
    text = (DEPLOY / "compose.yml").read_text()
    for variable in ("SECRET_KEY", "POSTGRES_PASSWORD", "REDIS_PASSWORD", "SITE_HOST"):
        assert set(re.findall(rf"\$\{{{variable}(.*?)\}}", text)) == {":?"}, "an empty one is refused"


def test_a_form_with_the_largest_file_passes_the_proxy(settings: LazySettings) -> None:
    (size,) = re.findall(r"max_size (\d+)", CADDYFILE)
    assert settings.MAX_UPLOAD_BYTES < int(size) < settings.MAX_UPLOAD_BYTES * 1.1


def test_the_proxy_differs_from_that_of_one_server_in_its_web_servers_alone() -> None:
    def rules(text: str) -> set[str]:
        return {line.strip() for line in text.splitlines() if not line.strip().startswith("#")}

    one, several = rules((ROOT / "docs" / "examples" / "Caddyfile").read_text()), rules(CADDYFILE)
    assert one - several == {"leaderboard.example.org {", "reverse_proxy 127.0.0.1:8000 {"}
    assert {"{$SITE_HOST} {", "reverse_proxy {", "dynamic a web 8000 {"} <= several


@pytest.mark.skipif(not shutil.which("caddy"), reason="Caddy is not installed")
def test_caddy_finds_nothing_wrong_with_the_caddyfile() -> None:
    command = ["caddy", "validate", "--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile")]
    environment = {"SITE_HOST": "leaderboard.example.org", "PATH": "/usr/bin", "HOME": "/tmp"}
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 0, run.stderr


def test_the_site_starts_with_the_four_variables_that_must_be_given(tmp_path: Path) -> None:
    """A variable that is there and empty is as if it were not there."""
    given = {"SITE_HOST": "leaderboard.example.org"}
    environment = {
        name: re.sub(r"\$\{(\w+):\?\}", lambda found: given.get(found[1], "x"), text)
        for name, text in SERVICES["web"]["environment"].items()
    } | {"EMAIL_URL": "", "DEFAULT_FROM_EMAIL": ""}
    command = [sys.executable, "-c", "import leaderboard.settings as s; print(s.EMAIL_BACKEND, s.DEFAULT_FROM_EMAIL)"]
    run = subprocess.run(
        command, cwd=ROOT, env={**environment, "VAR_DIR": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["django.core.mail.backends.console.EmailBackend", "leaderboard@localhost"]
