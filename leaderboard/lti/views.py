"""Pages of launches from learning platforms, of connecting an activity, and of platforms and their registration."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from typing import Any, cast

from csp.decorators import csp_replace
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, logout
from django.contrib.auth.views import redirect_to_login
from django.forms import modelform_factory
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import cache_control
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from leaderboard.accounts.people import set_can_host
from leaderboard.accounts.personal_data import CannotDelete
from leaderboard.common.access import SiteAudience, open_page_to
from leaderboard.common.responses import absolute_url, posted_number, see_other, signed_in_user
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.models import Competition
from leaderboard.competitions.services import CannotHost

from . import launching, marks, people, places, platform_services, registering
from .launching import KeysNeeded, LaunchRefused
from .models import TICKS, LtiLink, LtiPerson, Platform

log = logging.getLogger(__name__)

BACKEND = "leaderboard.accounts.backend.OneHashBackend"
BROWSER_SECONDS = 86_400
# What the session keeps of a launch: the activity, the account that it named, and the person who has another one.
LINK, NAMED, PERSON = "lti_link", "lti_account", "lti_person"
NOT_LAUNCHED = gettext_lazy("Open the activity in your learning platform first.")
Decorator = Callable[[Callable[..., HttpResponse]], Callable[..., HttpResponse]]
PlatformForm = modelform_factory(Platform, fields=["name", *TICKS])
framed = cast(Decorator, csp_replace({"frame-ancestors": ["*"]}))


def _browser_cookie() -> str:
    """Browsers take a cookie with the prefix from this host alone, and on encrypted pages alone."""
    return "__Host-lti" if settings.IS_HTTPS else "lti"


def _refuse(request: HttpRequest, refused: LaunchRefused) -> HttpResponse:
    """The page of a refused launch, with a code for the log; the session stays as it was."""
    code = secrets.token_hex(3)
    log.warning("a launch was refused: %s", refused, extra={"code": code})
    response = render(request, "lti/refused.html", {"refused": refused, "code": code}, status=refused.status)
    response["Cache-Control"] = "private, no-store"
    return response


# --- launch -----------------------------------------------------------------------------------------------------


@csrf_exempt
@require_http_methods(["GET", "POST"])
@open_page_to(SiteAudience.ANYONE)
def lti_login(request: HttpRequest) -> HttpResponse:
    """The beginning of a launch: on to the platform, which asks its user and sends the browser back.

    In a frame, where browsers keep this site's cookies back, a page whose one link begins again in a window.
    """
    asked = {name: str(value) for name, value in (request.POST or request.GET).items()}
    if request.headers.get("Sec-Fetch-Dest") in ("iframe", "frame"):
        return _new_window(request, f"{reverse('lti_login')}?{urlencode(asked)}")
    browser = request.COOKIES.get(_browser_cookie(), "") or secrets.token_urlsafe(32)
    site = settings.SITE_URL or f"{request.scheme}://{request.get_host()}"
    try:
        address = launching.begin_login(asked, site=site, browser=browser)
    except LaunchRefused as refused:
        return _refuse(request, refused)
    response = HttpResponseRedirect(address, headers={"Cache-Control": "private, no-store"})
    is_secure = settings.IS_HTTPS
    # The platform's form comes from another site; without https browsers refuse cookies for that.
    facts: dict[str, Any] = {"secure": is_secure, "samesite": "None" if is_secure else "Lax"}
    response.set_cookie(_browser_cookie(), browser, max_age=BROWSER_SECONDS, httponly=True, **facts)
    return response


@xframe_options_exempt
@framed
def _new_window(request: HttpRequest, address: str) -> HttpResponse:
    """A page in the platform's frame with one link; it reads no cookie and has neither form nor script."""
    context = {"heading": _("Leaderboard opens in its own window"), "address": address}
    return render(request, "lti/framed.html", context)


@csrf_exempt
@require_POST
@open_page_to(SiteAudience.ANYONE)
def lti_launch(request: HttpRequest) -> HttpResponse:
    """The end of a launch: sign the person in and show their place. A refusal changes no session."""
    if len(request.body) > launching.MAX_LAUNCH_BYTES:
        return _refuse(request, LaunchRefused("size"))
    form = {name: request.POST.get(name, "") for name in ("id_token", "state")}
    if request.POST.get("error"):
        return _refuse(request, LaunchRefused("platform's error"))
    try:
        launch = launching.read_launch(form, browser=request.COOKIES.get(_browser_cookie(), ""))
        arrival = places.arrive(launch)
    except KeysNeeded:
        # 400, because it may be no launch at all; the login is not used up, so the form can be sent again.
        context = {**form, "is_again": "again" in request.POST}
        return render(request, "lti/keys_needed.html", context, status=400)
    except LaunchRefused as refused:
        return _refuse(request, refused)
    return _enter(request, arrival)


def _enter(request: HttpRequest, arrival: places.Arrival) -> HttpResponse:
    """A new session for the person, and the redirect to their place."""
    user, link = arrival.user, arrival.link
    before = request.user if request.user.is_authenticated else None
    if people.must_sign_in(user):
        if before is None or before.pk != user.pk:
            logout(request)
    else:
        logout(request)
        login(request, user, backend=BACKEND)
    request.session[LINK], request.session[NAMED] = link.pk, user.pk
    if before is not None and before.pk != user.pk:
        messages.info(request, _("You are now signed in as %(name)s.") % {"name": user})
    if arrival.notice:
        messages.warning(request, arrival.notice)
    if arrival.is_new and arrival.path != reverse("lti_connect"):
        words = _("Already have an account here? Sign in to connect it.")
        messages.info(request, format_html('<a href="{}">{}</a>', reverse("lti_account"), words))
    if request.user.is_anonymous:
        messages.info(request, _("Sign in with your password and second factor to go on."))
        return redirect_to_login(arrival.path)
    return HttpResponseRedirect(arrival.path, status=303)


@require_safe
@cache_control(public=True, max_age=3600)
@open_page_to(SiteAudience.ANYONE)
def lti_jwks(request: HttpRequest) -> HttpResponse:
    """The public key by which platforms check this site's requests."""
    return JsonResponse(platform_services.public_keys())


# --- connecting an activity, and an account that the person had before ------------------------------------------


@open_page_to(SiteAudience.SIGNED_IN)
def lti_account(request: HttpRequest) -> HttpResponse:
    """On to signing in with an earlier account: out of the one that the launch made, while the session keeps the
    launch."""
    user = signed_in_user(request.user)
    link = _launched_link(request)
    person = user.lti_people.filter(platform=link.platform).order_by("-pk").first()
    if person is None or request.session.get(NAMED) != user.pk or user.has_usable_password():
        raise Http404(NOT_LAUNCHED)
    logout(request)
    request.session[LINK], request.session[PERSON], request.session[NAMED] = link.pk, person.pk, user.pk
    return redirect_to_login(reverse("lti_connect"))


@open_page_to(SiteAudience.SIGNED_IN)
def lti_connect(request: HttpRequest) -> HttpResponse:
    """The choice of the competition for the activity from which the teacher has just come. After `lti_account` also
    the question whether the person of the launch is the one who has signed in now."""
    user, link = signed_in_user(request.user), _launched_link(request)
    named = request.session.get(NAMED)
    launched = LtiPerson.objects.filter(pk=request.session.get(PERSON, 0), user=named)
    person = None if named == user.pk else launched.select_related("user", "platform").first()
    if person is None and named != user.pk:
        raise Http404(NOT_LAUNCHED)
    if person is None and link.open_competition:
        return see_other("overview", slug=link.open_competition.slug)
    may_make = person is None and places.may_make_competitions(user, link)
    competitions = [] if link.open_competition else places.competitions_to_connect(user, link)
    if request.method == "POST":
        return _connect(request, person, link, competitions, may_make=may_make)
    context = {"link": link, "person": person, "competitions": competitions, "may_make": may_make}
    return render(request, "lti/connect.html", context)


def _launched_link(request: HttpRequest) -> LtiLink:
    """The activity of the last launch in this session."""
    links = LtiLink.objects.select_related("deployment__platform", "competition__course")
    link = links.filter(pk=request.session.get(LINK, 0)).first()
    if link is None:
        raise Http404(NOT_LAUNCHED)
    return link


def _connect(
    request: HttpRequest, person: LtiPerson | None, link: LtiLink, competitions: list[Competition], *, may_make: bool
) -> HttpResponse:
    user, chosen = signed_in_user(request.user), request.POST.get("competition", "")
    if person is not None:
        try:
            people.connect_account(person=person, user=user)
        except (LaunchRefused, CannotDelete) as error:
            messages.error(request, _("This activity opens another account that is in use. Ask your administrator."))
            log.warning("an account was not connected: %s", type(error).__name__)
            return redirect("home")
        request.session[NAMED] = user.pk
        open_competition = link.open_competition
        if open_competition or not chosen:
            messages.success(request, _("Connected. The activity now opens this account."))
        if open_competition:
            if notice := places.enter(user=user, competition=open_competition):
                messages.warning(request, notice)
            return see_other("overview", slug=open_competition.slug)
        if not chosen:
            return see_other("lti_connect")
    if chosen == "new" and may_make:
        if not user.is_host:
            set_can_host(account=user, can_host=True, user=None)
        return see_other("host_new")
    competition = next((one for one in competitions if one.slug == chosen), None)
    try:
        places.connect(link=link, competition=competition, user=user)
    except CannotHost as error:
        messages.error(request, str(error))
        return see_other("lti_connect")
    messages.success(request, _("Connected. Students who open the activity are in the competition."))
    return see_other("host_competition", slug=chosen)


@open_to(Audience.HOSTS)
def host_platform_roster(request: HttpRequest, page_context: PageContext, link_id: int) -> HttpResponse:
    """Have the platform's class list read into the preview of an import."""
    competition = page_context.competition
    if request.method == "POST":
        places.ask_for_roster(get_object_or_404(LtiLink, pk=link_id, competition=competition))
        messages.info(request, _("Reading the roster. It appears here in a moment."))
    return see_other("host_roster", slug=competition.slug)


@open_to(Audience.HOSTS)
def host_send_again(request: HttpRequest, page_context: PageContext, link_id: int) -> HttpResponse:
    """Send the refused grades of a platform's column again."""
    competition = page_context.competition
    if request.method == "POST":
        number = marks.send_again(link=get_object_or_404(LtiLink, pk=link_id, competition=competition))
        messages.info(request, _("Sending %(number)s grades again.") % {"number": number})
    return see_other("host_grade_release", slug=competition.slug)


# --- platforms --------------------------------------------------------------------------------------------------


@open_page_to(SiteAudience.OPERATORS)
def lti_platforms(request: HttpRequest) -> HttpResponse:
    """Operators approve platforms and deployments, switch platforms off, and make registration links."""
    user, action = signed_in_user(request.user), request.POST.get("action", "")
    if request.method == "POST" and action == "new":
        link = registering.new_link()
        return _platforms_page(request, link=link, status=201 if link else 409)
    if request.method == "POST":
        platform = get_object_or_404(Platform, pk=posted_number(request.POST.get("platform", "")))
        form = PlatformForm(request.POST, instance=platform)
        if action == "approve" and form.is_valid():
            registering.approve_platform(platform=platform, user=user)
            messages.success(request, _("Approved: %(name)s.") % {"name": platform})
        elif action == "deployment":
            number = posted_number(request.POST.get("deployment", ""))
            registering.approve_deployment(platform=platform, number=number, user=user)
            messages.success(request, _("Deployment approved."))
        elif action == "off":
            registering.switch_off(platform=platform, user=user)
            messages.success(request, _("Switched off: %(name)s.") % {"name": platform})
        return see_other("lti_platforms")
    return _platforms_page(request)


def _platforms_page(request: HttpRequest, *, link: str = "", status: int = 200) -> HttpResponse:
    names = {"lti_login": _("Login"), "lti_launch": _("Launch and redirect"), "lti_jwks": _("Public keys")}
    context = {
        "platforms": [
            (platform, PlatformForm(instance=platform, auto_id=f"%s-{platform.pk}"))
            for platform in Platform.objects.prefetch_related("deployments")
        ],
        "addresses": {label: absolute_url(request, name) for name, label in names.items()},
        "site_url": settings.SITE_URL,
        "link": link,
    }
    return render(request, "lti/platforms.html", context, status=status)


@require_safe
@open_page_to(SiteAudience.ANYONE)
@xframe_options_exempt
@framed
def lti_register(request: HttpRequest, code: str) -> HttpResponse:
    """Register a platform by a one-time link. The page looks again (`seen`) while a task asks the platform.

    Platforms show it in a frame; it reads no cookie and has no form. The link is used up by this GET, because platforms
    open it in this way. An operator may look at it before.
    """
    registration = registering.registration_of(code)
    address, token = (request.GET.get(name, "") for name in ("openid_configuration", "registration_token"))
    if registration is not None and "openid_configuration" in request.GET:
        registration = registering.begin_registration(registration, configuration_url=address, token=token)
    elif registration is not None and (registration.used_at is None) == ("seen" in request.GET):
        registration = None
    state, problem = (registration.state, registration.problem) if registration else ("gone", "")
    heading, text = registering.TEXTS[state]
    context = {"heading": heading, "text": _(problem) if problem else text, "is_over": state == "done"}
    response = render(request, "lti/framed.html", context, status=400 if state == "gone" else 200)
    response["Cache-Control"] = "no-store"
    if state == "waiting":
        response["Refresh"] = f"2; url={request.path}?seen"
    return response
