import os

import pytest
from hypothesis import HealthCheck, settings

from hedgerow.parties import PartyProcesses

for profile, examples in (("everyday", 12), ("thorough", 50)):
    settings.register_profile(
        profile,
        max_examples=examples,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "everyday"))


@pytest.fixture(scope="session")
def processes():
    """Three real party processes over mutual TLS, shared by the tests that need them."""
    with PartyProcesses() as parties:
        yield parties
