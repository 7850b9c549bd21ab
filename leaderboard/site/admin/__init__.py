"""Django's admin for this site: a host's competitions, the operator's view of people, and the audit log.

Staff see the competitions they host; operators see all. Changes go through the services that the pages use, so they are
checked in the same way.
"""

from __future__ import annotations

from allauth.account.decorators import secure_admin_login
from allauth.mfa.admin import Authenticator
from allauth.socialaccount.admin import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.admin import UserSession
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Group

from . import accounts, competitions

__all__ = ["accounts", "competitions"]

admin.site.site_header = "Leaderboard"
admin.site.site_title = "Leaderboard admin"
admin.site.index_title = "Administration"
admin.site.enable_nav_sidebar = False
# The site's own app has the title “Accounts”, too.
apps.get_app_config("account").verbose_name = "E-mail addresses"
# The sign-in page of the site counts wrong passwords; the admin's own would not.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]
# The secret of a second factor must not be readable; an operator removes a lost one on the person's page.
# Institutions are configured by environment variables, and links to their accounts are made by signing in.
for model in (Group, Authenticator, UserSession, SocialAccount, SocialApp, SocialToken):
    admin.site.unregister(model)
