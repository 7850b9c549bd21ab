"""A class for every release there has been, written with the tables of its time; it passes all later migrations.

Run in a process of its own (`python -m tests.upgrades`), because it takes the database back to its beginning. What lies
in `VAR_DIR` afterwards is a database that has grown with the site. Prints in JSON how many releases there were, and how
many rows each table got: every table of a release gets one at least, so that no migration meets empty ones alone.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

TRUTH = b"id,label,Usage\n1,cat,Public\n2,dog,Public\n3,cat,Private\n4,dog,Private\n"
COLUMNS = {"submission_columns": ["id", "label"], "rows": 4, "public_rows": 2, "private_rows": 2}
# Their scores on the two public and the two private rows.
FILES = {
    b"id,label\n1,cat\n2,dog\n3,cat\n4,cat\n": (1.0, 0.5),
    b"id,label\n1,cat\n2,cat\n3,cat\n4,dog\n": (0.5, 1.0),
}
# What no other row would do, where a table asks for more than its columns say, and what gives nobody work to do.
SPECIAL: dict[str, dict[str, Any]] = {
    "FormerMember": {"team": 900_001},
    "Grant": {"extra_attempts": 1},
    "NoticeChoice": {"delivery": "none"},
    "RoleInvitation": {"role": "host"},
    "TeamOrigin": {"team": 900_001, "former": 900_002},  # of teams that have gone
    "Uncertainty": {"replicates": b""},
    "WalkThrough": {"finished_at": datetime.now(UTC)},
    "Webhook": {"is_on": False},
    "WebhookMessage": {"due_at": None},
}
SIMPLE: dict[str, Any] = {
    "BooleanField": False,
    "FloatField": 0.5,
    "JSONField": {},
    "BinaryField": b"",
    "PositiveIntegerField": 1,
    "PositiveBigIntegerField": 1,
}
# Written by Django and by `make_class`.
NOT_OURS = {"User_groups", "User_user_permissions"}


def main() -> None:
    import os

    import django

    os.umask(0o077)
    django.setup()
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor
    from django.db.migrations.loader import MigrationLoader

    def steps() -> MigrationLoader:
        loader = MigrationLoader(connection, replace_migrations=False)
        # Django notes the squashed migration as applied when all that it replaces are; both would count twice.
        for key, step in loader.disk_migrations.items():
            if step.replaces:
                loader.applied_migrations.pop(key, None)
        return loader

    names = sorted(
        name for (app, name), step in steps().disk_migrations.items() if app == "leaderboard" and not step.replaces
    )
    made = Counter[str]()
    for number, name in enumerate(names[:-1], start=1):
        executor = MigrationExecutor(connection)
        executor.loader = steps()
        executor.migrate([("leaderboard", name)])
        tables = steps().project_state([("leaderboard", name)]).apps
        before = counts(tables)
        slug = f"class-{number}"
        fill_the_rest(tables, slug, make_class(tables, slug))
        made += counts(tables) - before
    sys.stdout.write(json.dumps({"releases": len(names) - 1, "rows": made}))


def ours(tables: Any) -> list[Any]:
    return [one for one in tables.get_app_config("leaderboard").get_models() if one.__name__ not in NOT_OURS]


def counts(tables: Any) -> Counter[str]:
    """Rows by table."""
    return Counter({one.__name__: one.objects.count() for one in ours(tables)})


def fill_the_rest(tables: Any, slug: str, scene: dict[str, Any]) -> None:
    """One row of this class in every table that has none of it; `scene`: a row of the others, by the table's name."""
    waiting = [one for one in ours(tables) if one.__name__ not in scene]
    while waiting:
        ready = [one for one in waiting if all(name in scene for name in needed(one))]
        assert ready, f"these tables need each other: {waiting}"
        for one in ready:
            scene[one.__name__] = one.objects.create(**plain_row(one, slug, scene))
            waiting.remove(one)


def needed(table: Any) -> set[str]:
    """The tables whose rows a row of this one cannot do without."""
    links = (field for field in table._meta.concrete_fields if field.is_relation and not field.null)
    return {link.related_model.__name__ for link in links}


def plain_row(table: Any, slug: str, scene: dict[str, Any]) -> dict[str, Any]:
    """The columns that have no value by themselves."""
    name = table.__name__
    if name == "AuditEntry":
        return link_of_the_trail(table)
    values: dict[str, Any] = {}
    for field in table._meta.concrete_fields:
        kind = field.get_internal_type()
        if field.is_relation and not field.null:
            values[field.name] = scene[field.related_model.__name__]
        elif not (field.null or field.blank or field.has_default() or field.primary_key):
            values[field.name] = now_of(kind) or SIMPLE.get(kind, f"{slug} {field.name}"[: field.max_length])
    if name == "MergeOffer":
        values["other"] = scene["other_team"]
    if "file_key" in values:
        home = {"DataFile": f"data/{scene['Competition'].pk}"}.get(name, "truths")
        stored = dict(zip(("file_key", "sha256", "size"), keep(home, b"id\n1\n2\n"), strict=True))
        values |= {key: value for key, value in stored.items() if key in values}
    return values | SPECIAL.get(name, {})


def now_of(kind: str) -> Any:
    """This moment or day, for a column of such."""
    from django.utils import timezone

    return {"DateTimeField": timezone.now(), "DateField": timezone.now().date()}.get(kind)


def link_of_the_trail(table: Any) -> dict[str, Any]:
    """The next entry of the audit trail, which must be a chain in the end."""
    from django.utils import timezone

    from leaderboard.models import AuditEntry

    last = table.objects.order_by("-number").first()
    known = {"number": last.number + 1 if last else 1, "at": timezone.now(), "deed": "launched", "before": "{}"}
    known |= {"after": "{}", "previous": last.digest if last else ""}
    return known | {"digest": AuditEntry(**known).expected_digest()}


def make_class(tables: Any, slug: str) -> dict[str, Any]:
    """A competition with a scored file, a better one, and one that still waits; a row of each table by its name."""
    from django.utils import timezone

    import metrics

    def model(name: str) -> Any:
        return tables.get_model("leaderboard", name).objects

    now = timezone.now()
    ada = model("User").create(username=f"ada-{slug}", can_host=True, password="!")
    bo = model("User").create(username=f"bo-{slug}", password="!")
    competition = model("Competition").create(
        slug=slug, title=slug, opens_at=now - timedelta(days=2), closes_at=now + timedelta(days=2)
    )
    competition.hosts.add(ada)
    key, sha256, _ = keep("truths", TRUTH)
    ruler = model("GroundTruth").create(
        competition=competition, number=1, file_key=key, file_name="truth.csv", sha256=sha256, metric="accuracy",
        metric_version=metrics.get("accuracy").version, id_column="id", published_by=ada, **COLUMNS,
    )  # fmt: skip
    model("Competition").filter(pk=competition.pk).update(ground_truth=ruler, launched_at=now)
    team = model("Team").create(competition=competition, name="Bo", captain=bo)
    member = model("Membership").create(
        competition=competition, user=bo, team=team, rules_version=1, rules_accepted_at=now
    )
    given = [*((data, scores) for data, scores in FILES.items()), (next(iter(FILES)), None)]
    rows = []
    for number, (data, scores) in enumerate(given):
        key, sha256, size = keep(f"submissions/{competition.pk}", data)
        end: dict[str, Any] = {"status": "scored", "finished_at": now, "tries": 1} if scores else {}
        row = model("Submission").create(
            competition=competition, team=team, user=bo, file_name=f"{number}.csv", file_key=key, sha256=sha256,
            size=size, received_at=now - timedelta(milliseconds=60 - number), upload_key=f"{bo.pk}:{number}", **end,
        )  # fmt: skip
        rows.append((row, scores))
    best, value = max(((row, scores[0]) for row, scores in rows if scores), key=lambda one: one[1])
    for place, split in enumerate(("public", "private")):
        for row, scores in rows:
            if scores:
                score = model("Score").create(submission=row, ground_truth=ruler, split=split, value=scores[place])
    standing = model("Standing").create(
        ground_truth=ruler, team=team, split="public", submission=best, value=value, sort_key=-value,
        received_at=best.received_at,
    )  # fmt: skip
    day = rows[0][0].received_at.date()
    attempts = model("DailyAttempts").create(team=team, day=day, used=len(rows))
    made = (ada, competition, ruler, team, member, rows[0][0], score, standing, attempts)
    other = model("Team").create(competition=competition, name="Cy")
    return {**{type(row).__name__: row for row in made}, "other_team": other}


def keep(folder: str, data: bytes) -> tuple[str, str, int]:
    """A stored file: key, SHA-256, size."""
    import uuid

    from django.conf import settings

    key = f"{folder}/{uuid.uuid4().hex}"
    path = Path(settings.FILES_DIR) / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return key, hashlib.sha256(data).hexdigest(), len(data)


if __name__ == "__main__":
    main()
