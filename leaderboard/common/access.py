"""Access to pages that belong to no competition; pages about one declare theirs in `competitions/access.py`.

| audience | who gets in | others get |
|---|---|---|
| `anyone` | everybody | – |
| `signed_in` | every account | the sign-in page |
| `site_hosts` | accounts that may host | the sign-in page or 403 |
| `operators` | superusers | the sign-in page or 403 |
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext as _

View = Callable[..., HttpResponseBase]


class SiteAudience(StrEnum):
    ANYONE = "anyone"
    SIGNED_IN = "signed_in"
    SITE_HOSTS = "site_hosts"
    OPERATORS = "operators"


def open_page_to(audience: SiteAudience) -> Callable[[View], View]:
    """Declare a view's audience: all others get the sign-in page or `PermissionDenied`."""

    def declare(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if audience is not SiteAudience.ANYONE and request.user.is_anonymous:
                return redirect_to_login(request.get_full_path())
            if audience is SiteAudience.SITE_HOSTS and not getattr(request.user, "is_host", False):
                raise PermissionDenied(_("Ask your administrator for permission to host competitions."))
            if audience is SiteAudience.OPERATORS and not (request.user.is_active and request.user.is_superuser):
                raise PermissionDenied(_("Only administrators can open this page."))
            return view(request, *args, **kwargs)

        guarded.audience = audience  # type: ignore[attr-defined]
        return guarded

    return declare
