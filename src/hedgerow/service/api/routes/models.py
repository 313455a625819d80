"""Trained models."""

from typing import Any

from fastapi import FastAPI, Response

from ....models.store import share_bytes
from ...jobs.desk import JobDesk
from ...vault import Vault
from ..auth import Member
from ..errors import ERRORS
from ..requests import Identifier


def add_models(app: FastAPI, jobs: JobDesk, vault: Vault) -> None:
    """Models: their facts, and their shares for those who may open them."""

    @app.delete("/v1/models/{identifier}", responses=ERRORS)
    def delete_model(identifier: Identifier, caller: Member) -> dict[str, Any]:
        """Remove a model of yours here."""
        return jobs.delete(caller, identifier)

    @app.get("/v1/models/{identifier}", responses=ERRORS)
    def show_model(identifier: Identifier, caller: Member) -> dict[str, Any]:
        """The public facts of a model."""
        return jobs.model_view(caller, identifier)

    @app.get("/v1/models/{identifier}/shares", responses=ERRORS)
    def reveal(identifier: Identifier, caller: Member, counts: bool = False) -> Response:
        """This party's shares of a model, if its policy lets you reveal it."""
        jobs.reveal(caller, identifier, counts)
        tree = vault.shown_tree(identifier)
        shown = tree if counts else tree.without_counts()
        return Response(share_bytes(shown), media_type="application/octet-stream")
