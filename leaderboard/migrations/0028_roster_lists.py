"""The lists that people of a roster came with; of people from before none is known."""

from __future__ import annotations

from typing import ClassVar

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("leaderboard", "0027_proposed_steps")]

    operations: ClassVar = [
        migrations.CreateModel(
            name="RosterList",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("file_name", models.CharField(blank=True, max_length=200)),
                ("taken_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "competition",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="roster_lists",
                        to="leaderboard.competition",
                    ),
                ),
                (
                    "taken_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={"ordering": ["-taken_at", "-pk"]},
        ),
        migrations.AddField(
            "rosterentry",
            "came_with",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="people",
                to="leaderboard.rosterlist",
            ),
        ),
    ]
