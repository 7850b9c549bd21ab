"""Names and pseudonyms of teams.

A pseudonym is drawn at random, so that it reveals neither the team's name nor its number or order of joining. It is
stored and never changes.

Without pseudonyms no two teams have names that look alike. With pseudonyms they may, because refusing a name would
reveal that another team has it. Hosts then tell such teams apart by their pseudonyms.
"""

from __future__ import annotations

import secrets

from django.db import IntegrityError, transaction
from django.db.models import Max, QuerySet, Value
from django.db.models.functions import Lower

from leaderboard.common.names import lookalike_key

from .models import Competition, Team

LONGEST = 60


def teams_called(competition: Competition, name: str) -> QuerySet[Team]:
    """The teams of a competition whose names look like this one. Reads the names of all its teams."""
    wanted = lookalike_key(name)
    found = [pk for pk, other in competition.teams.values_list("pk", "name") if lookalike_key(other) == wanted]
    return competition.teams.filter(pk__in=found)


def name_with_number(competition: Competition, base: str) -> str:
    """The name, with a number added if a team has a name that looks like it."""
    name, number = base, 2
    while teams_called(competition, name).exists():
        name, number = f"{base[: LONGEST - 6]} {number}", number + 1
    return name


def next_copy_number(competition: Competition, name: str, *, exclude: int | None = None) -> int:
    """The next free `name_copy` for this name, 0 for the first team. The team `exclude`, which gets it, is ignored."""
    called = competition.teams.annotate(lower=Lower("name")).filter(lower=Lower(Value(name)))
    highest = called.exclude(pk=exclude or 0).aggregate(highest=Max("name_copy"))["highest"]
    return 0 if highest is None else highest + 1


def number_shared_names(competition: Competition) -> None:
    """Add numbers to names that older teams have too. Called when pseudonyms are switched off."""
    seen = set[str]()
    teams = competition.teams.select_for_update(no_key=True).order_by("pk")
    for team in sorted(teams, key=lambda team: (team.created_at, team.pk)):
        if lookalike_key(team.name) in seen:
            competition.teams.filter(pk=team.pk).update(name=name_with_number(competition, team.name), name_copy=0)
            team.refresh_from_db(fields=["name"])
        seen.add(lookalike_key(team.name))


TRIES = 30
_FIRST = """
Agile Amber Arctic Autumn Azure Bold Brave Breezy Bright Brisk Bronze Calm Candid Cheerful Clever Cobalt Copper
Coral Cosmic Cosy Crimson Crystal Curious Dancing Daring Dawn Deep Distant Dotted Dusky Eager Early Earnest Easy
Electric Emerald Fair Fearless Fluent Frosty Gentle Giant Glad Golden Graceful Grand Green Happy Hardy Hidden Honest
Humble Icy Indigo Ivory Jade Jolly Keen Kind Lemon Light Lively Loyal Lucid Lucky Lunar Magic Maple Marble Mellow
Merry Mighty Mild Misty Modest Nimble Noble Northern Olive Opal Open Orange Patient Pearl Plucky Polar Polite Proud
Purple Quick Quiet Radiant Rapid Ready Rosy Royal Ruby Rustic Sandy Scarlet Secret Serene Sharp Silent Silver Simple
Sleek Smart Smooth Snowy Solar Sonic Southern Speedy Spring Starry Steady Stellar Still Strong Summer Sunny Sure
Swift Tall Tender Tidy Tiny Topaz Tranquil Trusty Velvet Violet Vivid Warm Western Wild Winter Wise Witty Young
Zesty
"""
_SECOND = """
Acorn Albatross Alpaca Antelope Aspen Badger Bamboo Beacon Beaver Birch Bison Bluebird Bobcat Brook Buffalo
Butterfly Camel Canyon Caribou Cedar Cheetah Chestnut Cicada Cloud Clover Comet Condor Cove Coyote Crane Cricket
Cypress Dingo Dolphin Dragonfly Dune Eagle Egret Elk Elm Falcon Fern Ferret Finch Firefly Fjord Flamingo Forest Fox
Galaxy Gazelle Gecko Geyser Gibbon Glacier Goose Grove Gull Harbour Hare Harvest Hawk Hazel Hedgehog Heron Hill
Horizon Hornbill Ibex Ibis Iguana Island Jackal Jaguar Jay Juniper Kestrel Kingfisher Kiwi Koala Lagoon Lake Lark
Lemur Lichen Lighthouse Lilac Lion Llama Lotus Lynx Magpie Manatee Marmot Marten Meadow Meerkat Meteor Mongoose
Moose Moth Mountain Narwhal Nebula Newt Nightingale Nutmeg Oak Ocelot Orca Orchid Oriole Osprey Otter Owl Panda
Panther Parrot Pebble Pelican Penguin Petrel Pine Planet Plover Pony Poplar Porcupine Puffin Quail Quokka Rabbit
Raccoon Rainbow Raven Reef Reindeer River Robin Rocket Rowan Salmon Sandpiper Seal Sequoia Shore Sparrow Spruce
Squirrel Starling Stork Stream Swallow Swan Tapir Tern Thistle Thrush Tiger Toucan Trout Tulip Turtle Valley Walnut
Walrus Warbler Weasel Whale Willow Wolf Wombat Woodpecker Wren Yak Zebra
"""


FIRST, SECOND = tuple(_FIRST.split()), tuple(_SECOND.split())


def give_pseudonyms(competition: Competition) -> int:
    """Give a pseudonym to every team of a competition without one; returns how many got one."""
    without = competition.teams.filter(pseudonym="").select_for_update(no_key=True)
    waiting = list(without.order_by("pk").values_list("pk", flat=True))
    taken = set(competition.teams.exclude(pseudonym="").order_by().values_list("pseudonym", flat=True))
    for team in waiting:
        taken.add(_give_pseudonym(competition, team, taken))
    return len(waiting)


def _give_pseudonym(competition: Competition, team: int, taken: set[str]) -> str:
    for attempt in range(TRIES):
        name = draw_pseudonym(taken)
        try:
            with transaction.atomic():
                competition.teams.filter(pk=team, pseudonym="").update(pseudonym=name)
        except IntegrityError:  # another process has just drawn it
            taken.add(name)
            if attempt == TRIES - 1:
                raise
        else:
            return name
    raise AssertionError("not reached")


def draw_pseudonym(taken: set[str]) -> str:
    """Two random words that are not taken; with a number once a quarter of all pairs is taken."""
    number = ""
    while True:
        name = f"{secrets.choice(FIRST)} {secrets.choice(SECOND)}{number}"
        if name not in taken:
            return name
        number = f" {secrets.randbelow(900) + 100}" if len(taken) * 4 > len(FIRST) * len(SECOND) else ""
