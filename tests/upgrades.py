"""A class for every release there has been, written with the tables of its time; it passes all later migrations.

Run in a process of its own (`python -m tests.upgrades`), because it takes the database back to its beginning. What lies
in `VAR_DIR` afterwards is a database that has grown with the site. Prints the number of releases.
"""

from __future__ import annotations

import hashlib
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

TRUTH = b"id,label,Usage\n1,cat,Public\n2,dog,Public\n3,cat,Private\n4,dog,Private\n"
COLUMNS = {"submission_columns": ["id", "label"], "rows": 4, "public_rows": 2, "private_rows": 2}
# Their scores on the two public and the two private rows.
FILES = {
    b"id,label\n1,cat\n2,dog\n3,cat\n4,cat\n": (1.0, 0.5),
    b"id,label\n1,cat\n2,cat\n3,cat\n4,dog\n": (0.5, 1.0),
}


def main() -> None:
    import os

    import django

    os.umask(0o077)
    django.setup()
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    loader = MigrationExecutor(connection).loader
    names = sorted(name for app, name in loader.disk_migrations if app == "leaderboard")
    for number, name in enumerate(names[:-1], start=1):
        executor = MigrationExecutor(connection)
        executor.migrate([("leaderboard", name)])
        tables = MigrationExecutor(connection).loader.project_state([("leaderboard", name)]).apps
        make_class(tables, f"class-{number}")
    sys.stdout.write(f"{len(names) - 1}\n")


def make_class(tables: Any, slug: str) -> None:
    """A competition with a scored file, a better one, and one that still waits."""
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
    model("Membership").create(competition=competition, user=bo, team=team, rules_version=1, rules_accepted_at=now)
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
                model("Score").create(submission=row, ground_truth=ruler, split=split, value=scores[place])
    model("Standing").create(
        ground_truth=ruler, team=team, split="public", submission=best, value=value, sort_key=-value,
        received_at=best.received_at,
    )  # fmt: skip
    day = rows[0][0].received_at.date()
    model("DailyAttempts").create(team=team, day=day, used=len(rows))


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
