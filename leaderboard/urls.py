"""The URLs of all rooms, with the prefixes of their pages and of the API."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from leaderboard.accounts.views import AddressesView, SignUpView

urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/signup/", SignUpView.as_view(), name="account_signup"),
    path("accounts/email/", AddressesView.as_view(), name="account_email"),
    path("", include("leaderboard.accounts.urls")),
    path("accounts/", include("allauth.urls")),
    path("api/v1/", include("leaderboard.site.api.urls")),
    path("", include("leaderboard.operations.urls")),
    path("", include("leaderboard.notifications.urls")),
    path("", include("leaderboard.classroom.urls")),
    path("", include("leaderboard.grades.urls")),
    path("", include("leaderboard.lti.urls")),
    path("", include("leaderboard.competitions.urls")),
    path("", include("leaderboard.boards.urls")),
    path("", include("leaderboard.submissions.urls")),
    path("", include("leaderboard.ground_truths.urls")),
    path("", include("leaderboard.site.urls")),
    # After host/new/, which is not the dashboard of a competition called “new”.
    path("", include("leaderboard.insights.urls")),
]

handler500 = "leaderboard.common.error_pages.server_error"
