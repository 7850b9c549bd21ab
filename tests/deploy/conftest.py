"""The image, built once for all tests that run it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.deploy.containers import Engine, build, engine
from tests.servers import Lacking


@pytest.fixture(scope="session")
def podman() -> Iterator[Engine]:
    """An engine that has the image."""
    try:
        making = engine()
        made = making.__enter__()
    except Lacking as reason:
        pytest.skip(str(reason))
    try:
        build(made)
        yield made
    finally:
        making.__exit__(None, None, None)
