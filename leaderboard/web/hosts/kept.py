"""What pages of hosts are made of, kept until the board changes."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

from ... import hosting
from ...models import Competition
from ..board_cache import shelf

T = TypeVar("T")


def kept(competition: Competition) -> hosting.Keep:
    """For the state that the competition's row was read in; also who picks finals makes a new one."""
    state = (competition.pk, competition.ground_truth_id, competition.board_version)

    def keep(key: tuple[Hashable, ...], make: Callable[[], T], /) -> T:
        return shelf.get((*state, *key), make)

    return keep
