"""Ada's platform and her connected competition, for the tests of class lists and marks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.conf import LazySettings
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.lti.models import LtiPerson
from tests.conftest import make_competition
from tests.lti.platforms import INSTRUCTOR, FakePlatform, serving


@pytest.fixture
def moodle(settings: LazySettings, db: None) -> Iterator[FakePlatform]:
    """An approved platform whose server answers."""
    settings.LTI_PLATFORM_HOSTS = ["127.0.0.1"]
    with serving(FakePlatform()) as fake:
        fake.approve()
        yield fake


@pytest.fixture
def teacher(moodle: FakePlatform, ada: User) -> Client:
    """Ada's browser; the platform's activity opens her competition `pets`."""
    competition = make_competition(ada)
    LtiPerson.objects.create(platform=moodle.platform, subject="ada", user=ada)
    client = Client()
    moodle.launch(client, "ada", roles=INSTRUCTOR)
    client.post("/lti/connect/", {"competition": competition.slug})
    return client
