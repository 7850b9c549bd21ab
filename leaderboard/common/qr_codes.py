"""QR codes as SVG made on the server, for links on paper."""

from __future__ import annotations

import segno
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe


def qr_code(link: str) -> SafeString:
    """A picture of a link that a telephone reads from paper; the page shows the link as text, too."""
    drawn = segno.make(link, error="m", micro=False).svg_inline(omitsize=True, svgclass="qr", lineclass=None)
    return format_html('<span aria-hidden="true">{}</span>', mark_safe(drawn))  # noqa: S308 - it is dots alone
