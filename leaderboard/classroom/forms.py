"""Forms about people: roles, admission, class list, accounts, extensions; for students, joining and the team's name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.accounts.forms import USERNAME_RULES, SignUpForm
from leaderboard.accounts.models import User
from leaderboard.common.display_time import zone_title
from leaderboard.competitions.forms import MomentField, moment_in
from leaderboard.competitions.models import Competition, Course, Extension, Membership, Team

from . import joining, queries, roster_files
from .models import HostingRole
from .teams import CannotJoin

PLAIN = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}


class RoleForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("Username or e-mail address"),
        max_length=254,
        widget=forms.TextInput(attrs=PLAIN),
        help_text=gettext_lazy(
            "The person needs an account, and has to have confirmed this address. Both roles see the answers and"
            " all scores."
        ),
    )
    role = forms.ChoiceField(
        label=gettext_lazy("Role"),
        choices=[
            (
                HostingRole.ASSISTANT.value,
                gettext_lazy("Assistant: sees everything, can help, not decide"),
            ),
            (HostingRole.HOST.value, gettext_lazy("Host: can do everything you can")),
        ],
        initial=HostingRole.ASSISTANT.value,
    )


class CourseForm(forms.Form):
    """Choice among the host's other courses, or a new one."""

    course = forms.ModelChoiceField(
        label=gettext_lazy("Course"),
        queryset=Course.objects.none(),
        required=False,
        empty_label=gettext_lazy("New course"),
    )

    def __init__(self, user: User, competition: Competition, data: QueryDict | None = None) -> None:
        super().__init__(data)
        others = Course.hosted_by(user).exclude(pk=competition.course_id)
        cast("forms.ModelChoiceField[Course]", self.fields["course"]).queryset = others


class RosterForm(forms.Form):
    """A class list as a file or as pasted text."""

    file = forms.FileField(
        label=gettext_lazy("Roster file"),
        required=False,
        max_length=1000,
        error_messages={"empty": gettext_lazy("This file is empty.")},
    )
    text = forms.CharField(
        label=gettext_lazy("Or paste it here"),
        required=False,
        strip=False,
        max_length=roster_files.MAX_ROSTER_BYTES,
        widget=forms.Textarea(attrs={**PLAIN, "rows": 6, "placeholder": "Name, Email, Section"}),
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file is not None and file.size > roster_files.MAX_ROSTER_BYTES:
            size = roster_files.MAX_ROSTER_BYTES // 1_000_000
            raise ValidationError(_("This file is larger than {size} MB, the limit for a roster.").format(size=size))
        return file

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if not self.errors and not cleaned.get("file") and not cleaned.get("text", "").strip():
            self.add_error("file", _("Choose a file or paste the list."))
        return cleaned

    @property
    def file_and_content(self) -> tuple[str, bytes | str]:
        """(file name, content); the name is "" for pasted text."""
        if file := self.cleaned_data["file"]:
            return file.name or "", file.read()
        return "", self.cleaned_data["text"]


class LinkAccountsForm(forms.Form):
    """One field per account for its student on the roster, typed as a proposed line, address, number or name.

    After validation `pairs` maps memberships to roster entries.
    """

    def __init__(self, guests: Iterable[queries.UnlinkedMember], waiting: queries.UnlinkedEntries, *args: Any) -> None:
        super().__init__(*args)
        self.waiting = waiting
        self.pairs: dict[int, int] = {}
        for guest in guests:
            self.fields[f"who-{guest.membership.pk}"] = forms.CharField(
                label=guest.membership.user.get_username(),
                required=False,
                max_length=300,
                initial=queries.entry_label(guest.guess) if guest.guess else "",
                widget=forms.TextInput(attrs={"list": "roster", "autocomplete": "off"}),
            )

    def clean(self) -> dict[str, Any]:
        for name, text in list(self.cleaned_data.items()):
            entry = self.waiting.find_entry(text)
            if text and entry is None:
                fault = _("“%(text)s” isn't exactly one person of the list. Choose one.")
                self.add_error(name, ValidationError(fault % {"text": text}))
            elif entry and entry.pk in self.pairs.values():
                self.add_error(name, _("Two accounts for one person. Leave one empty."))
            elif entry:
                self.pairs[int(name.removeprefix("who-"))] = entry.pk
        if not (self.pairs or self.errors):
            self.add_error(None, _("Match at least one account."))
        return self.cleaned_data


class DeadlineForm(forms.Form):
    """A later deadline, entered in the competition's time zone."""

    closes_at = MomentField(label=gettext_lazy("New deadline"))

    def __init__(self, competition: Competition, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.competition = competition

    def clean_closes_at(self) -> datetime | None:
        local_time = self.cleaned_data["closes_at"]
        return moment_in(local_time, self.competition.zone) if local_time else None


class MovedDeadlineForm(DeadlineForm):
    """The deadline of the competition, and whether its students are notified of the change."""

    notifies = forms.BooleanField(label=gettext_lazy("Tell the students"), required=False)


class ExtensionForm(DeadlineForm):
    """Extra attempts, and a later deadline or an empty field."""

    extra_attempts = forms.IntegerField(
        label=gettext_lazy("Extra attempts"),
        required=False,
        min_value=0,
        max_value=1000,
        help_text=gettext_lazy("On top of the daily attempts, for this team only."),
    )
    closes_at = MomentField(label=gettext_lazy("New deadline"), required=False)
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=Extension._meta.get_field("reason").max_length,
        help_text=gettext_lazy("Shown to the team and the other hosts."),
        error_messages={"required": gettext_lazy("Give a reason.")},
    )
    field_order = ("extra_attempts", "closes_at", "reason")

    def __init__(self, competition: Competition, *args: Any, **kwargs: Any) -> None:
        super().__init__(competition, *args, **kwargs)
        self.fields["closes_at"].help_text = _(
            "In the time zone %(zone)s. Leave empty to keep the regular deadline."
        ) % {"zone": zone_title(competition.zone)}

    def clean_extra_attempts(self) -> int:
        return self.cleaned_data["extra_attempts"] or 0


class TeamForm(forms.Form):
    """Choice among the other teams that have room for one more member."""

    team = forms.ModelChoiceField(label=gettext_lazy("Other team"), queryset=Team.objects.none())

    def __init__(self, member: Membership, data: QueryDict | None = None) -> None:
        super().__init__(data)
        competition = member.competition
        others = competition.teams.filter(disqualified_at=None).exclude(pk=member.team_id)
        others = others.annotate(members=Count("memberships"))
        field = cast("forms.ModelChoiceField[Team]", self.fields["team"])
        field.queryset = others.filter(members__gte=1, members__lt=competition.limits.team_size)


# --- students ---------------------------------------------------------------------------------------------------


class CodeForm(forms.Form):
    code = forms.CharField(
        label=gettext_lazy("Join code"),
        max_length=40,
        help_text=gettext_lazy("Eight letters and digits from your teacher. Spaces, hyphens and case don't matter."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "characters", "spellcheck": "false"}),
    )


class RulesForm(forms.Form):
    """A checkbox that must be ticked; without rules an empty form."""

    accepted = forms.BooleanField(
        label=gettext_lazy("I have read the rules and accept them"),
        error_messages={"required": gettext_lazy("Accept the rules to take part.")},
    )

    def __init__(self, *args: Any, has_rules: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not has_rules:
            del self.fields["accepted"]


class JoinSignUpForm(SignUpForm):
    """An account, the rules and joining in one form. `enter` makes the new account a member; it may raise
    `CannotJoin`, and then `membership` stays None: the person has an account and reads why on the join page."""

    accepted = RulesForm.base_fields["accepted"]
    field_order = (*SignUpForm.field_order, "accepted")
    membership: Membership | None = None

    def __init__(
        self, *args: Any, competition: Competition, enter: Callable[[User], Membership], is_listed: bool, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.competition, self.enter = competition, enter
        self.fields["full_name"].required = True
        if is_listed:
            del self.fields["full_name"]
        if not competition.rules.strip():
            del self.fields["accepted"]
        if competition.board.uses_pseudonyms:
            seen = _("Your team and your teachers see it; others see a pseudonym.")
            self.fields["username"].help_text = f"{USERNAME_RULES} {seen}"

    def signup(self, request: HttpRequest, user: User) -> None:
        with suppress(CannotJoin), transaction.atomic():
            self.membership = self.enter(user)
            joining.accept_rules(membership=self.membership)


class TeamNameForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("Team name"), max_length=60, help_text=gettext_lazy("Everyone sees it on the leaderboard.")
    )

    def __init__(self, *args: Any, competition: Competition, is_on_board: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if competition.board.uses_pseudonyms or not is_on_board:
            self.fields["name"].help_text = gettext_lazy("Your team and the hosts see it.")
