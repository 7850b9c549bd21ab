"""A split is drawn with a secret, and the hash of a ground truth is shown as a keyed commitment.

Existing ground truths keep their rows and get a key. Existing drafts get a secret: they are drawn again when they are
published.
"""

from __future__ import annotations

import secrets
from typing import Any, ClassVar

from django.db import migrations, models

import leaderboard.models.truth


def make_keys_and_secrets(apps: Any, schema_editor: Any) -> None:
    """One value for each row: a default of the column would be the same for all of them."""
    ground_truths = apps.get_model("leaderboard", "GroundTruth").objects
    for key in ground_truths.filter(commitment_key="").values_list("pk", flat=True):
        ground_truths.filter(pk=key).update(commitment_key=secrets.token_hex(32))
    drafts = apps.get_model("leaderboard", "TruthDraft").objects
    for key in drafts.filter(split_secret="").values_list("pk", flat=True):
        drafts.filter(pk=key).update(split_secret=secrets.token_hex(16))


class Migration(migrations.Migration):
    dependencies: ClassVar = [("leaderboard", "0037_who_asked_for_a_letter")]
    operations: ClassVar = [
        migrations.AddField("groundtruth", "commitment_key", models.CharField(default="", max_length=64)),
        migrations.AddField("groundtruth", "split_secret", models.CharField(blank=True, max_length=32)),
        migrations.AddField("truthdraft", "split_secret", models.CharField(default="", max_length=32)),
        migrations.RunPython(make_keys_and_secrets, migrations.RunPython.noop),
        migrations.AlterField(
            "groundtruth",
            "commitment_key",
            models.CharField(default=leaderboard.models.truth.new_commitment_key, max_length=64),
        ),
        migrations.AlterField(
            "truthdraft",
            "split_secret",
            models.CharField(default=leaderboard.models.truth.new_split_secret, max_length=32),
        ),
    ]
