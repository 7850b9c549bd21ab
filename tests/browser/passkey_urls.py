"""The site's addresses with those of passkeys, which are there behind https alone; browsers allow them here as well."""

from __future__ import annotations

from django.urls import include, path

from leaderboard.urls import urlpatterns as site

urlpatterns = [path("accounts/2fa/webauthn/", include("allauth.mfa.webauthn.urls")), *site]
