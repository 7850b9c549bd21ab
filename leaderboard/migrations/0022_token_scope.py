from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0021_rehearsal")]

    operations = [
        migrations.AddField(
            model_name="apitoken",
            name="scope",
            field=models.CharField(
                choices=[("read", "Read only"), ("submit", "Hand in files"), ("host", "Host competitions")],
                default="submit",
                max_length=10,
            ),
        ),
    ]
