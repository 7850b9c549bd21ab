"""URLs of learning platforms. Each has the name of its view."""

from __future__ import annotations

from django.urls import path

from . import views

urlpatterns = [
    path("lti/login/", views.lti_login, name="lti_login"),
    path("lti/launch/", views.lti_launch, name="lti_launch"),
    path("lti/jwks/", views.lti_jwks, name="lti_jwks"),
    path("lti/register/<str:code>/", views.lti_register, name="lti_register"),
    path("lti/connect/", views.lti_connect, name="lti_connect"),
    path("lti/account/", views.lti_account, name="lti_account"),
    path("host/<slug:slug>/people/roster/<int:link_id>/", views.host_platform_roster, name="host_platform_roster"),
    path("host/<slug:slug>/grades/columns/<int:link_id>/", views.host_send_again, name="host_send_again"),
    path("lti/platforms/", views.lti_platforms, name="lti_platforms"),
]
