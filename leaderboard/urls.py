from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.urls")),
    path("api/v1/", include("leaderboard.api.urls")),
    path("", include("leaderboard.web.urls")),
]

handler400 = "leaderboard.web.failures.bad_request"
handler403 = "leaderboard.web.failures.permission_denied"
handler404 = "leaderboard.web.failures.page_not_found"
handler500 = "leaderboard.web.failures.server_error"
