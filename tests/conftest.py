import pytest
from hypothesis import HealthCheck, settings

from hedgerow.parties import PartyProcesses

settings.register_profile(
    "hedgerow", max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("hedgerow")


@pytest.fixture(scope="session")
def processes():
    """Three real party processes over mutual TLS, shared by the tests that need them."""
    with PartyProcesses() as parties:
        yield parties
