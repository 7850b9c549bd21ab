"""What the tests of the library share. None of them needs Django or the site."""

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from metrics.core import custom

# How busy the machine is says nothing of a law.
hypothesis_settings.register_profile(
    "house", hypothesis_settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("house")


@pytest.fixture(autouse=True, scope="session")
def custom_metrics_are_loaded_here() -> None:
    """As at home. Beside the site's tests Django has started in this process, and then only sealed ones load them."""
    custom.set_inspector(custom.inspect_here)
