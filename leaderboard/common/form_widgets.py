"""Form widgets: a select with hundreds of options."""

from __future__ import annotations

from collections.abc import Iterable, Set
from functools import lru_cache
from typing import Any

from django import forms
from django.forms.utils import flatatt
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe


class LongSelect(forms.Select):
    """A select rendered in one piece: Django renders a template for each option, so that a list of all time zones or
    metrics would cost more than the page around it."""

    def render(self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None) -> SafeString:
        chosen = set(self.format_value(value))
        parts: list[SafeString] = []
        for key, label in self.choices:
            if isinstance(label, (list, tuple)):
                group = (
                    format_html('<optgroup label="{}">', key),
                    _options_html(label, chosen),
                    mark_safe("</optgroup>"),
                )
                parts.extend(group)
            else:
                parts.append(_options_html([(key, label)], chosen))
        own = flatatt(self.build_attrs(self.attrs, attrs))
        return format_html('<select name="{}"{}>\n{}\n</select>', name, own, mark_safe("\n".join(parts)))  # noqa: S308


def _options_html(choices: Iterable[tuple[Any, Any]], chosen: Set[str]) -> SafeString:
    # Labels may be lazy translations, so they are evaluated here, before the cache.
    made = (_option_html(str(key), str(label), str(key) in chosen) for key, label in choices)
    return mark_safe("\n".join(made))  # noqa: S308


# `typed`, because safe HTML equals the same text that is not safe, and must not be mixed up with it.
@lru_cache(maxsize=4096, typed=True)
def _option_html(key: str, label: str, is_chosen: bool) -> SafeString:
    return format_html('<option value="{}"{}>{}</option>', key, SafeString(" selected" if is_chosen else ""), label)
