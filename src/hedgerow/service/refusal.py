"""Errors of the service that have an HTTP status."""

from __future__ import annotations

from typing import Any

from ..errors import HedgerowError


class Refusal(HedgerowError):
    """A request that is refused; nothing was changed."""

    status = 400
    facts: dict[str, Any] | None = None
    """What the audit log says of it besides the reason, where it is worth a line whatever its status."""


class Forbidden(Refusal):
    """The caller may not do this."""

    status = 403


class Unknown(Refusal):
    """There is no such thing, or the caller may not know of it."""

    status = 404


class Conflict(Refusal):
    """It does not fit the present state."""

    status = 409


class NoRoom(Refusal):
    """There is no room to store it."""

    status = 507
