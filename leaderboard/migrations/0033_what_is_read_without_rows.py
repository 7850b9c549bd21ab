"""Indexes of submissions that answer without reading a row; they take the place of those of the two keys alone."""

from __future__ import annotations

from typing import ClassVar

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("leaderboard", "0032_scored_again")]
    operations: ClassVar = [
        migrations.RemoveIndex(model_name="submission", name="submission_by_team"),
        migrations.RemoveIndex(model_name="submission", name="submission_by_competition"),
        migrations.AlterField(
            model_name="submission",
            name="competition",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="submissions",
                to="leaderboard.competition",
            ),
        ),
        migrations.AlterField(
            model_name="submission",
            name="team",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="submissions",
                to="leaderboard.team",
            ),
        ),
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
