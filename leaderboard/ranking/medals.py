"""Medal zones: which ranks end with gold, silver or bronze. Shares as Kaggle's, because students know them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from math import ceil


class Medal(IntEnum):
    GOLD = 1
    SILVER = 2
    BRONZE = 3


@dataclass(frozen=True)
class MedalZones:
    """The last rank of each medal; a zone may be empty on a small board."""

    gold: int
    silver: int
    bronze: int

    @classmethod
    def of(cls, teams: int) -> MedalZones:
        """Up to 99 teams: the first 10, 20 and 40 of a hundred. The more teams, the smaller the shares."""
        if teams < 100:
            return cls(ceil(teams / 10), ceil(teams / 5), ceil(teams * 2 / 5))
        if teams < 250:
            return cls(10, ceil(teams / 5), ceil(teams * 2 / 5))
        gold = 10 + teams // 500
        return cls(gold, 50, 100) if teams < 1000 else cls(gold, ceil(teams / 20), ceil(teams / 10))

    def medal_of(self, rank: int | None) -> Medal | None:
        if rank is None or rank > self.bronze:
            return None
        return Medal.GOLD if rank <= self.gold else Medal.SILVER if rank <= self.silver else Medal.BRONZE
