"""The scene of the attacks."""

from __future__ import annotations

import pytest

from leaderboard.accounts.models import User

from .scene import Scene, make_scene


@pytest.fixture
def scene(ada: User, bo: User, cy: User, dee: User) -> Scene:
    return make_scene(ada, bo, cy, dee)
