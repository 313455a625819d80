"""How a party is."""

from typing import Any

from fastapi import FastAPI, Response
from prometheus_client import CONTENT_TYPE_LATEST

from .... import __version__
from ...clock import now
from ...consortium import expiry
from ..auth import Anybody, Member, need_operator
from ..errors import ERRORS
from ..metrics import Metrics
from ..parts import Parts


def add_public(app: FastAPI, parts: Parts, metrics: Metrics) -> None:
    """Health, readiness, leftovers and metrics."""
    settings, jobs = parts.settings, parts.jobs

    @app.get("/v1/health", responses=ERRORS)
    def health(caller: Anybody) -> dict[str, Any]:
        """Whether this party lives, its time, and until when its certificate is valid."""
        until = expiry(settings.identity.certificate).isoformat()
        facts = {"party": settings.number, "version": __version__, "time": now().isoformat()}
        return facts | {"running": jobs.running, "certificate_until": until}

    @app.get("/v1/ready", responses=ERRORS)
    def ready(caller: Member) -> dict[str, Any]:
        """Whether this party can do its work: disk, database, audit log, the other parties, versions and clocks."""
        return parts.readiness.summary()

    @app.get("/v1/leftovers", responses=ERRORS)
    def leftovers(caller: Member) -> list[dict[str, Any]]:
        """For the operator: datasets and models that do not exist at all three parties."""
        need_operator(caller)
        return parts.inventory.leftovers()

    @app.delete("/v1/leftovers", responses=ERRORS)
    def remove_leftovers(caller: Member) -> list[dict[str, Any]]:
        """For the operator: remove them here."""
        need_operator(caller)
        return parts.inventory.remove_leftovers()

    @app.get("/v1/metrics", responses=ERRORS)
    def show_metrics(caller: Anybody) -> Response:
        """Metrics in Prometheus' text format."""
        return Response(metrics.text(), media_type=CONTENT_TYPE_LATEST)
