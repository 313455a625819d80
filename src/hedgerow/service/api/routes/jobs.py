"""Jobs, as members and operators see them."""

import datetime
from typing import Any

from fastapi import FastAPI, Response

from ...clock import now
from ...jobs.desk import JobDesk
from ..auth import Member
from ..errors import ERRORS
from ..requests import Approval, Identifier, JobRequest


def add_jobs(app: FastAPI, jobs: JobDesk) -> None:
    """Jobs: submit, look, approve, cancel, fetch."""

    @app.post("/v1/jobs/check", responses=ERRORS)
    def check(request: JobRequest, caller: Member) -> dict[str, Any]:
        """Whether a job would be allowed, by which rule it is refused, and who would have to approve it."""
        return jobs.consider(caller, request.model_dump())

    @app.get("/v1/uses", responses=ERRORS)
    def uses(caller: Member) -> list[dict[str, Any]]:
        """As an owner: what used your data, and what waits for your approval."""
        return jobs.uses(caller)

    @app.post("/v1/jobs", responses=ERRORS)
    def submit(request: JobRequest, caller: Member) -> dict[str, Any]:
        """Submit a job; it runs when all three parties have accepted the same one."""
        return jobs.submit(caller, request.model_dump())

    @app.get("/v1/jobs", responses=ERRORS)
    def list_jobs(caller: Member) -> list[dict[str, Any]]:
        """Your jobs; all of them for the operator."""
        return jobs.listing(caller)

    @app.get("/v1/jobs/{identifier}", responses=ERRORS)
    def show_job(identifier: Identifier, caller: Member) -> dict[str, Any]:
        """State and progress of a job."""
        return jobs.view(caller, identifier)

    @app.delete("/v1/jobs/{identifier}", responses=ERRORS)
    def cancel(identifier: Identifier, caller: Member) -> dict[str, Any]:
        """Cancel a job."""
        return jobs.cancel(caller, identifier)

    @app.post("/v1/jobs/{identifier}/approve", responses=ERRORS)
    def approve(identifier: Identifier, caller: Member, approval: Approval | None = None) -> dict[str, Any]:
        """The party's operator, or an owner whose data it uses, lets a waiting job go on."""
        days = approval.days if approval else None
        return jobs.approve(caller, identifier, now() + datetime.timedelta(days=days) if days else None)

    @app.post("/v1/jobs/{identifier}/refuse", responses=ERRORS)
    def refuse(identifier: Identifier, caller: Member) -> dict[str, Any]:
        """The party's operator, or an owner whose data it uses, ends a waiting job."""
        return jobs.refuse(caller, identifier)

    @app.get("/v1/jobs/{identifier}/result", responses=ERRORS)
    def result(identifier: Identifier, caller: Member) -> Response:
        """This party's shares of a prediction's result."""
        return Response(jobs.result(caller, identifier), media_type="application/octet-stream")

    @app.delete("/v1/jobs/{identifier}/result", responses=ERRORS)
    def delete_result(identifier: Identifier, caller: Member) -> dict[str, Any]:
        """Remove a result of yours here."""
        return jobs.delete(caller, identifier)
