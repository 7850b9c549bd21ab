"""Indexes of submissions that answer without reading a row."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("leaderboard", "0032_scored_again")]
    operations: ClassVar = [
        migrations.RemoveIndex(model_name="submission", name="submission_by_team"),
        migrations.RemoveIndex(model_name="submission", name="submission_by_competition"),
        migrations.AddIndex(
            model_name="submission",
            index=models.Index(
                fields=["team", "-received_at", "status", "is_late", "hidden_at", "id"], name="submission_by_team"
            ),
        ),
        migrations.AddIndex(
            model_name="submission",
            index=models.Index(
                fields=["competition", "-received_at", "team", "status"], name="submission_by_competition"
            ),
        ),
    ]
