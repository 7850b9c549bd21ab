"""What the tests of the library share. None of them needs Django or the site."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from metrics.sandbox.isolation import available

# How busy the machine is says nothing of a law.
hypothesis_settings.register_profile(
    "house", hypothesis_settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("house")


@pytest.fixture(autouse=True, scope="session")
def trusted_where_nothing_can_be_sealed() -> None:
    """On a kernel without a sandbox metrics from outside would be off; those of the tests mean no harm."""
    if available():
        os.environ["TRUST_METRICS"] = "1"
