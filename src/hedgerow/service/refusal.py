"""Errors of the service that have an HTTP status, and a code where a program must tell them apart."""

from enum import StrEnum
from typing import Any

from ..errors import HedgerowError


class Reason(StrEnum):
    """Why a party does not start a job, as party 0 must know it."""

    NOT_YET = "not_yet"
    ENDED = "ended"
    MISMATCH = "mismatch"
    UNKNOWN = "unknown"


class Refusal(HedgerowError):
    """A request that is refused; nothing was changed. ``code`` goes along in the answer's JSON."""

    status = 400
    facts: dict[str, Any] | None = None
    """What the audit log says of it besides the reason, where it is worth a line whatever its status."""

    def __init__(self, detail: str, code: Reason | None = None) -> None:
        self.code = code
        super().__init__(detail)

    def answer(self) -> dict[str, Any]:
        """What the caller is told."""
        return {"detail": str(self)} | ({"code": self.code} if self.code else {})


class Forbidden(Refusal):
    """The caller may not do this."""

    status = 403


class NotFound(Refusal):
    """There is no such thing, or the caller may not know of it."""

    status = 404


class Conflict(Refusal):
    """It does not fit the present state."""

    status = 409


class NoRoom(Refusal):
    """There is no room to store it."""

    status = 507
