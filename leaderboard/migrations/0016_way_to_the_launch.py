from __future__ import annotations

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0015_after_the_end")]

    operations = [
        migrations.AddField(
            model_name="competition",
            name="launches_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="competition",
            name="launch_asked_by",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="competition",
            name="launch_trouble",
            field=models.JSONField(blank=True, default=list, editable=False),
        ),
        migrations.CreateModel(
            name="TruthCheck",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("report", models.JSONField(default=dict)),
                ("checked_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "ground_truth",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="check_report",
                        to="leaderboard.groundtruth",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="WalkThrough",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sha256", models.CharField(max_length=64)),
                ("sent_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(null=True)),
                ("public", models.FloatField(null=True)),
                ("private", models.FloatField(null=True)),
                ("problems", models.JSONField(default=list)),
                ("failure", models.TextField(blank=True)),
                (
                    "ground_truth",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="walk_through",
                        to="leaderboard.groundtruth",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
    ]
