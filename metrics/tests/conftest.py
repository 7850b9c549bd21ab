"""What the tests of the library share. None of them needs Django or the site."""

from __future__ import annotations

from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

# How busy the machine is says nothing of a law.
hypothesis_settings.register_profile(
    "house", hypothesis_settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("house")
