"""Template tags and filters: times, scores, Markdown, icons, navigation, badges, metrics, form fields."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, cast
from urllib.parse import urlencode

from django import forms, template
from django.forms import BoundField
from django.template import Context
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

import metrics
from leaderboard import __version__
from leaderboard.common import drawings, numbers
from leaderboard.common.display_time import moment, zone_title
from leaderboard.common.library_messages import stored_text, translated_message
from leaderboard.common.markdown import render_formula, render_markdown, render_markdown_line
from leaderboard.common.storage import size_text

from .. import metric_display, navigation
from ..access import PageContext
from ..models import Competition, Score

register = template.Library()
# Metrics are callable, and Django's templates would call them when they read an attribute.
setattr(metrics.Metric, "do_not_call_in_templates", True)  # noqa: B010 - the library does not declare it

# django-allauth puts a placeholder that repeats the label into fields with these `autocomplete` values.
AUTOCOMPLETE_FROM_LABEL = {"username", "email", "new-password", "current-password"}
QUOTED = 40
STATES = {
    "draft": ("draft", gettext_lazy("Draft")),
    "upcoming": ("upcoming", gettext_lazy("Upcoming")),
    "live": ("live", gettext_lazy("Live")),
    "closed": ("ended", gettext_lazy("Ended")),
    "revealed": ("ended", gettext_lazy("Ended")),
}
OUTCOMES = {
    "scored": ("success", gettext_lazy("Scored")),
    "pending": ("", gettext_lazy("Waiting")),
    "failed": ("danger", gettext_lazy("Failed")),
    "invalid": ("warning", gettext_lazy("Invalid")),
}


register.filter("stored_text", stored_text)
register.filter("translated", translated_message)
register.simple_tag(moment)
register.filter("moment", moment)
register.filter("size_text", size_text)
register.filter("zone_title", zone_title)


def number_in(value: float | str | None) -> float | None:
    """The number; None for "", which Django passes to filters for an undefined variable."""
    return None if isinstance(value, str) and not value else cast("float | None", value)


def _decimals_in(context: Context, competition: Competition | None) -> int:
    """The decimals of scores of a competition, by default the page's."""
    shown = competition or getattr(context.get("page_context"), "competition", None) or context.get("competition")
    return shown.score_decimals if isinstance(shown, Competition) else numbers.DECIMALS


@register.simple_tag(takes_context=True)
def score_text(context: Context, value: float | str | None, competition: Competition | None = None) -> str:
    """A score with the decimals of its competition; “–” without one."""
    number = number_in(value)
    if number is None or not math.isfinite(number):
        return "–"
    return numbers.number_text(number, _decimals_in(context, competition))


@register.simple_tag(takes_context=True)
def interval(context: Context, score: Score | str | None) -> str:
    """The 95 % interval of a score as text; "" if it is unknown."""
    if not isinstance(score, Score):
        return ""
    return numbers.interval_text(score.low, score.high, score.standard_error, _decimals_in(context, None))


@register.simple_tag(takes_context=True)
def score_difference(context: Context, value: float) -> str:
    """The size of a difference between scores."""
    return numbers.difference_text(value, _decimals_in(context, None))


@register.filter(name="points")
def grade_points(value: float | str | None, decimals: int) -> str:
    """Points of a grade with this number of decimals; “–” without any."""
    return numbers.points_text(number_in(value), decimals)


@register.filter
def three_digits(value: float | str | None) -> str:
    """A number with three significant digits, for explanations; “–” without one."""
    number = number_in(value)
    if number is None:
        return "–"
    rounded = float(f"{number + 0.0:.3g}")
    return numbers.number_text(rounded, 0) if abs(rounded) >= 1000 else f"{rounded:g}"


@register.filter
def short(value: float | str | None) -> str:
    """A number that a person chose, without meaningless digits; “–” without one."""
    number = number_in(value)
    return "–" if number is None else numbers.rounded_text(number)


@register.simple_tag(takes_context=True)
def score(context: Context, value: float | str | None, competition: Competition | None = None) -> SafeString:
    """A score with the decimals of its competition; all its digits show on hover."""
    number, text = number_in(value), score_text(context, value, competition)
    if number is None:
        return format_html('<span class="score">{}</span>', text)
    return format_html('<span class="score" title="{}">{}</span>', repr(number), text)


@register.filter
def without_sign(number: float) -> float:
    """A number without its sign."""
    return abs(number)


@register.filter
def percent(share: float) -> str:
    """A share (0–1) in percent."""
    return f"{100 * share:.1f} %"


@register.filter
def markdown(text: str | None) -> SafeString:
    return render_markdown(text or "")


@register.filter
def line(text: str | None) -> SafeString:
    return render_markdown_line(text or "")


register.filter("in_words", metric_display.parameter_value_text)
register.filter("kind_words", metric_display.parameter_kind_text)
register.filter("allowed", metric_display.allowed_values_text)
register.filter("in_plain", metric_display.problem_label)
register.filter("fault_title", metric_display.fault_title)


@register.filter
def formula(latex: str | None) -> SafeString:
    return render_formula(latex or "")


@register.simple_tag
@lru_cache(maxsize=256)
def icon(name: str, size: int = 16) -> SafeString:
    """An icon of `icons.svg`, hidden from screen readers because there is always a text beside it."""
    return format_html(
        '<svg class="icon" aria-hidden="true" width="{}" height="{}" viewBox="0 0 24 24">'
        '<use href="{}?v={}#{}"/></svg>',
        size, size, static("leaderboard/icons.svg"), __version__, name,
    )  # fmt: skip


register.simple_tag(drawings.avatar)


@register.simple_tag
def cover(competition: Competition, style: str = "tile-cover") -> SafeString:
    return drawings.cover(competition.slug, style)


@register.simple_tag(takes_context=True)
def current(context: Context, *names: str) -> SafeString:
    """`aria-current="page"` on the link of the page shown; the names are URL names."""
    match = getattr(context.get("request"), "resolver_match", None)
    return mark_safe(' aria-current="page"') if match and match.url_name in names else mark_safe("")


@register.simple_tag(takes_context=True)
def next_here(context: Context) -> str:
    """`?next=` with this page, for links to sign-in pages; on those the `next` they have. "" for the home page."""
    request = context.get("request")
    if request is None or request.path == "/":
        return ""
    here = request.GET.get("next", "") if request.path.startswith("/accounts/") else request.get_full_path()
    return "?" + urlencode({"next": here}) if here else ""


@register.inclusion_tag("competitions/competition_tabs.html", takes_context=True)
def competition_tabs(context: Context, page_context: PageContext) -> dict[str, Any]:
    """The tabs over a page about one competition."""
    return {"tabs": navigation.tabs_of(page_context, _url_name(context))}


@register.inclusion_tag("competitions/page_switch.html", takes_context=True)
def page_switch(context: Context, page_context: PageContext) -> dict[str, Any]:
    """The pages of the current tab."""
    return {"pages": navigation.pages_of_tab(page_context, _url_name(context))}


def _url_name(context: Context) -> str:
    match = getattr(context.get("request"), "resolver_match", None)
    return (match.url_name or "") if match else ""


@register.simple_tag(takes_context=True)
def sort_head(context: Context, name: str, title: str, style: str = "") -> SafeString:
    """The head of a column that sorts the table: `?sort=name`, and `?sort=-name` the other way round."""
    parameters = context["request"].GET.copy()
    sort = parameters.get("sort", context.get("sort", ""))
    is_up, is_down = sort == name, sort == f"-{name}"
    parameters["sort"] = f"-{name}" if is_up else name
    parameters.pop("page", None)
    order = ' aria-sort="ascending"' if is_up else ' aria-sort="descending"' if is_down else ""
    return format_html(
        '<th scope="col" class="sortable {}"{}><a href="?{}">{}<span aria-hidden="true">{}</span></a></th>',
        style, SafeString(order), parameters.urlencode(), title, "▲" if is_up else "▼" if is_down else "",
    )  # fmt: skip


@register.simple_tag
def state_badge(state: str, paused_at: object = None) -> SafeString:
    kind, text = ("warning", _("Paused")) if paused_at and state == "live" else STATES[state]
    return format_html('<span class="badge {}">{}</span>', kind, text)


@register.simple_tag
def status_badge(status: str) -> SafeString:
    """The status of a file, for hosts."""
    kind, text = OUTCOMES[status]
    return format_html('<span class="badge {}">{}</span>', kind, text)


@register.simple_tag
def metric_choice(metric: metrics.Metric, chosen: str | None, reason: str = "") -> SafeString:
    """A metric as a radio button on a card, with the reason why it fits or not, else with the columns that it reads."""
    detail = reason or translated_message(metric.columns)
    title, summary = translated_message(metric.title), translated_message(metric.summary)
    return _metric_card(metric.key, metric.key == chosen, title, summary, detail)


# `typed`, because `SafeString` and `str` with the same characters are equal but rendered differently.
@lru_cache(maxsize=1024, typed=True)
def _metric_card(key: str, is_chosen: bool, title: str, summary: str | None, detail: str) -> SafeString:
    return format_html(
        '<label class="choice-card"><input type="radio" name="metric" value="{}"{} /><span><strong>{}</strong>'
        '<span class="muted small">{}</span><span class="muted tiny">{}</span></span></label>\n',
        key,
        SafeString(" checked" if is_chosen else ""),
        title,
        render_markdown_line(summary or ""),
        detail,
    )


@register.simple_tag
def join_code(competition: Competition) -> str:
    """The join code in two groups of characters for reading aloud; the form accepts it with and without the space."""
    code = competition.admission.join_code
    middle = (len(code) + 1) // 2
    return f"{code[:middle]} {code[middle:]}" if len(code) > 5 else code


@register.filter
def better(metric: metrics.Metric) -> str:
    return _("higher is better") if metric.direction == "maximize" else _("lower is better")


@register.filter
def quoted(text: str | None) -> str:
    """A text from a file for a message: at most `QUOTED` characters, invisible and direction-changing ones escaped."""
    if text is None:
        return "–"
    seen = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:QUOTED])
    return seen + "…" * (len(text) > QUOTED)


@register.filter
def kind(field: BoundField) -> str:
    """The layout of a form field: `check`, `group` (several inputs) or `plain`."""
    widget = field.field.widget
    if isinstance(widget, forms.CheckboxInput):
        return "check"
    if isinstance(widget, (forms.RadioSelect, forms.CheckboxSelectMultiple)):
        return "group"
    return "plain"


@register.filter
def control(field: BoundField) -> SafeString:
    """A field's widget, linked to its help text and first error by `aria-describedby`."""
    described = [f"{field.auto_id}_helptext"] if field.help_text else []
    attrs: dict[str, Any] = {}
    if field.field.widget.attrs.get("autocomplete") in AUTOCOMPLETE_FROM_LABEL:
        field.field.widget.attrs.pop("placeholder", None)
    if field.errors:
        described.append(f"{field.auto_id}_error")
        attrs["aria-invalid"] = "true"
    if described:
        attrs["aria-describedby"] = " ".join(described)
    return field.as_widget(attrs=attrs)
