"""Uploads and datasets."""

import hashlib
from typing import Annotated, Any

from fastapi import FastAPI, Path, Request
from starlette.concurrency import run_in_threadpool

from ....errors import InputError
from ...datasets import Datasets
from ..auth import Member
from ..errors import ERRORS
from ..requests import Finish, Identifier, Manifest, Name, RulesRequest


def add_datasets(app: FastAPI, datasets: Datasets) -> None:
    """Uploads and datasets."""

    @app.get("/v1/datasets", responses=ERRORS)
    def list_datasets(caller: Member) -> list[dict[str, Any]]:
        """Registered datasets you own or may train on."""
        return datasets.listing(caller)

    @app.put("/v1/uploads/{identifier}", responses=ERRORS)
    def begin_upload(identifier: Identifier, manifest: Manifest, caller: Member) -> dict[str, Any]:
        """Announce an upload, or ask how far it is."""
        return datasets.uploads.begin(caller, identifier, manifest.model_dump(by_alias=True))

    @app.put("/v1/uploads/{identifier}/chunks/{number}", status_code=204, responses=ERRORS)
    async def put_chunk(
        identifier: Identifier, number: Annotated[int, Path(ge=0, le=1 << 24)], request: Request, caller: Member
    ) -> None:
        """Send one chunk; ``X-Sha256`` must be its checksum."""
        content = await request.body()
        if hashlib.sha256(content).hexdigest() != request.headers.get("x-sha256", ""):
            raise InputError("the chunk's checksum does not fit")
        await run_in_threadpool(datasets.uploads.chunk, caller, identifier, number, content)

    @app.post("/v1/uploads/{identifier}/finish", responses=ERRORS)
    def finish_upload(identifier: Identifier, finish: Finish, caller: Member) -> dict[str, Any]:
        """All chunks are sent."""
        return datasets.uploads.finish(caller, identifier, finish.sha256, finish.salts)

    @app.post("/v1/uploads/{identifier}/register", responses=ERRORS)
    def register(identifier: Identifier, caller: Member) -> dict[str, Any]:
        """At party 0, when all three parties have the whole upload: make it a dataset."""
        return datasets.register(caller, identifier)

    @app.delete("/v1/datasets/{name}", status_code=204, responses=ERRORS)
    def withdraw(name: Name, caller: Member) -> None:
        """Withdraw a dataset of yours; jobs that use it end."""
        datasets.withdraw(caller, name)

    @app.delete("/v1/datasets/{owner}/{name}", status_code=204, responses=ERRORS)
    def withdraw_by_full_name(owner: Name, name: Name, caller: Member) -> None:
        """Withdraw a dataset of yours; jobs that use it end."""
        datasets.withdraw(caller, f"{owner}/{name}")

    @app.put("/v1/datasets/{name}/rules", status_code=204, responses=ERRORS)
    def set_rules_by_name(name: Name, request: RulesRequest, caller: Member) -> None:
        """Set your rules for a dataset of yours; they hold for everything that has not started."""
        datasets.set_rules(caller, name, request.rules)

    @app.put("/v1/datasets/{owner}/{name}/rules", status_code=204, responses=ERRORS)
    def set_rules(owner: Name, name: Name, request: RulesRequest, caller: Member) -> None:
        """Set your rules for a dataset of yours; they hold for everything that has not started."""
        datasets.set_rules(caller, f"{owner}/{name}", request.rules)
