"""Export of a person's data, and deletion of their account."""

from __future__ import annotations

import tempfile
from datetime import timedelta

from django.contrib import messages
from django.contrib.auth import logout
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from leaderboard.common.access import SiteAudience, open_page_to
from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.common.shared_cache import count_tries, count_try, note_wrong_try
from leaderboard.common.storage import scratch_folder

from .. import personal_data
from ..forms import DeleteAccountForm

EXPORTS_PER_HOUR = 5
HOUR = int(timedelta(hours=1).total_seconds())


@open_page_to(SiteAudience.SIGNED_IN)
def my_data(request: HttpRequest) -> HttpResponseBase:
    """Everything about the viewer as a zip. By POST, because it costs time and adds an entry to the audit log."""
    user = signed_in_user(request.user)
    if request.method != "POST":
        return redirect("account")
    if count_tries("export", user.pk) >= EXPORTS_PER_HOUR:
        messages.error(
            request,
            _("You downloaded your data %(number)s times in an hour. Try again later.") % {"number": EXPORTS_PER_HOUR},
        )
        return see_other("account")
    count_try("export", user.pk, seconds=HOUR)
    # A nameless file in the storage's folder: it need not fit into memory, and a crash leaves nothing behind.
    target = tempfile.TemporaryFile(dir=scratch_folder())  # noqa: SIM115 - the answer closes it
    personal_data.export_account(account=user, target=target, at=timezone.now())
    target.seek(0)
    return FileResponse(target, as_attachment=True, filename="my-data.zip", content_type="application/zip")


@sensitive_post_parameters("password")
@open_page_to(SiteAudience.SIGNED_IN)
def delete_account(request: HttpRequest) -> HttpResponse:
    """Delete the viewer's account, after their password once more."""
    user = signed_in_user(request.user)
    form = DeleteAccountForm(user, request.POST if request.method == "POST" else None)
    if request.method == "POST":
        if not form.is_valid():
            note_wrong_try(request, "leaving", user.pk)
        else:
            try:
                personal_data.delete_account(account=user, user=user)
            except personal_data.CannotDelete as error:
                form.add_error(None, str(error))
            else:
                logout(request)
                messages.success(request, _("Your account is deleted."))
                return see_other("home")
    context = {"form": form, "obstacle": personal_data.obstacle_to_deleting(user)}
    return render(request, "accounts/delete_account.html", context, status=422 if form.errors else 200)
