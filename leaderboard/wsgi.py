"""What the web server calls."""

from __future__ import annotations

import gc
import os
import sys
import threading
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from leaderboard.common import child_processes
from leaderboard.common.slow_clients import LimitSlowClients

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
child_processes.die_with_leader()
# A thread that holds SQLite's one write lock must not wait long for Python's own lock after each statement.
sys.setswitchinterval(0.0005)

# An upload waits for the disk and for SQLite's writer for half of its time, so two at once leave a core idle: of 50
# uploads a second 95 in 100 are answered within 1.2 s, with three at once within 0.3 s (bench/load.py). Of four one
# always takes the writer before the worker does: during a burst half as many files are scored. One at a time
# would have a burst scored a fifth faster, but 50 uploads a second answered within 1.3 s only.
AT_ONCE = 3

_site = get_wsgi_application()

from leaderboard.accounts.adapter import user_of_request  # noqa: E402 - models can be loaded from here on

application = LimitSlowClients(_site, AT_ONCE, proxies=settings.ALLAUTH_TRUSTED_PROXY_COUNT, person=user_of_request)
threading.Thread(target=application.watch, daemon=True).start()

# What lives as long as this process, all pages' code with it, need not be looked through for waste again and again: it
# took 95 ms in which nobody was answered.
import_module(settings.ROOT_URLCONF)
gc.collect()
gc.freeze()
