"""What an IT department asks of the libraries: each has a licence that is known, and docs/third-party.md lists it."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LOCK = (ROOT / "requirements-kaggle.txt").read_text()
PAGE = (ROOT / "docs" / "third-party.md").read_text()
# What an author wrote → the licence's short name.
OTHER_NAMES = {
    "Apache License 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "New BSD": "BSD-3-Clause",
}
# Each lets a site use, change and pass on the package; docs/third-party.md says what those with conditions ask for.
ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "BSD",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "LGPL-3.0-only",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "OFL-1.1",
    "PSF-2.0",
    "Zlib",
}


def runtime_packages() -> list[str]:
    """Everything that the site needs, custom metric files included; not what other systems than this one need."""
    return sorted({name for name in re.findall(r"^([\w.-]+)==", LOCK, flags=re.M) if is_installed(name)})


def is_installed(name: str) -> bool:
    try:
        metadata(name)
    except PackageNotFoundError:
        return False
    return True


def licences_of(name: str) -> set[str]:
    """By the short names that the package gives, by the field of older packages, or else by its classifiers."""
    facts = metadata(name).json
    if expression := str(facts.get("license_expression", "")):
        return set(re.findall(r"[\w.-]+", expression)) - {"AND", "OR", "WITH"}
    written = str(facts.get("license", ""))
    if (short := OTHER_NAMES.get(written, written)) in ALLOWED:
        return {short}
    classifiers = [text.split(" :: ")[-1] for text in facts.get("classifier", ()) if text.startswith("License")]
    return {OTHER_NAMES.get(text, text) for text in classifiers}


@pytest.mark.parametrize("name", runtime_packages())
def test_its_licence_is_known_and_allowed(name: str) -> None:
    licences = licences_of(name)
    assert licences, f"{name} names no licence"
    assert licences <= ALLOWED, f"{name} has a licence that nobody has looked at"


def test_the_page_lists_each_package_under_its_licences() -> None:
    listed = {
        package: frozenset(row.split(", "))
        for row, packages in re.findall(r"^\| ([^|`]+) \| (`[^|]+) \|$", PAGE, flags=re.M)
        for package in re.findall(r"`([\w.-]+)`", packages)
    }
    assert listed == {name: frozenset(licences_of(name)) for name in runtime_packages()}
