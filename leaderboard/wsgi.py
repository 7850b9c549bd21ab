"""What the web server calls."""

from __future__ import annotations

import os
import sys

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from . import lifeline
from .slow_clients import FewAtOnce

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
lifeline.die_with_leader()
# A thread that holds SQLite's one write lock must not wait long for Python's own lock after each statement.
sys.setswitchinterval(0.0005)

# More would only wait for Python's lock while they hold the database's: with four at once the worker scored 70 files of
# a burst per second, with two 90 (bench/flow.py).
AT_ONCE = 2

application = FewAtOnce(get_wsgi_application(), AT_ONCE, proxies=settings.ALLAUTH_TRUSTED_PROXY_COUNT)
