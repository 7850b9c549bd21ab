"""Since when a file waits that a host has scored again."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("leaderboard", "0031_best_of_teams")]

    operations: ClassVar = [
        migrations.AddField("submission", "again_at", models.DateTimeField(editable=False, null=True)),
    ]
