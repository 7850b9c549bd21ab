"""The site as the web server calls it."""

from __future__ import annotations

import gc
import os
import shutil
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from leaderboard.common import child_processes
from leaderboard.common.storage import scratch_folder
from leaderboard.common.web_pools import WebPools
from leaderboard.common.web_requests import BodyLimits

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
child_processes.die_with_leader()

_site = get_wsgi_application()

from leaderboard.accounts.backend import user_of_request  # noqa: E402 - models can be loaded from here on

application = WebPools(
    _site,
    person_of=user_of_request,
    session_cookie=settings.SESSION_COOKIE_NAME,
    has_secure_cookies=settings.IS_HTTPS,
    proxies=settings.ALLAUTH_TRUSTED_PROXY_COUNT,
    folder=scratch_folder(),
    limits=BodyLimits(
        settings.MAX_UPLOAD_BYTES,
        settings.MAX_SPOOLED_BYTES or min(2 * 1024**3, shutil.disk_usage(scratch_folder()).free // 10),
    ),
    has_bucket=bool(settings.STORAGE_URL),
    readers=settings.WEB_READERS,
    writers=settings.WEB_WRITERS,
)

# What lives as long as this process, all pages' code with it, need not be looked through for waste again and again: it
# took 95 ms in which nobody was answered.
import_module(settings.ROOT_URLCONF)
gc.collect()
gc.freeze()
