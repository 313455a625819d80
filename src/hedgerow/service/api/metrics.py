"""Counters in Prometheus' format."""

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest

from ..clock import now
from ..consortium import expiry
from ..jobs import Jobs
from ..settings import PartySettings


class Metrics:
    """What a party counts."""

    def __init__(self, settings: PartySettings, jobs: Jobs) -> None:
        self._settings, self._jobs = settings, jobs
        self.registry = CollectorRegistry()
        self.requests = Counter("hedgerow_requests_total", "Requests by status", ["status"], registry=self.registry)
        self._states = Gauge("hedgerow_jobs", "Jobs by state", ["state"], registry=self.registry)
        self._running = Gauge("hedgerow_job_processes", "Running job processes", registry=self.registry)
        self._certificate = Gauge(
            "hedgerow_certificate_seconds_left", "Seconds to the certificate's end", registry=self.registry
        )

    def text(self) -> bytes:
        """All metrics now."""
        self._states.clear()
        for state, count in self._jobs.counts().items():
            self._states.labels(state).set(count)
        self._running.set(self._jobs.running)
        self._certificate.set((expiry(self._settings.identity.certificate) - now()).total_seconds())
        return generate_latest(self.registry)
