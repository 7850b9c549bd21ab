"""With what a score was measured."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from django.db import models

import metrics


class ScoringEnvironment(models.Model):
    """With what scores were measured: the metric's file, the reader, the libraries. Few rows, each written once."""

    digest = models.CharField(max_length=64, unique=True)
    facts = models.JSONField()

    def __str__(self) -> str:
        return f"{self.facts.get('metric')} {self.facts.get('metric_version')}"

    @classmethod
    def current(
        cls, metric: str, metric_version: str, secondary: Mapping[str, str] | None = None
    ) -> ScoringEnvironment:
        """The row of a metric's file as this process has it, and of the `secondary` ones (key: version), with the
        libraries of this process."""
        facts = {"metric": metric, "metric_version": metric_version, **software_versions()}
        facts |= {f"secondary {key}": version for key, version in (secondary or {}).items()}
        digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
        known = cls.objects.only("pk").filter(digest=digest).first()
        return known or cls.objects.get_or_create(digest=digest, defaults={"facts": facts})[0]


@cache
def software_versions() -> dict[str, str]:
    """Versions of what reads and computes here. `reader` is the SHA-256 of the scorer's own files, metrics apart."""
    folder = Path(metrics.__file__).parent
    reader = hashlib.sha256()
    for path in sorted(folder.glob("*/*.py")):
        if path.parent.name != "tests":
            reader.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
    names = ("numpy", "pandas", "pyarrow", "scipy", "scikit-learn")
    python = ".".join(map(str, sys.version_info[:3]))
    return {"reader": reader.hexdigest(), "python": python, **{name: _installed_version(name) for name in names}}


def _installed_version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
