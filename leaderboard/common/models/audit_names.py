"""Labels of the fields in the audit log; entries store the fields' names."""

from __future__ import annotations

from django.utils.translation import gettext, gettext_noop

AUDIT_FIELD_NAMES = (
    *(gettext_noop("address"), gettext_noop("admission"), gettext_noop("allowed addresses")),
    *(gettext_noop("allows late"), gettext_noop("assistants grade"), gettext_noop("audience")),
    *(gettext_noop("back in the course"), gettext_noop("bad"), gettext_noop("becomes")),
    *(gettext_noop("bytes"), gettext_noop("captain"), gettext_noop("changed")),
    *(gettext_noop("closes at"), gettext_noop("contact"), gettext_noop("course"), gettext_noop("daily attempts")),
    *(gettext_noop("decimals"), gettext_noop("disqualified at")),
    *(
        gettext_noop("extra attempts"),
        gettext_noop("files"),
        gettext_noop("final count"),
        gettext_noop("grades"),
    ),
    *(gettext_noop("ground truth"), gettext_noop("hidden at"), gettext_noop("hides scores"), gettext_noop("id column")),
    *(gettext_noop("ignored rows"), gettext_noop("invitation"), gettext_noop("is listed"), gettext_noop("is pinned")),
    *(gettext_noop("join code"), gettext_noop("join cards"), gettext_noop("late percent"), gettext_noop("launched at")),
    *(gettext_noop("left the course"), gettext_noop("emails"), gettext_noop("max bytes")),
    *(gettext_noop("max points"), gettext_noop("member"), gettext_noop("members"), gettext_noop("method")),
    *(gettext_noop("metric"), gettext_noop("metric version"), gettext_noop("minimum"), gettext_noop("missing")),
    *(gettext_noop("needs code"), gettext_noop("new"), gettext_noop("none is zero"), gettext_noop("note")),
    *(gettext_noop("number"), gettext_noop("opens at"), gettext_noop("overview"), gettext_noop("params")),
    *(gettext_noop("participation files"), gettext_noop("participation points"), gettext_noop("paused at")),
    *(gettext_noop("people"), gettext_noop("possible"), gettext_noop("private rows"), gettext_noop("public rows")),
    *(gettext_noop("reached"), gettext_noop("reason"), gettext_noop("release"), gettext_noop("revealed at")),
    *(gettext_noop("reveals itself"), gettext_noop("role"), gettext_noop("rules"), gettext_noop("secondary")),
    *(gettext_noop("section"), gettext_noop("sha256"), gettext_noop("shows sections"), gettext_noop("slug")),
    *(gettext_noop("steps"),),
    *(gettext_noop("submission"), gettext_noop("submissions"), gettext_noop("subtitle"), gettext_noop("team size")),
    *(gettext_noop("teams"), gettext_noop("text"), gettext_noop("title")),
    *(gettext_noop("notified"), gettext_noop("unchanged"), gettext_noop("uses pseudonyms"), gettext_noop("zone")),
)


def audit_field_label(name: str) -> str:
    """The label of a field in the reader's language; the field's name if there is no translation."""
    return gettext(name.replace("_", " "))
