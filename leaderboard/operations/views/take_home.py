"""What to take home: the library that scores here, as one file for pip, and the command line of this site."""

from __future__ import annotations

import json
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from leaderboard.common.access import SiteAudience, open_page_to
from leaderboard.common.library_wheel import build_wheel, name_wheel

CLI = Path(__file__).resolve().parents[1] / "command_line.py"


@open_page_to(SiteAudience.ANYONE)
def home_scorer(request: HttpRequest) -> HttpResponseBase:
    """To the file of today; pip reads its name from the address."""
    return redirect("home_scorer_file", name_wheel())


@open_page_to(SiteAudience.ANYONE)
def home_scorer_file(request: HttpRequest, name: str) -> HttpResponseBase:
    if name != name_wheel():
        raise Http404(_("The site scores with another version now; take the current file."))
    response = HttpResponse(build_wheel(), content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@open_page_to(SiteAudience.ANYONE)
def cli(request: HttpRequest) -> HttpResponseBase:
    """The command line, which knows the site that it came from."""
    site = (settings.SITE_URL or request.build_absolute_uri("/")).rstrip("/")
    text = CLI.read_text(encoding="utf-8").replace('SITE = ""', f"SITE = {json.dumps(site)}", 1)
    response = HttpResponse(text, content_type="text/x-python; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="cli.py"'
    return response
