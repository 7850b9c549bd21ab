"""`manage.py lti_platform add|list|off`: learning platforms without dynamic registration."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from leaderboard.lti.models import TICKS, Platform
from leaderboard.lti.registering import add_platform, switch_off

NEEDED = ("issuer", "client_id", "auth_url", "token_url", "keys_url")


class Command(BaseCommand):
    help = "Add and approve a learning platform, list all, or switch one off."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        add = actions.add_parser("add", help="add and approve a platform")
        for name in NEEDED:
            add.add_argument(f"--{name.replace('_', '-')}", required=True)
        add.add_argument("--deployment", action="append", default=[], help="may be given several times")
        add.add_argument("--audience", default="", help="of token requests, if it is not the token address")
        add.add_argument("--name", default="", help="as people of this site call it")
        add.add_argument("--family", default="", help="moodle, canvas, brightspace, blackboard, openedx")
        for tick in TICKS:
            add.add_argument(f"--{tick.replace('_', '-')}", action="store_true")
        actions.add_parser("list", help="list all platforms")
        actions.add_parser("off", help="switch a platform off").add_argument("number", type=int)

    def handle(self, *, action: str, **options: Any) -> None:
        if action == "add":
            facts = {name: options[name] for name in (*NEEDED, *TICKS, "audience", "name", "family")}
            try:
                platform = add_platform(deployments=options["deployment"], user=None, **facts)
            except ValueError as error:
                raise CommandError(_problem(str(error))) from None
            self.stdout.write(f"{platform.pk}  {platform}  approved")
        elif action == "off":
            found = Platform.objects.filter(pk=options["number"]).first()
            if found is None:
                raise CommandError("There is no platform with this number. See: lti_platform list")
            switch_off(platform=found, user=None)
            self.stdout.write(f"{found.pk}  {found}  off")
        else:
            for one in Platform.objects.order_by("pk"):
                state = "on" if one.is_on else "off" if one.off_at else "waits for approval"
                self.stdout.write(f"{one.pk}  {one}  {one.issuer}  {one.client_id}  {state}")


def _problem(field: str) -> str:
    if field == "client_id":
        return "A platform with this issuer and client ID exists already. See: lti_platform list"
    if field == "issuer":
        return "The issuer and the client ID have 1 to 200 characters."
    return (
        f"--{field.replace('_', '-')} is no usable address: https, port 443, no user. Hosts in a private network are "
        "named in LTI_PLATFORM_HOSTS."
    )
