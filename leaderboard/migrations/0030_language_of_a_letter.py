"""In which language an invitation is written."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("leaderboard", "0029_medal_zones")]

    operations: ClassVar = [
        migrations.AddField(
            "rosterentry", "mail_language", models.CharField(blank=True, default="", editable=False, max_length=16)
        ),
    ]
