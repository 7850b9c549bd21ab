"""Links from pages to the part of a guide that explains them."""

from __future__ import annotations

from django import template
from django.template import Context
from django.urls import reverse

register = template.Library()

PARTS = {
    ("hosts", "make-a-competition"): "host_new host_setup host_settings host_data",
    ("hosts", "launch-it"): "host_projector",
    ("hosts", "your-class"): (
        "host_people host_student host_roster host_invite host_join_cards host_left host_who host_roles"
        " host_course course course_add"
    ),
    ("hosts", "while-it-runs"): (
        "host host_competition host_submissions host_submission host_baselines host_announcements host_teams host_team"
    ),
    ("hosts", "an-answer-was-wrong"): "host_truth host_truth_metric host_score_again",
    ("hosts", "the-end"): "host_reveal host_report host_rows host_similar",
    ("hosts", "grades"): "host_grades host_grade_rules host_grade_canvas host_grade_release host_candidate_grades"
    " host_grade_points host_grade_student",
    ("students", "join"): "join join_code join_open invitation rules overview data",
    ("students", "submit"): "submit submission",
    ("students", "follow"): "leaderboard submissions finals team",
    ("students", "the-end"): "grade rescored",
}
PLACES = {name: place for place, names in PARTS.items() for name in names.split()}


@register.simple_tag(takes_context=True)
def help_address(context: Context) -> str:
    """The URL of the guide's part that explains this page; the list of guides if there is none."""
    match = getattr(context.get("request"), "resolver_match", None)
    if match is None or match.url_name not in PLACES:
        return reverse("help")
    guide, part = PLACES[match.url_name]
    return f"{reverse('guide', args=[guide])}#{part}"
