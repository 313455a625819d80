"""What parties ask each other."""

from typing import Any

from fastapi import FastAPI

from ...datasets import Datasets
from ...jobs import Jobs
from ..auth import Peer, need_leader
from ..errors import ERRORS
from ..parts import Parts
from ..requests import Head, Identifier, Identifiers, Start


def add_peers(app: FastAPI, parts: Parts) -> None:
    """What parties ask each other."""
    _add_records(app, parts)
    _add_states(app, parts.datasets, parts.jobs)


def _add_records(app: FastAPI, parts: Parts) -> None:

    @app.get("/v1/peer/heads", responses=ERRORS)
    def peer_known(caller: Peer) -> dict[str, Any]:
        """How much of the caller's audit log was seen here."""
        assert caller.party is not None
        return parts.heads.known(caller.party)

    @app.post("/v1/peer/heads", responses=ERRORS)
    def peer_head(head: Head, caller: Peer) -> dict[str, Any]:
        """Keep and sign the head of the caller's audit log, after further lines."""
        assert caller.party is not None
        return parts.heads.countersign(caller.party, head.before, head.lines, head.restored, parts.audit)

    @app.get("/v1/peer/inventory", responses=ERRORS)
    def peer_inventory(caller: Peer) -> dict[str, Any]:
        """The datasets and models that exist here."""
        return parts.inventory.existing()

    @app.post("/v1/peer/reconcile", status_code=204, responses=ERRORS)
    def peer_reconcile(caller: Peer) -> None:
        """The caller was restored from a copy: compare what exists, soon."""
        parts.inventory.ask_soon()


def _add_states(app: FastAPI, datasets: Datasets, jobs: Jobs) -> None:
    @app.post("/v1/peer/datasets/states", responses=ERRORS)
    def peer_dataset_states(asked: Identifiers, caller: Peer) -> dict[str, str]:
        """The states of datasets that are known here."""
        return datasets.states(asked.identifiers)

    @app.post("/v1/peer/jobs/states", responses=ERRORS)
    def peer_job_states(asked: Identifiers, caller: Peer) -> dict[str, Any]:
        """The states of jobs that are known here."""
        return jobs.peer_states(asked.identifiers)

    @app.get("/v1/peer/datasets/{identifier}", responses=ERRORS)
    def peer_dataset(identifier: Identifier, caller: Peer) -> dict[str, Any]:
        """State and hashes of an upload."""
        return datasets.peer_view(identifier)

    @app.post("/v1/peer/datasets/{identifier}/registered", status_code=204, responses=ERRORS)
    def peer_registered(identifier: Identifier, caller: Peer) -> None:
        """Party 0 has registered a dataset."""
        need_leader(caller)
        datasets.mark_registered(identifier)

    @app.get("/v1/peer/jobs/{identifier}", responses=ERRORS)
    def peer_job(identifier: Identifier, caller: Peer) -> dict[str, Any]:
        """State of a job."""
        return jobs.peer_view(identifier)

    @app.post("/v1/peer/jobs/{identifier}/start", status_code=204, responses=ERRORS)
    def peer_start(identifier: Identifier, start: Start, caller: Peer) -> None:
        """Party 0 starts a job."""
        need_leader(caller)
        jobs.peer_start(identifier, start.spec_hash, start.attempt, bytes.fromhex(start.key))

    @app.post("/v1/peer/jobs/{identifier}/stop", status_code=204, responses=ERRORS)
    def peer_stop(identifier: Identifier, caller: Peer) -> None:
        """Party 0 could not start a job everywhere."""
        need_leader(caller)
        jobs.peer_stop(identifier)
