"""The variables of an institution, and what is refused at the start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from leaderboard.common.institutions import BadInstitution, institutions_in

ROOT = Path(__file__).resolve().parent.parent.parent
NEEDED = {
    "OIDC_ISSUER": "https://login.uni.example/realms/x/",
    "OIDC_CLIENT_ID": "board",
    "OIDC_CLIENT_SECRET": "secret-canary",
    "OIDC_DOMAINS": "uni.example, @Students.Uni.example",
}


def test_without_an_issuer_there_is_no_institution() -> None:
    assert institutions_in({}) == ()
    assert institutions_in({"OIDC_ISSUER": " "}) == ()


def test_what_is_needed_is_enough() -> None:
    (one,) = institutions_in(NEEDED)
    assert (one.issuer, one.host_claim) == ("https://login.uni.example/realms/x", None)
    assert one.admits("Bo@STUDENTS.uni.example")
    assert not one.admits("bo@sub.uni.example")
    assert not one.admits("bo@uni.example@evil.example")
    assert "secret-canary" not in repr(one)


@pytest.mark.parametrize(
    "changed",
    [
        {"OIDC_CLIENT_ID": ""},
        {"OIDC_CLIENT_SECRET": ""},
        {"OIDC_DOMAINS": ""},
        {"OIDC_ISSUER": "http://login.uni.example"},
        {"OIDC_ISSUER": "login.uni.example"},
        {"OIDC_ISSUER": "https://login.uni.example?x=1"},
        {"OIDC_ISSUER": "https://user@login.uni.example"},
        {"OIDC_ISSUER": "https://login.uni.example/" + "x" * 200},
        {"OIDC_HOSTS": "staff"},
        {"OIDC_HOSTS": "=staff"},
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused_without_quoting_a_secret(changed: dict[str, str]) -> None:
    with pytest.raises(BadInstitution) as refused:
        institutions_in({**NEEDED, **changed})
    assert "canary" not in str(refused.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variables", "is_good"), [({"LOCAL_PASSWORDS": "0"}, False), ({"LOCAL_PASSWORDS": "0", **NEEDED}, True)]
)
def test_passwords_are_switched_off_only_where_there_is_another_way_in(
    tmp_path: Path, variables: dict[str, str], is_good: bool
) -> None:
    environment = {**os.environ, "VAR_DIR": str(tmp_path), **variables}
    run = subprocess.run(
        [sys.executable, "manage.py", "check"], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert (run.returncode == 0) is is_good, run.stderr
    assert is_good or "OIDC_ISSUER" in run.stderr
