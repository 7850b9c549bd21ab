"""Whether a board has medal zones."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("leaderboard", "0028_roster_lists")]

    operations: ClassVar = [
        migrations.AddField(
            "competition", "has_medal_zones", models.BooleanField(default=False, verbose_name="medal zones")
        ),
    ]
