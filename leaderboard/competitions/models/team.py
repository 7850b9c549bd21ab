"""Teams (a single student is a team of one), memberships, daily attempts, pseudonyms.

A pseudonym is drawn at random, so that it reveals neither the team's name nor its number or order of joining. It is
stored and never changes.

Without pseudonyms no two teams have names that look alike. With pseudonyms they may, because refusing a name would
reveal that another team has it. Hosts then tell such teams apart by their pseudonyms.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable
from datetime import date
from typing import ClassVar

from django.db import IntegrityError, models, transaction
from django.db.models import F, Max, Q, QuerySet, Value
from django.db.models.functions import Greatest, Lower
from django.utils import timezone
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common.names import lookalike_key

from .competition import Competition


def new_invitation() -> str:
    return secrets.token_urlsafe(18)


class Team(models.Model):
    """A team: the unit that is ranked. Its invitation link lets others join while there is room."""

    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="teams")
    name = models.CharField(max_length=60)
    # Number that makes equal names unique in the database. Always 0 without pseudonyms, where names must differ.
    name_copy = models.PositiveIntegerField(default=0, editable=False)
    # The name for other teams if the competition uses pseudonyms; never changed (see `give_pseudonyms`).
    pseudonym = models.CharField(max_length=60, blank=True, editable=False)
    invitation = models.CharField(max_length=40, unique=True, default=new_invitation)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # A disqualified team cannot submit and is on no board; its files and scores are kept.
    disqualified_at = models.DateTimeField(null=True, editable=False)
    disqualified_reason = models.CharField(max_length=300, blank=True, editable=False)
    # Whether the final ranking was opened without this team, because it still had time. Until it is added to the
    # ranking, its members see nothing private and the boards show its best public submission.
    is_awaited = models.BooleanField(default=False, editable=False)
    # Time at which the account of its last member was deleted. Until the reveal such a team is on no board.
    vacated_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.UniqueConstraint("competition", Lower("name"), "name_copy", name="team_name_once_per_competition"),
            models.CheckConstraint(
                name="a_disqualified_team_reads_why",
                condition=Q(disqualified_at__isnull=True) | ~Q(disqualified_reason=""),
            ),
            models.UniqueConstraint(
                fields=["competition", "pseudonym"], name="team_pseudonym_once", condition=~Q(pseudonym="")
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def shown_name(self) -> str:
        """The name for other teams: the pseudonym if the competition uses them, else `name`.

        Only the team itself, hosts and assistants may see `name`. Needs `competition` loaded.
        """
        return (
            self.name
            if not self.competition.board.uses_pseudonyms
            else self.pseudonym or _("Team {number}").format(number=self.pk)
        )


class Membership(models.Model):
    """A user in a team, with the version of the rules that they accepted."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    rules_version = models.PositiveIntegerField(default=0)
    rules_accepted_at = models.DateTimeField(null=True)
    joined_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering: ClassVar = ["joined_at"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["competition", "user"], name="one_team_per_user_and_competition"),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"

    def has_accepted_rules(self) -> bool:
        """Whether the current version of the rules is accepted; True without rules."""
        return not self.competition.rules.strip() or self.rules_version >= self.competition.rules_version


class DailyAttempts(models.Model):
    """Attempts that a team used on a day in the competition's time zone.

    Counted by compare-and-set, so that parallel uploads cannot exceed the limit.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="daily_attempts")
    day = models.DateField()
    used = models.PositiveIntegerField(default=0)
    # The limit when the last attempt was used; hosts may change it at any time.
    limit = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["team", "day"], name="one_count_per_team_and_day"),
            models.CheckConstraint(name="attempts_not_negative", condition=Q(used__gte=0)),
        ]

    def __str__(self) -> str:
        return f"{self.team} {self.day}: {self.used}"

    @classmethod
    def use_attempt(cls, team_id: int, day: object, limit: int) -> bool:
        """Use one attempt; False if none is left. Call it in a transaction: the first one of a day writes twice."""
        left = cls.objects.filter(team_id=team_id, day=day, used__lt=limit)
        if left.update(used=F("used") + 1, limit=limit):
            return True
        cls.objects.get_or_create(team_id=team_id, day=day)
        return bool(left.update(used=F("used") + 1, limit=limit))

    @staticmethod
    def create_for(files: Iterable[tuple[int, date]], limit: int) -> None:
        """Write the counts for generated files, given as (team, UTC day); for teams without counts."""
        DailyAttempts.objects.bulk_create(
            DailyAttempts(team_id=team, day=day, used=used, limit=max(used, limit))
            for (team, day), used in Counter(files).items()
        )

    @classmethod
    def return_attempt(cls, team_id: int, day: object) -> None:
        """Return the attempt of a file that got no score."""
        cls.objects.filter(team_id=team_id, day=day, used__gt=0).update(used=F("used") - 1)

    @classmethod
    def count_again(cls, team_id: int, day: object, number: int) -> None:
        """Count returned attempts once more, because a host has the files scored again; even beyond the limit."""
        cls.objects.get_or_create(team_id=team_id, day=day)
        used = F("used") + number
        cls.objects.filter(team_id=team_id, day=day).update(used=used, limit=Greatest(F("limit"), used))


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
    for team in competition.teams.order_by("created_at", "pk"):
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
