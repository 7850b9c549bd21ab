"""QR codes as SVG made on the server, for links on paper."""

from __future__ import annotations

import segno
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe


def qr_code(link: str) -> SafeString:
    """A QR code of a link for paper, hidden from screen readers because the page also shows the link as text."""
    drawn = segno.make(link, error="m", micro=False).svg_inline(omitsize=True, svgclass="qr", lineclass=None)
    return format_html('<span aria-hidden="true">{}</span>', mark_safe(drawn))  # noqa: S308 - it is dots alone
