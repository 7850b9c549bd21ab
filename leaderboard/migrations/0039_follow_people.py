"""What was shown and what was used follows people who change teams or sign up again."""

from __future__ import annotations

from typing import ClassVar

import django.db.models.deletion
from django.db import migrations, models
from django.db.models.functions import Lower


def competition(related_name: str) -> models.ForeignKey[models.Model, models.Model]:
    return models.ForeignKey(
        on_delete=django.db.models.deletion.CASCADE, related_name=related_name, to="leaderboard.competition"
    )


def key() -> models.BigAutoField[int, int]:
    return models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


class Migration(migrations.Migration):
    dependencies: ClassVar = [("leaderboard", "0038_split_secrets_and_commitments")]
    operations: ClassVar = [
        migrations.AddField(
            model_name="submission",
            name="former_team",
            field=models.BigIntegerField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name="team",
            name="vacated_at",
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name="team",
            name="name_copy",
            field=models.PositiveIntegerField(default=0, editable=False),
        ),
        migrations.AddField(
            model_name="notice",
            name="mentions",
            field=models.JSONField(default=list, editable=False),
        ),
        migrations.RemoveConstraint(model_name="team", name="team_name_once_per_competition"),
        migrations.AddConstraint(
            model_name="team",
            constraint=models.UniqueConstraint(
                models.F("competition"), Lower("name"), models.F("name_copy"), name="team_name_once_per_competition"
            ),
        ),
        migrations.CreateModel(
            name="FormerMember",
            fields=[
                ("id", key()),
                ("digest", models.CharField(max_length=64)),
                ("team", models.BigIntegerField()),
                ("at", models.DateTimeField()),
                ("competition", competition("former_members")),
            ],
            options={"indexes": [models.Index(fields=["competition", "digest"], name="former_member_by_digest")]},
        ),
        migrations.CreateModel(
            name="TeamOrigin",
            fields=[
                ("id", key()),
                ("team", models.BigIntegerField()),
                ("former", models.BigIntegerField()),
                ("at", models.DateTimeField()),
                ("competition", competition("team_origins")),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("team", models.F("former")), _negated=True),
                        name="a_team_comes_from_another_one",
                    )
                ],
            },
        ),
    ]
