"""Files that take far longer than usual, and how long the quickest file of a ground truth took."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("leaderboard", "0041_warnings_of_a_file")]

    operations: ClassVar = [
        migrations.AddField("submission", "is_slow", models.BooleanField(default=False, editable=False)),
        migrations.AddField("groundtruth", "quickest_seconds", models.FloatField(editable=False, null=True)),
    ]
