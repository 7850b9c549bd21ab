"""The work with Django that `up` needs before the site starts, in a process that ends, so that its memory is freed.

Updates the database, creates the operator named in the environment or else a setup link, and prints one line of JSON:
`{"link": secret or null}` or `{"trouble": message}`.
"""

from __future__ import annotations

import json
import os
import sys

import django
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor

from .place import Trouble

NO_MIGRATE = "--no-migrate"


def make_operator(username: str, password: str, email: str) -> None:
    """Create the operator of an unattended set-up; an existing account of that name is left as it is. Raises
    `Trouble`."""
    from django.contrib.auth.password_validation import validate_password

    from leaderboard.accounts import personal_data
    from leaderboard.accounts.models import User

    if not username and not password:
        return
    if not username or not password:
        raise Trouble("ADMIN_USERNAME and ADMIN_PASSWORD go together; one of them is empty. Set both or none.")
    if User.objects.filter(username__iexact=username).exists():
        return
    person = User(username=username, email=email, is_superuser=True, is_staff=True, can_host=True)
    try:
        validate_password(password, person)
        person.set_password(password)
        person.full_clean()
    except ValidationError as error:
        raise Trouble("The operator named in ADMIN_USERNAME was not made: " + " ".join(error.messages)) from None
    with transaction.atomic():
        person.save()
        personal_data.log_rights_changes(account=person, before={}, user=None)


def setup_link() -> str | None:
    """The secret of a new one-time setup link; None if the site has an operator."""
    from leaderboard.accounts.models import SetupLink, User

    return None if User.objects.filter(is_superuser=True).exists() else SetupLink.issue()


def explain_database(error: DatabaseError) -> str:
    """A message for the commonest reasons why a database refuses."""
    text = str(error).strip()
    if "disk is full" in text or "No space left" in text:
        return "The disk is full, so the database cannot be written. Make room and run the same command again."
    if "readonly" in text or "unable to open" in text:
        name = connection.settings_dict["NAME"]
        return f"The database {name} cannot be written by this user. Give yourself the right to write it."
    where = "in DATABASE_URL" if os.environ.get("DATABASE_URL") else str(connection.settings_dict["NAME"])
    return f"The database ({where}) refused: {text}"


def is_migrated() -> bool:
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def prepare_site(*, migrates: bool) -> int:
    """Prepare the database and print the result for `up`. Without `migrates` a database that is not up to date is left
    alone."""
    answer: dict[str, str | None]
    try:
        django.setup()
        if not is_migrated():
            if not migrates:
                json.dump({"link": None}, sys.stdout)
                return 0
            call_command("migrate", interactive=False, verbosity=0)
        make_operator(*(os.environ.get(name, "") for name in ("ADMIN_USERNAME", "ADMIN_PASSWORD", "ADMIN_EMAIL")))
        answer = {"link": setup_link()}
    except Trouble as trouble:
        answer = {"trouble": str(trouble)}
    except DatabaseError as error:
        answer = {"trouble": explain_database(error)}
    json.dump(answer, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(prepare_site(migrates=NO_MIGRATE not in sys.argv))
