"""The bare view of `bench/board.py` as a site of its own: no middleware, no event loop, the same database."""

from __future__ import annotations

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")

import django

django.setup()

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler

# Only now: django-allauth begins with its own middleware alone.
settings.MIDDLEWARE = []
settings.ROOT_URLCONF = "bench.board"
application = WSGIHandler()
