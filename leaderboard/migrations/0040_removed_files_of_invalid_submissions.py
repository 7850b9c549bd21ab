"""The bytes of an invalid submission go after some days; its row says when."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("leaderboard", "0039_follow_people")]
    operations: ClassVar = [
        migrations.AddField(
            model_name="submission",
            name="file_removed_at",
            field=models.DateTimeField(editable=False, null=True),
        ),
    ]
