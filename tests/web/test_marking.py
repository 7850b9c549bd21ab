"""No text for people stands where nobody could translate it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.web.marking import unmarked
from tests.web.marking_python import unmarked_in_python

HERE = Path(__file__).resolve().parents[2]
TEMPLATES, SITE = HERE / "templates", HERE / "leaderboard"


def test_the_reader_of_templates_sees_what_nobody_could_translate() -> None:
    assert unmarked('<p title="Your team">{{ team }} of {% if a > 1 %}<b>two</b>{% endif %}</p>') == [
        "title: Your team",
        "of",
        "two",
    ]
    assert unmarked('<p title="{% translate "Your team" %}">{% translate "of" %} <code>id</code> – {{ x }}</p>') == []


def test_no_template_has_words_that_nobody_could_translate() -> None:
    found = [
        f"{path.relative_to(TEMPLATES)}: {words}"
        for path in sorted(TEMPLATES.rglob("*.html"))
        for words in unmarked(path.read_text())
    ]
    assert found == []


# What programs and operators read.
ENGLISH_ALONE = {
    *("admin", "api", "cli", "invariants", "keeping", "management", "migrations", "scorer", "storage"),
    *("prometheus.py", "settings.py"),
}
THE_SAME_EVERYWHERE = {
    "competition.toml: {}",
    "[metric]",
    "[metric.params]",
    "{} The operator can put its file back.",
    "Name, Email, Section",
    "warning",  # a class of the style sheet
    "Send this file with its length (Content-Length); a body in chunks without one is not read.",
}


def test_no_script_has_words_that_nobody_could_translate() -> None:
    """Scripts take their words from attributes of the page."""
    scripts = sorted((SITE / "static" / "leaderboard").glob("*.js"))
    quoted = re.compile(r"\"[^\"\n]*\"|`[^`]*`")
    words = re.compile(r"[A-Z][a-z]+ [a-z]+|^.(?:just |less than )|[a-z]{2,} ago")
    assert len(scripts) >= 3
    found = [text for path in scripts for text in quoted.findall(path.read_text()) if words.search(text)]
    assert found == []


def test_the_reader_of_python_sees_what_nobody_could_translate() -> None:
    source = '''
"""This is a docstring."""
LATER = "A sentence of a module."
class Way(models.TextChoices):
    SHORT = "short", "the short way"
class Form(forms.Form):
    name = forms.CharField(label="name", help_text=_("Any."), error_messages={"required": "needed"})
def view(request, team):
    words = "it is done" if team else _("No team.")
    messages.success(request, words)
    log.warning("Nobody reads this but operators.")
    if not team:
        raise CannotJoin("gone", "no team") from None
    if team.is_full:
        raise ValueError("A mistake of ours.")
    form.add_error("name", f"{team} is taken")
    print(f"{team} {_('is out of reach')}")
    return _("%(team)s is %(how)s.") % {"team": team, "how": _("full")}
'''
    assert unmarked_in_python(source) == [
        "3: A sentence of a module.",
        "5: the short way",
        "7: name",
        "7: needed",
        "9: it is done",
        "13: no team",
        "16: {} is taken",
        "17: is out of reach",
    ]


def test_no_python_has_words_for_people_that_nobody_could_translate() -> None:
    found = [
        f"{path.relative_to(SITE)}:{line}"
        for path in sorted(SITE.rglob("*.py"))
        if path.relative_to(SITE).parts[0] not in ENGLISH_ALONE
        for line in unmarked_in_python(path.read_text())
        if line.partition(": ")[2] not in THE_SAME_EVERYWHERE
    ]
    assert found == []
