"""A select of hundreds of choices, and a text with Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Set
from functools import lru_cache
from typing import Any

from django import forms
from django.forms.utils import flatatt
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe


class MarkdownText(forms.Textarea):
    """Markdown, with a preview below it (`templates/field.html`)."""

    has_preview = True


class LongSelect(forms.Select):
    """Written at once: Django renders a template for each option, which makes a list of all time zones, or a few lists
    of all metrics, dearer than the page around them."""

    def render(self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None) -> SafeString:
        chosen = set(self.format_value(value))
        parts: list[SafeString] = []
        for key, label in self.choices:
            if isinstance(label, (list, tuple)):
                group = format_html('<optgroup label="{}">', key), _options(label, chosen), mark_safe("</optgroup>")
                parts.extend(group)
            else:
                parts.append(_options([(key, label)], chosen))
        own = flatatt(self.build_attrs(self.attrs, attrs))
        return format_html('<select name="{}"{}>\n{}\n</select>', name, own, mark_safe("\n".join(parts)))  # noqa: S308


def _options(choices: Iterable[tuple[Any, Any]], chosen: Set[str]) -> SafeString:
    # A lazy text is another one in each language.
    made = (_option(str(key), str(label), str(key) in chosen) for key, label in choices)
    return mark_safe("\n".join(made))  # noqa: S308


# By type too: a text that is markup equals the same text that is none.
@lru_cache(maxsize=4096, typed=True)
def _option(key: str, label: str, is_chosen: bool) -> SafeString:
    return format_html('<option value="{}"{}>{}</option>', key, SafeString(" selected" if is_chosen else ""), label)
