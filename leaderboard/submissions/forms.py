"""Students' forms: upload, repeated upload, note."""

from __future__ import annotations

import uuid
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from leaderboard.common.storage import size_text

from .attachments import ENDINGS, attachment_limit


class UploadForm(forms.Form):
    """A file to submit. `upload_key` is made with the page, so that a double click submits once."""

    file = forms.FileField(
        label=_("File with your predictions"),
        max_length=1000,
        error_messages={
            "required": _("Choose a file first."),
            "empty": _("This file is empty (0 bytes)."),
            "missing": _("Choose a file first."),
        },
    )
    note = forms.CharField(
        label=_("Note"),
        required=False,
        max_length=300,
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "placeholder": _("What you tried; your team and the hosts see it")}
        ),
    )
    upload_key = forms.CharField(required=False, max_length=32, widget=forms.HiddenInput)

    def clean_file(self) -> Any:
        """Accept one file only: with several, it would not be clear which one was submitted."""
        if (count := len(self.files.getlist("file"))) > 1:
            raise ValidationError(_("You sent %(number)s files. Submit one at a time.") % {"number": count})
        return self.cleaned_data["file"]

    @classmethod
    def fresh(cls, *, note: str = "") -> UploadForm:
        """An empty form with a new `upload_key`."""
        return cls(initial={"upload_key": uuid.uuid4().hex, "note": note[:300]})


class DuplicateForm(forms.Form):
    """Confirmation to submit the same file again; its bytes are stored, so the student need not choose it again."""

    again = forms.UUIDField(widget=forms.HiddenInput)
    file_name = forms.CharField(max_length=1000, widget=forms.HiddenInput)
    note = forms.CharField(required=False, max_length=300, widget=forms.HiddenInput)
    upload_key = forms.CharField(required=False, max_length=32, widget=forms.HiddenInput)


class NoteForm(forms.Form):
    note = forms.CharField(
        label=_("Note"),
        required=False,
        max_length=300,
        help_text=_("Your team and the hosts see it."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class AttachmentForm(forms.Form):
    """The work behind a final submission, with the declaration."""

    file = forms.FileField(
        label=_("Notebook, script, ZIP or PDF"),
        max_length=1000,
        error_messages={"required": _("Choose a file first."), "empty": _("This file is empty (0 bytes).")},
        widget=forms.FileInput(attrs={"accept": ",".join(ENDINGS)}),
    )
    declared = forms.CharField(
        label=_("This is our own work; tools and help we used:"),
        max_length=300,
        widget=forms.Textarea(attrs={"rows": 2, "maxlength": 300}),
        error_messages={"required": _("Name the tools and help you used, or write “none”.")},
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.fields["file"].help_text = _("At most %(size)s.") % {"size": size_text(attachment_limit())}
