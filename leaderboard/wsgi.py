"""What the web server calls."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

from . import lifeline

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
lifeline.die_with_leader()

application = get_wsgi_application()
