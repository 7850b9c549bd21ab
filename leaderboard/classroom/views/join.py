"""Pages for joining by code, one-time link, team invitation or from the list; and the page of the rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from leaderboard.accounts.adapter import WAY_IN, remember_way_in
from leaderboard.accounts.models import User
from leaderboard.accounts.views import SignUpView
from leaderboard.common.access import SiteAudience, open_page_to
from leaderboard.common.responses import client_address_of, see_other, signed_in_user
from leaderboard.common.shared_cache import note_wrong_try
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.models import Competition, Membership, Team
from leaderboard.competitions.models.competition import normalize_code

from .. import courses, joining, teams
from ..forms import CodeForm, JoinSignUpForm, RulesForm
from ..joining import join_refusal
from ..models import RosterEntry, join_card_digest

WRONG_CODES_PER_PERSON = 10
# Higher, because a whole class may share one IP address.
WRONG_CODES_PER_ADDRESS = 100


@open_page_to(SiteAudience.ANYONE)
def join(request: HttpRequest) -> HttpResponse:
    """The form for a join code. With `?competition=`, a redirect if that competition needs no code."""
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        code = form.cleaned_data["code"].replace("/", "").replace(" ", "")
        if code.strip(".-"):
            return see_other("join_code", code=code)
        form.add_error("code", _("Enter the code."))
    competition = Competition.objects.visible_to(request.user).filter(slug=request.GET.get("competition", "")).first()
    if competition and competition.admission.is_listed and not competition.admission.needs_code:
        return redirect("join_open", slug=competition.slug)
    if request.user.is_authenticated and courses.may_enter(request.user, request.GET.get("competition", "")):
        return redirect("join_open", slug=request.GET["competition"])
    context = {"form": form, "competition": competition}
    return render(request, "classroom/join.html", context, status=422 if form.errors else 200)


def note_wrong_code(request: HttpRequest) -> None:
    """Count a wrong code or link, by account or else by IP address. A right one always works."""
    is_known = request.user.is_authenticated
    sender = request.user.pk if is_known else client_address_of(request)
    free_tries = WRONG_CODES_PER_PERSON if is_known else WRONG_CODES_PER_ADDRESS
    note_wrong_try(request, "code", sender, free_tries=free_tries)


@open_page_to(SiteAudience.ANYONE)
def join_code(request: HttpRequest, code: str) -> HttpResponse:
    """The page of a join code. Visitors without an account may open it: a valid code allows them to sign up."""
    competition = joining.competition_by_code(code)
    if competition is None and RosterEntry.find_by_join_card(join_card_digest(code), timezone.now()):
        return redirect("join_card", code=code)
    if competition is None:
        # The code of a competition before its launch opens a page about that; any other counts as a wrong try.
        early = (
            Competition.objects.outside_bin()
            .filter(admission__join_code__iexact=normalize_code(code), launched_at=None)
            .first()
        )
        if early is not None:
            return render(request, "classroom/join_early.html", {"competition": early}, status=404)
        note_wrong_code(request)
        form = CodeForm({"code": code})
        form.add_error("code", _("No competition has this code. Check it with your teacher."))
        return render(request, "classroom/join.html", {"form": form}, status=404)
    if request.user.is_anonymous:
        return _sign_up(request, competition, lambda user: joining.join_by_code(user=user, code=code), {"code": code})
    user = signed_in_user(request.user)
    return _join_page(
        request, competition, "classroom/join_code.html", lambda: joining.join_by_code(user=user, code=code)
    )


@open_page_to(SiteAudience.ANYONE)
def join_card(request: HttpRequest, code: str) -> HttpResponse:
    """The page of a student's one-time link: sign up if needed, then join as that student."""
    digest = join_card_digest(code)
    entry = RosterEntry.find_by_join_card(digest, at := timezone.now())
    competition = entry.competition_to_join(at) if entry else None
    if entry is None or competition is None or competition.launched_at is None:
        note_wrong_code(request)
        return render(request, "classroom/join_card.html", {"is_early": competition is not None}, status=404)
    if request.user.is_anonymous:
        enter = lambda user: joining.join_by_card(user=user, digest=digest)  # noqa: E731
        return _sign_up(request, competition, enter, {"join_card": digest}, is_listed=True)
    user = signed_in_user(request.user)
    membership = Membership.objects.filter(competition=competition, user=user).first()
    context: dict[str, object] = {
        "entry": entry,
        "membership": membership,
        "refusal": _closed_refusal(competition),
    }
    return _confirm_join(
        request,
        competition,
        "classroom/join_card.html",
        lambda: joining.join_by_card(user=user, digest=digest),
        context,
    )


@open_to(Audience.VISITORS)
def join_open(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """The page for joining without a code: a listed competition that needs none, or one from the class list."""
    competition = page_context.competition
    if request.user.is_anonymous:
        if not settings.OPEN_SIGN_UP or competition.admission.needs_code:
            return _signed_out_page(request, competition)
        return _sign_up(request, competition, lambda user: joining.join_openly(user=user, competition=competition), {})
    user = signed_in_user(request.user)
    if page_context.enters_from_list:
        from_list = lambda: courses.enter_from_course(user=user, competition=competition)  # noqa: E731
        return _join_page(request, competition, "classroom/join_open.html", from_list, is_listed=True)
    if competition.admission.needs_code and page_context.membership is None:
        return redirect("join")
    enter = lambda: joining.join_openly(user=user, competition=competition)  # noqa: E731
    return _join_page(request, competition, "classroom/join_open.html", enter)


@open_page_to(SiteAudience.ANYONE)
def invitation(request: HttpRequest, invitation: str) -> HttpResponse:
    team = joining.team_by_invitation(invitation)
    if team is None or team.competition.launched_at is None:
        note_wrong_code(request)
        return render(request, "classroom/invitation.html", status=404)
    if request.user.is_anonymous:
        join_team = lambda user: joining.join_by_invitation(user=user, invitation=invitation)  # noqa: E731
        return _sign_up(request, team.competition, join_team, {"invitation": invitation}, team=team)
    user = signed_in_user(request.user)
    membership = Membership.objects.select_related("team").filter(competition=team.competition, user=user).first()
    if membership and membership.team_id == team.pk:
        messages.info(request, _("You're already in “%(team)s”.") % {"team": team})
        return redirect("team", slug=team.competition.slug)
    context: dict[str, object] = {
        "team": team,
        "members": team.memberships.select_related("user"),
        "membership": membership,
        "refusal": joining.move_refusal(team, membership),
    }
    enter = lambda: joining.join_by_invitation(user=user, invitation=invitation)  # noqa: E731
    return _confirm_join(request, team.competition, "classroom/invitation.html", enter, context)


class JoinSignUpView(SignUpView):
    """An account and a membership by one form, for visitors who came by a valid code or link."""

    template_name = "classroom/join_sign_up.html"
    competition: Any = None
    enter: Any = None
    is_listed = False
    team: Any = None

    def get_form_class(self) -> type[JoinSignUpForm]:
        return JoinSignUpForm

    def get_form_kwargs(self) -> dict[str, Any]:
        more = {"competition": self.competition, "enter": self.enter, "is_listed": self.is_listed}
        return {**super().get_form_kwargs(), **more}

    def form_valid(self, form: JoinSignUpForm) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        if form.membership:
            _welcome(self.request, form.membership)
        return response

    def get_success_url(self) -> str:
        membership = self.get_form().membership
        return reverse("overview", args=[membership.competition.slug]) if membership else self.request.path

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """The competition, its hosts and the name of the team that invites; nothing else about other students."""
        return {
            **super().get_context_data(**kwargs),
            "competition": self.competition,
            "state": self.competition.state(timezone.now()),
            "host": _host_of(self.competition),
            "team": self.team,
        }


def _sign_up(
    request: HttpRequest,
    competition: Competition,
    enter: Callable[[User], Membership],
    way: dict[str, str],
    *,
    is_listed: bool = False,
    team: Team | None = None,
) -> HttpResponse:
    """The page on which a visitor makes an account and joins; without local passwords, or too late, to sign in.

    `way` is the code or link, which the caller has checked. Institutions and other pages find it in a cookie.
    `is_listed`: whether the class list has the person's name already.
    """
    refusal = _closed_refusal(competition)
    if refusal or not settings.LOCAL_PASSWORDS:
        host = _host_of(competition)
        response = _signed_out_page(request, competition, host=host, refusal=refusal, team=team)
    else:
        setattr(request, WAY_IN, way)
        view = JoinSignUpView.as_view(competition=competition, enter=enter, is_listed=is_listed, team=team)
        response = view(request)
    return remember_way_in(response, **way) if way else response


def _host_of(competition: Competition) -> str:
    """The contact, else the usernames of the hosts."""
    hosts = competition.hosts.filter(is_active=True).order_by("username").values_list("username", flat=True)
    return competition.contact or ", ".join(hosts)


def _signed_out_page(
    request: HttpRequest, competition: Competition, *, host: str = "", refusal: str = "", team: Team | None = None
) -> HttpResponse:
    """The page for visitors who must sign in first; `host` is shown to those with a code or link."""
    context = {"competition": competition, "state": competition.state(timezone.now())}
    context |= {"host": host, "refusal": refusal, "team": team}
    return render(request, "classroom/join_signed_out.html", context)


def _join_page(
    request: HttpRequest,
    competition: Competition,
    template: str,
    enter: Callable[[], Membership],
    *,
    is_listed: bool = False,
) -> HttpResponse:
    """The page that asks "join?"; a redirect for members, and a refusal for people who may not join."""
    if Membership.objects.filter(competition=competition, user=signed_in_user(request.user)).exists():
        messages.info(request, _("You've already joined “%(competition)s”.") % {"competition": competition})
        return redirect("overview", slug=competition.slug)
    refusal = _closed_refusal(competition)
    if not is_listed:
        refusal = refusal or join_refusal(competition, signed_in_user(request.user))
    return _confirm_join(request, competition, template, enter, {"refusal": refusal})


def _welcome(request: HttpRequest, membership: Membership) -> None:
    facts = {"competition": membership.competition, "team": membership.team}
    messages.success(request, _("Welcome to “%(competition)s”. Your team is “%(team)s”.") % facts)


def _closed_refusal(competition: Competition) -> str:
    has_closed = competition.state(timezone.now()) in ("closed", "revealed")
    return _("The deadline of this competition has passed.") if has_closed else ""


def _confirm_join(
    request: HttpRequest,
    competition: Competition,
    template: str,
    enter: Callable[[], Membership],
    context: dict[str, object],
) -> HttpResponse:
    """The question "join?" with the rules; by POST join through `enter`, accept the rules, redirect.

    `context["refusal"]` is the reason why the person cannot join, or "".
    """
    has_rules = bool(competition.rules.strip())
    form = RulesForm(request.POST if request.method == "POST" else None, has_rules=has_rules)
    if request.method == "POST" and form.is_valid() and not context["refusal"]:
        try:
            with transaction.atomic():
                membership = enter()
                joining.accept_rules(membership=membership)
        except teams.CannotJoin as error:
            context["refusal"] = str(error)
        else:
            _welcome(request, membership)
            return see_other("overview", slug=competition.slug)
    status = 200 if request.method != "POST" else 409 if context["refusal"] else 422
    context |= {"form": form, "competition": competition, "state": competition.state(timezone.now())}
    return render(request, template, context, status=status)


@open_to(Audience.VISITORS)
def rules(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """The page of the rules, where members accept them, again after each change."""
    if request.method == "POST":
        if page_context.membership is None:
            return redirect("join")
        joining.accept_rules(membership=page_context.membership)
        messages.success(request, _("You accepted the rules."))
        return redirect("data", slug=page_context.competition.slug)
    return render(request, "classroom/rules.html", {"page_context": page_context})
