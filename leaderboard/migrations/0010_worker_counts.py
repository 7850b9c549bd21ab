from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0009_cage_test")]

    operations = [
        migrations.AddField(model_name="worker", name="counts", field=models.JSONField(default=list)),
    ]
