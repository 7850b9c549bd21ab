"""Names of teams that cannot be told apart are one name."""

from __future__ import annotations

import pytest

from leaderboard.accounts.models import User
from leaderboard.classroom import teams
from leaderboard.common.names import clean_text, lookalike_key
from leaderboard.competitions.models import Competition
from tests.conftest import enter


@pytest.mark.parametrize(
    "name",
    ["Red Pandas", "RED PANDAS", " Red  Pandas ", "Ｒed Pandas", "Red\u00a0Pandas", "Red P\u200bandas", "Rеd Pandas",
     "Red Раndas", "\u202eRed Pandas", "Red Pand\u00adas"],
)  # fmt: skip
@pytest.mark.attack("taking a name or address that looks like another's")
def test_no_team_takes_a_name_that_looks_like_anothers(pets: Competition, bo: User, cy: User, name: str) -> None:
    teams.rename_team(membership=enter(pets, bo), name="Red Pandas")
    with pytest.raises(teams.CannotJoin, match="looks like another team"):
        teams.rename_team(membership=enter(pets, cy), name=name)


@pytest.mark.parametrize("name", ["Red Panda", "Réd Pandas", "Красные панды", "赤パンダ", "Red Pandas 2"])
def test_other_names_in_any_script_are_free(pets: Competition, bo: User, cy: User, name: str) -> None:
    teams.rename_team(membership=enter(pets, bo), name="Red Pandas")
    teams.rename_team(membership=enter(pets, cy), name=name)


@pytest.mark.parametrize(
    "name", ["Bᴏb Cay", "Bဝb Cay", "B೦b Cay", "Bob Cⲁy", "Bob Cᴀy", "Bob C⍺y", "Bob ᴄay", "Bob Caʏ"]
)
@pytest.mark.attack("taking a name or address that looks like another's")
def test_no_letter_of_any_script_makes_a_look_alike_another_name(
    pets: Competition, bo: User, cy: User, name: str
) -> None:
    teams.rename_team(membership=enter(pets, bo), name="Bob Cay")
    with pytest.raises(teams.CannotJoin, match="looks like another team"):
        teams.rename_team(membership=enter(pets, cy), name=name)


def test_a_team_may_write_its_own_name_another_way(pets: Competition, bo: User) -> None:
    membership = enter(pets, bo)
    teams.rename_team(membership=membership, name="Red Pandas")
    teams.rename_team(membership=membership, name="RED PANDAS")


def test_a_newcomer_whose_name_looks_taken_gets_a_number(pets: Competition, bo: User, cy: User) -> None:
    teams.rename_team(membership=enter(pets, bo), name="су")
    assert enter(pets, cy).team.name == "cy 2"


def test_letters_that_look_alike_have_one_skeleton() -> None:
    for one, other in (
        ("Ada", "Аdа"),
        ("Bill", "BiIl"),
        ("l0l", "lol"),
        ("ad\u00e9le", "ade\u0301le"),
        ("Modern", "rnodern"),
    ):
        assert lookalike_key(one) == lookalike_key(other)
    for one, other in (("ali", "ail"), ("Bo", "Boo"), ("rene", "rené"), ("x1", "x2")):
        assert lookalike_key(one) != lookalike_key(other)
    assert clean_text(" a\u200b\u202e  b\n") == "a b"
