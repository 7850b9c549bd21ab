"""A channel knows what became of the last sending to its address."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("leaderboard", "0035_scaled_gradebooks")]
    operations: ClassVar = [
        migrations.AddField(model_name="webhook", name="trouble", field=models.CharField(blank=True, max_length=40)),
    ]
