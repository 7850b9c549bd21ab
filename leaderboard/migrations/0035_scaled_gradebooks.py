"""Points in a gradebook may be written out of what its column is out of."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("leaderboard", "0034_sections_on_the_board")]
    operations: ClassVar = [
        migrations.AddField(model_name="gradebook", name="is_scaled", field=models.BooleanField(default=False)),
    ]
