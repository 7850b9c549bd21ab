"""Pages of the site itself: health, theme, first-run setup, status, guides.

The status page shows what waits, the workers, and the result of the last consistency checks.

Downloads: the metrics library as a wheel for pip, and the command line of this site.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, password_validation
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import mark_safe
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters

from leaderboard.accounts import personal_data
from leaderboard.accounts.models import SetupLink, User
from leaderboard.common import folders
from leaderboard.common.access import SiteAudience, open_page_to
from leaderboard.common.context_processors import THEMES
from leaderboard.common.made_files import find_wheel
from leaderboard.common.markdown import render_markdown
from leaderboard.common.responses import see_other

from . import demo, health

NOT_FOR_ROBOTS = ("/accounts/", "/admin/", "/api/", "/host/", "/join/", "/people/", "/setup/", "/status/")
YEAR = 365 * 24 * 3600
HEADING = re.compile(r"<h3>(.+?)</h3>")
IMAGE = re.compile(r"^!\[.*\]\(.*\)$", re.MULTILINE)  # pictures are for readers of the repository


@open_page_to(SiteAudience.ANYONE)
def healthz(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok", content_type="text/plain", headers={"Cache-Control": "no-store"})


@open_page_to(SiteAudience.ANYONE)
def healthz_deep(request: HttpRequest) -> JsonResponse:
    """Whether files can be scored, for external monitoring; 503 if not."""
    found = health.site_health()
    return JsonResponse(found.as_dict(), status=200 if found.is_able else 503, headers={"Cache-Control": "no-store"})


@open_page_to(SiteAudience.ANYONE)
def readyz(request: HttpRequest) -> JsonResponse:
    """Whether this web server may receive requests; 503 if not."""
    found = health.readiness()
    status = 200 if all(found.values()) else 503
    return JsonResponse({"ready": status == 200, **found}, status=status, headers={"Cache-Control": "no-store"})


@open_page_to(SiteAudience.ANYONE)
def robots(request: HttpRequest) -> HttpResponse:
    """Let search engines index public pages, but no pages for hosts, accounts or programs."""
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in NOT_FOR_ROBOTS)]
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain")


@open_page_to(SiteAudience.ANYONE)
def favicon(request: HttpRequest) -> HttpResponse:
    """The icon at the path where browsers look if a page names none."""
    return redirect(static("leaderboard/icon.svg"), permanent=True)


@open_page_to(SiteAudience.ANYONE)
def theme(request: HttpRequest) -> HttpResponse:
    """Set the theme to light or dark; any other value follows the system again."""
    response = redirect(_own_path(request.GET.get("next", "")))
    chosen = request.GET.get("to", "")
    if chosen in THEMES:
        response.set_cookie(
            "theme", chosen, max_age=YEAR, samesite="Lax", httponly=True, secure=settings.SESSION_COOKIE_SECURE
        )
    else:
        response.delete_cookie("theme", samesite="Lax")
    return response


def _own_path(target: str) -> str:
    """The target if it is a path of this site, else the front page, so that a link to this site cannot redirect
    elsewhere."""
    is_path = target.startswith("/") and url_has_allowed_host_and_scheme(target, allowed_hosts=None)
    return target if is_path else "/"


class OperatorForm(forms.ModelForm):  # type: ignore[type-arg]
    password = forms.CharField(
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        strip=False,
        help_text=gettext_lazy("At least eight characters. Not only digits, not a common password."),
    )

    class Meta:
        model = User
        fields = ("username", "email")
        help_texts = {"username": ""}
        widgets = {
            "username": forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"}),
            "email": forms.EmailInput(attrs={"autocomplete": "email"}),
        }

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.fields["email"].required = True

    def clean(self) -> dict[str, object] | None:
        cleaned = super().clean()
        user = User(username=self.cleaned_data.get("username", ""), email=self.cleaned_data.get("email", ""))
        if password := self.cleaned_data.get("password"):
            try:
                password_validation.validate_password(password, user)
            except ValidationError as error:
                self.add_error("password", error)
        return cleaned


@sensitive_post_parameters("password")
@open_page_to(SiteAudience.ANYONE)
def setup(request: HttpRequest, secret: str) -> HttpResponse:
    """The first run: the first visitor with the link from the terminal becomes the operator, and the link expires."""
    if not SetupLink.is_live(secret):
        return render(request, "operations/setup.html", {"is_used": True}, status=410)
    form = OperatorForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        operator = _create_operator(secret, form.cleaned_data)
        if operator is None:
            return render(request, "operations/setup.html", {"is_used": True}, status=410)
        login(request, operator)
        messages.success(request, _("Welcome, %(name)s. You're the administrator of this site.") % {"name": operator})
        return redirect("home")
    return render(request, "operations/setup.html", {"form": form}, status=422 if form.errors else 200)


def _create_operator(secret: str, given: dict[str, str]) -> User | None:
    """The new operator; None if another visitor used the link first."""
    try:
        with transaction.atomic():
            if not SetupLink.use(secret, timezone.now()):
                return None
            operator = User.objects.create_superuser(
                given["username"], given["email"], given["password"], can_host=True
            )
            personal_data.log_rights_changes(account=operator, before={}, user=operator)
            return operator
    except IntegrityError:
        return None


@open_page_to(SiteAudience.OPERATORS)
def status(request: HttpRequest) -> HttpResponse:
    return render(request, "operations/status.html", health.site_overview())


@open_page_to(SiteAudience.OPERATORS)
def remove_demo(request: HttpRequest) -> HttpResponse:
    """GET asks for confirmation, POST removes the demo competitions with their people."""
    if request.method != "POST":
        return render(request, "operations/remove_demo.html", {"competitions": demo.demo_competitions()})
    try:
        with demo.demo_lock():
            demo.remove_demo()
    except demo.DemoIsBusy:
        found = {"competitions": demo.demo_competitions(), "is_busy": True}
        return render(request, "operations/remove_demo.html", found, status=503)
    messages.success(request, _("The demo was removed."))
    return see_other("host")


@open_page_to(SiteAudience.ANYONE)
def prometheus(request: HttpRequest) -> HttpResponse:
    """Metrics for a monitoring program with this site's token; 404 for all others."""
    token = settings.PROMETHEUS_TOKEN
    if not token or not constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {token}"):
        raise Http404
    return HttpResponse(
        health.prometheus_text(),
        content_type="text/plain; version=0.0.4; charset=utf-8",
        headers={"Cache-Control": "no-store"},
    )


GUIDES = {
    "students": (
        "student-guide.md",
        gettext_lazy("For students"),
        gettext_lazy("Join, submit, choose final submissions."),
    ),
    "hosts": (
        "host-guide.md",
        gettext_lazy("For teachers"),
        gettext_lazy("A whole term, from answers to grades."),
    ),
    "files": (
        "inputs.md",
        gettext_lazy("Files"),
        gettext_lazy("What a submission looks like, and what each error means."),
    ),
    "ranking": (
        "ranking.md",
        gettext_lazy("Ranking"),
        gettext_lazy("How scores become ranks, ties and final results."),
    ),
    "command-line": (
        "command-line.md",
        gettext_lazy("Command line"),
        gettext_lazy("Submit from a terminal or a notebook."),
    ),
}


@open_page_to(SiteAudience.ANYONE)
def help(request: HttpRequest) -> HttpResponse:
    """The guides of this site."""
    return render(request, "operations/help.html", {"guides": GUIDES})


@open_page_to(SiteAudience.ANYONE)
def guide(request: HttpRequest, guide: str) -> HttpResponse:
    """One guide, rendered from its file in `docs/`."""
    if guide not in GUIDES:
        raise Http404
    file, title, _summary = GUIDES[guide]
    text = (folders.GUIDES / file).read_text(encoding="utf-8")
    body = IMAGE.sub("", text.partition("\n")[2])  # without its title, which the page has
    html = HEADING.sub(lambda found: f'<h2 id="{slugify(found[1])}">{found[1]}</h2>', render_markdown(body))
    return render(request, "operations/guide.html", {"title": title, "text": mark_safe(html)})  # noqa: S308 - ours


CLI = Path(__file__).resolve().with_name("command_line.py")


@open_page_to(SiteAudience.ANYONE)
def home_scorer(request: HttpRequest) -> HttpResponseBase:
    """Redirect to the current wheel, because pip reads the file's name from the URL."""
    wheel = find_wheel()
    if wheel is None:
        raise Http404  # pages of metrics say that it is not ready
    return redirect("home_scorer_file", wheel.name)


@open_page_to(SiteAudience.ANYONE)
def home_scorer_file(request: HttpRequest, name: str) -> HttpResponseBase:
    wheel = find_wheel()
    if wheel is None or name != wheel.name:
        raise Http404(_("This site now scores with a different version. Download the current file."))
    response = HttpResponse(wheel.read_bytes(), content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@open_page_to(SiteAudience.ANYONE)
def cli(request: HttpRequest) -> HttpResponseBase:
    """The command line program, with this site's address as its default."""
    site = settings.SITE_URL or request.build_absolute_uri("/").rstrip("/")
    text = CLI.read_text(encoding="utf-8").replace('SITE = ""', f"SITE = {json.dumps(site)}", 1)
    response = HttpResponse(text, content_type="text/x-python; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="cli.py"'
    return response
