"""Whether a draft's limits and entry are a proposal that its host has not saved yet; those of before are theirs."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("leaderboard", "0026_language_of_a_person")]

    operations: ClassVar = [
        migrations.AddField("competition", "has_proposed_limits", models.BooleanField(default=False, editable=False)),
        migrations.AddField("competition", "has_proposed_entry", models.BooleanField(default=False, editable=False)),
    ]
