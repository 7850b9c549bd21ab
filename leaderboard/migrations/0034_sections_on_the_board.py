"""A host's setting: whoever competes may look at the board of one section of the class."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("leaderboard", "0033_what_is_read_without_rows")]
    operations: ClassVar = [
        migrations.AddField(
            model_name="competition",
            name="shows_sections",
            field=models.BooleanField(
                default=False,
                help_text="Whoever competes can choose a section of the class list on the board, which also shows which "
                "section a team or a pseudonym belongs to. Nobody else reads anything of sections.",
                verbose_name="sections on the board",
            ),
        ),
    ]
