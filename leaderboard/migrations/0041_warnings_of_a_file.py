"""A scored file may look wrong all the same: its labels are written otherwise than the sample's."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("leaderboard", "0040_removed_files_of_invalid_submissions")]
    operations: ClassVar = [
        migrations.AddField(model_name="submission", name="warnings", field=models.JSONField(default=list)),
    ]
