"""The exact best public score beside each standing, and an index that answers for all scores of a ruler."""

from __future__ import annotations

from typing import Any, ClassVar

import django.db.models.deletion
from django.db import migrations, models


def where_the_board_shows_it(apps: Any, _schema: object) -> None:
    """Elsewhere it is worked out from the scores until the standings are made again."""
    competitions = apps.get_model("leaderboard", "Competition").objects.filter(board_mode="plain", revealed_at=None)
    standings = apps.get_model("leaderboard", "Standing").objects.filter(split="public")
    standings.filter(ground_truth__competition__in=competitions).update(best=models.F("value"))


class Migration(migrations.Migration):
    dependencies: ClassVar = [("leaderboard", "0030_language_of_a_letter")]

    operations: ClassVar = [
        migrations.AddField("standing", "best", models.FloatField(null=True)),
        migrations.RunPython(where_the_board_shows_it, migrations.RunPython.noop),
        migrations.AddIndex(
            "score",
            models.Index(fields=["ground_truth", "split", "submission", "value"], name="score_by_ruler"),
        ),
        migrations.AlterField(
            "score",
            "ground_truth",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="scores",
                to="leaderboard.groundtruth",
            ),
        ),
        migrations.AlterField(
            "score",
            "submission",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="scores",
                to="leaderboard.submission",
            ),
        ),
    ]
