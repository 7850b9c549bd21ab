"""Friendly made-up names for teams, so that a board says who leads without saying who that is.

A pseudonym is drawn by chance: nobody gets from it to the team's name, its number or the order of joining. It is stored
once and never drawn again, so a team keeps it for ever.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction

if TYPE_CHECKING:
    from .competition import Competition

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
    """Give every team of a competition that has none a pseudonym of its own; returns how many got one."""
    waiting = list(competition.teams.filter(pseudonym="").order_by().values_list("pk", flat=True))
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
        except IntegrityError:  # another process drew it in this moment
            taken.add(name)
            if attempt == TRIES - 1:
                raise
        else:
            return name
    raise AssertionError("not reached")


def draw_pseudonym(taken: set[str]) -> str:
    """Two words by chance that nobody has; once a quarter of all pairs is gone, with a number."""
    number = ""
    while True:
        name = f"{secrets.choice(FIRST)} {secrets.choice(SECOND)}{number}"
        if name not in taken:
            return name
        number = f" {secrets.randbelow(900) + 100}" if len(taken) * 4 > len(FIRST) * len(SECOND) else ""
