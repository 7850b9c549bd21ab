"""The channel of a class in Slack, Discord or Teams."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.services import competitions
from leaderboard.competitions.views.host_responses import add_refusal, posted_data

from .. import chat_sending
from ..models import ChatEvent, Webhook

SHOWN = 10


class ChatForm(forms.Form):
    """Where messages go, and which. The address of a channel is replaced or left unchanged; it is never shown
    completely."""

    address = forms.CharField(
        label=gettext_lazy("Webhook URL"),
        required=False,
        max_length=600,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    events = forms.MultipleChoiceField(
        label=gettext_lazy("Post a message when"), choices=ChatEvent.choices, widget=forms.CheckboxSelectMultiple
    )
    is_on = forms.BooleanField(label=gettext_lazy("Post messages"), required=False)

    def __init__(self, hook: Webhook | None, data: Any = None) -> None:
        usual = {"events": hook.events, "is_on": hook.is_on} if hook else {"events": ChatEvent.values, "is_on": True}
        super().__init__(data, initial=usual)
        self.fields["address"].required = hook is None
        self.fields["address"].help_text = (
            _("Leave empty to keep %(address)s.") % {"address": hook.shown_address}
            if hook
            else _("The https URL of the service's incoming webhook (in Teams: of a workflow).")
        )


@open_to(Audience.HOSTS)
def host_chat(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Which channel hears of what, a test of it, and what became of the last messages."""
    competition, status = page_context.competition, 200
    hook = Webhook.objects.filter(competition=competition).first()
    form = ChatForm(hook, posted_data(request) if request.POST.get("action") == "save" else None)
    if request.method == "POST":
        status = 422
        try:
            if done := _do_chat_action(request, page_context, form):
                messages.success(request, done)
                return see_other("host_chat", slug=competition.slug)
        except competitions.CannotHost as error:
            form = form if form.is_bound else ChatForm(hook, {})
            status = add_refusal(form, error)
    sent_last = list(hook.messages.all()[:SHOWN]) if hook else []
    context = {
        "page_context": page_context,
        "form": form,
        "hook": hook,
        "lines": [{"message": one, "why": chat_sending.explain_outcome(one.last_problem)} for one in sent_last],
        # It is worth looking again soon for the first answer to a message.
        "waits": any(one.state == "waiting" and not one.last_problem for one in sent_last),
    }
    is_part = request.htmx and request.method == "GET"  # type: ignore[attr-defined]
    template = "notifications/chat_messages.html" if is_part else "notifications/host_chat.html"
    return render(request, template, context, status=status)


def _do_chat_action(request: HttpRequest, page_context: PageContext, form: ChatForm) -> str:
    """What the button says; the words for it, none when the form needs another look."""
    competition, user = page_context.competition, signed_in_user(page_context.user)
    action = request.POST.get("action")
    if action == "test":
        chat_sending.send_test(competition=competition)
        return _("Sending a test message. See its status below.")
    if action == "remove":
        chat_sending.remove_webhook(competition=competition, user=user)
        return _("Channel removed. No more messages are sent.")
    if form.is_bound and form.is_valid():
        chat_sending.set_webhook(competition=competition, user=user, **form.cleaned_data)
        return _("Saved.")
    return ""
