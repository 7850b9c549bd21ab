"""Competitions lose rehearsals, medal zones and boards within other sites; people lose keyboard shortcuts."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations


class Migration(migrations.Migration):
    dependencies: ClassVar = [("leaderboard", "0042_slow_files")]

    operations: ClassVar = [
        migrations.RemoveConstraint("competition", "competition_launched_without_a_rehearsal"),
        migrations.RemoveField("competition", "rehearsed_at"),
        migrations.RemoveField("team", "is_rehearsal"),
        migrations.RemoveField("competition", "has_medal_zones"),
        migrations.RemoveField("competition", "embed_sites"),
        migrations.RemoveField("user", "has_shortcuts"),
    ]
