"""The manifests of deploy/kubernetes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

Document = dict[str, Any]

FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "kubernetes"
KUSTOMIZATION: Document = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())


def documents() -> list[Document]:
    """All that the kustomization names, as they are written."""
    return [found for name in KUSTOMIZATION["resources"] for found in yaml.safe_load_all((FOLDER / name).read_text())]


def of_kind(*kinds: str) -> Iterator[Document]:
    return (document for document in documents() if document["kind"] in kinds)


def variables() -> dict[str, str]:
    """What the parts are told beside the secret."""
    (generator,) = KUSTOMIZATION["configMapGenerator"]
    return dict(line.split("=", 1) for line in generator["literals"])
