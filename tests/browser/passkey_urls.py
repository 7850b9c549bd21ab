"""The site's addresses with those of passkeys, which are there behind https alone; browsers allow them here as well.

The address of signing in is named here: the library decides about it when its own list is first loaded, which may have
been before a test's settings.
"""

from __future__ import annotations

from allauth.mfa.webauthn import views
from django.urls import include, path

from leaderboard.urls import urlpatterns as site

urlpatterns = [
    path("accounts/2fa/webauthn/login/", views.login_webauthn, name="mfa_login_webauthn"),
    path("accounts/2fa/webauthn/", include("allauth.mfa.webauthn.urls")),
    *site,
]
