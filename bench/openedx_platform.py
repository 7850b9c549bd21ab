"""Open edX's own LTI platform code (`lti-consumer-xblock`) as a server with one block and a class of students.

Runs in an environment of its own: `python -m bench.openedx` makes it. What the code asks of the rest of Open edX, its
course, block and accounts, is answered by the few functions below.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from socketserver import ThreadingMixIn
from types import SimpleNamespace
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

PORT, TOOL, STATE = int(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
BASE = f"http://127.0.0.1:{PORT}"
STUDENTS = 20

import django
from django.conf import settings

settings.configure(
    SECRET_KEY="of-a-bench-of-fifty-characters-and-no-secret-at-all-xx",
    DEBUG=False,
    ALLOWED_HOSTS=["*"],
    USE_TZ=True,
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": str(STATE / "openedx.sqlite3"),
            "OPTIONS": {"timeout": 30},
        }
    },
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=[
        "django.contrib.contenttypes",
        "django.contrib.auth",
        "django.contrib.sessions",
        "rest_framework",
        "django_filters",
        "waffle",
        "config_models",
        "statici18n",
        "lti_consumer.apps.LTIConsumerApp",
    ],
    MIDDLEWARE=["crum.CurrentRequestUserMiddleware"],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}],
    ROOT_URLCONF=__name__,
    USAGE_ID_PATTERN=r"(?P<usage_id>(?:i4x://?[^/]+/[^/]+/[^/]+/[^@]+(?:@[^/]+)?)|(?:[^/]+))",
    LMS_ROOT_URL=BASE,
    LMS_BASE=f"127.0.0.1:{PORT}",
    FEATURES={},
    PLATFORM_NAME="Open edX",
    LTI_API_BASE=BASE,
    LTI_BASE=BASE,
    LOGGING={
        "version": 1,
        "disable_existing_loggers": False,
        "handlers": {"console": {"class": "logging.StreamHandler"}},
        "root": {"handlers": ["console"], "level": "WARNING"},
    },
    STATIC_URL="/static/",
    LEARNING_MICROFRONTEND_URL=BASE,
    CACHES={"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}},
)
from lti_consumer.plugin import compat

GRADES: dict[str, Any] = {}


class Block:
    has_score, accept_grades_past_due = True, True
    lti_version = "lti_1p3"

    def __init__(self, key: Any) -> None:
        self.scope_ids = SimpleNamespace(usage_id=key, user_id=None)
        self.location = key

    def is_past_due(self) -> bool:
        return False

    def max_score(self) -> float:
        return 1.0

    def set_user_module_score(self, user: Any, score: float, maximum: float, comment: str = "") -> None:
        GRADES[user.external] = score


OFF = SimpleNamespace(is_enabled=lambda *_: False)
ON = SimpleNamespace(is_enabled=lambda *_: True)


def members(course: Any) -> dict[int, dict[str, Any]]:
    return {
        number: {
            "id": number,
            "username": f"s{number}",
            "email": f"s{number}@uni.example",
            "name": f"Student {number}",
            "roles": ["student"],
            "profile": {"name": f"Student {number}"},
        }
        for number in range(1, STUDENTS + 1)
    }


compat.load_enough_xblock = compat.load_block_as_user = Block
compat.get_user_from_external_user_id = lambda external: SimpleNamespace(external=external)
compat.get_course_members = members
compat.merge_course_forum_roles = lambda course, data: None
compat.batch_get_or_create_externalids = lambda users: {
    n: SimpleNamespace(external_user_id=f"ext-{n}") for n in range(1, STUDENTS + 1)
}
compat.nrps_pii_disallowed = lambda: False
compat.get_external_config_waffle_flag = lambda: OFF
compat.get_external_multiple_launch_urls_waffle_flag = lambda: OFF
compat.get_database_config_waffle_flag = lambda: ON
compat.get_signal_handler = lambda: None
compat.get_event_tracker = lambda: None
compat.user_has_access = lambda *_, **__: True
django.setup()

from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import include, path
from lti_consumer import api
from lti_consumer.data import Lti1p3LaunchData
from lti_consumer.models import CourseAllowPIISharingInLTIFlag, Lti1p3Passport, LtiAgsScore, LtiConfiguration
from opaque_keys.edx.keys import UsageKey

BLOCK = "block-v1:Uni+ML+2026+type@lti_consumer+block@pets"


def launch(request: Any, number: int) -> HttpResponse:
    """Start a launch as a student, or with number 0 as staff of the course."""
    config = LtiConfiguration.objects.get()
    role = "student" if number else "staff"
    name = f"Student {number}" if number else "Ada Hale"
    data = Lti1p3LaunchData(
        user_id=number,
        user_role=role,
        config_id=str(config.config_id),
        resource_link_id=BLOCK,
        external_user_id=f"ext-{number}",
        name=name,
        email=f"s{number}@uni.example",
        context_id="course-v1:Uni+ML+2026",
        context_type=["course_offering"],
        context_title="Machine learning",
        context_label="ML",
    )
    return HttpResponseRedirect(api.get_lti_1p3_launch_start_url(data))


def result(request: Any) -> JsonResponse:
    scores = {one.user_id: [one.score_given, one.score_maximum, one.comment] for one in LtiAgsScore.objects.all()}
    return JsonResponse({"scores": scores, "published": GRADES})


urlpatterns = [
    path("launch/<int:number>/", launch),
    path("result/", result),
    path("api/", include("lti_consumer.plugin.urls")),
]


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None: ...


if __name__ == "__main__":
    call_command("migrate", verbosity=0, run_syncdb=True)
    passport = Lti1p3Passport.objects.create(name="tool", lti_1p3_tool_keyset_url=f"{TOOL}/lti/jwks/")
    config = LtiConfiguration.objects.create(
        version="lti_1p3",
        config_store="CONFIG_ON_DB",
        location=UsageKey.from_string(BLOCK),
        lti_1p3_passport=passport,
        lti_1p3_oidc_url=f"{TOOL}/lti/login/",
        lti_1p3_launch_url=f"{TOOL}/lti/launch/",
        lti_1p3_redirect_uris=[f"{TOOL}/lti/launch/"],
        lti_advantage_enable_nrps=True,
        lti_advantage_ags_mode="programmatic",
    )
    CourseAllowPIISharingInLTIFlag.objects.create(course_id=UsageKey.from_string(BLOCK).course_key, enabled=True)
    data = Lti1p3LaunchData(user_id=0, user_role="staff", config_id=str(config.config_id), resource_link_id=BLOCK)
    print(
        json.dumps(api.get_lti_1p3_launch_info(data) | {"issuer": api.get_lti_consumer(config.config_id).iss}),
        flush=True,
    )
    make_server("127.0.0.1", PORT, get_wsgi_application(), Server, Quiet).serve_forever()
