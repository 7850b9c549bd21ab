"""A select of hundreds of choices."""

from __future__ import annotations

from typing import Any

from django import forms
from django.forms.utils import flatatt
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe


class LongSelect(forms.Select):
    """Written at once, and without groups: Django renders a template for each option, which makes a list of all time
    zones dearer than the page around it."""

    def render(self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None) -> SafeString:
        chosen = set(self.format_value(value))
        selected = mark_safe(" selected")
        options = format_html_join(
            "\n",
            '<option value="{}"{}>{}</option>',
            ((key, selected if str(key) in chosen else "", label) for key, label in self.choices),
        )
        own = self.build_attrs(self.attrs, {"name": name, **(attrs or {})})
        return format_html("<select{}>\n{}\n</select>", flatatt(own), options)
