"""Django's admin in our colours: a host's whole job, and the operator's view of people.

Staff see the competitions they host; operators see all. What is immutable is shown and never edited; everything that
changes goes through the same services as the pages, so that it is checked as on the pages.
"""

from __future__ import annotations

from allauth.account.decorators import secure_admin_login
from allauth.mfa.admin import Authenticator
from allauth.socialaccount.admin import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.admin import UserSession
from django.contrib import admin
from django.contrib.auth.models import Group

admin.site.site_header = "Leaderboard"
admin.site.site_title = "Leaderboard admin"
admin.site.index_title = "Administration"
admin.site.enable_nav_sidebar = False
# The sign-in page of the site counts wrong passwords; the admin's own would not.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]
# The secret of a second factor is nobody's to read; an operator takes a lost one away on the person's page.
# Institutions come from the environment, and whose account is linked to which there is not typed in.
for model in (Group, Authenticator, UserSession, SocialAccount, SocialApp, SocialToken):
    admin.site.unregister(model)
