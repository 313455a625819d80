"""The states of a job and what leads from one to another: one table, and nothing changes a state but by it.

Party 0 leads. It starts a job when all parties have accepted the same specification and have room, and a job is *done*
once party 0 has seen that all three wrote their results and has noted it. The others, having written theirs, ask.
"""

from enum import StrEnum


class State(StrEnum):
    """Where a job is at one party."""

    WAITING = "waiting"  # for approval
    QUEUED = "queued"
    RUNNING = "running"
    WRITTEN = "written"  # here; whether it is everywhere, party 0 knows
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DELETED = "deleted"


class Event(StrEnum):
    """What happens to a job."""

    APPROVE = "approve"
    """The last of those who must has approved."""
    ASK_APPROVAL = "ask approval"
    """Rules have changed: somebody must approve who did not have to."""
    START = "start"
    PUT_BACK = "put back"
    """It could not be started everywhere."""
    WRITE = "write"
    """The job's process has written this party's result."""
    CONFIRM = "confirm"
    """All three have written theirs."""
    FAIL = "fail"
    CANCEL = "cancel"
    DELETE = "delete"


OPEN = (State.WAITING, State.QUEUED, State.RUNNING, State.WRITTEN)
UNWRITTEN = (State.WAITING, State.QUEUED, State.RUNNING)
"""While a job is in one of these a party other than 0 may end it on its own."""
UNSTARTED = (State.WAITING, State.QUEUED)
GIVEN_UP = (State.FAILED, State.CANCELLED)

TRANSITIONS: dict[tuple[State, Event], State] = {
    (State.WAITING, Event.APPROVE): State.QUEUED,
    (State.QUEUED, Event.ASK_APPROVAL): State.WAITING,
    (State.QUEUED, Event.START): State.RUNNING,
    (State.RUNNING, Event.PUT_BACK): State.QUEUED,
    (State.RUNNING, Event.WRITE): State.WRITTEN,
    (State.WRITTEN, Event.CONFIRM): State.DONE,
    (State.DONE, Event.DELETE): State.DELETED,
    (State.DELETED, Event.DELETE): State.DELETED,
    **{(state, Event.FAIL): State.FAILED for state in OPEN},
    **{(state, Event.CANCEL): State.CANCELLED for state in OPEN},
}

ENDINGS = {State.FAILED: Event.FAIL, State.CANCELLED: Event.CANCEL}
"""The event by which a job that another party has given up is given up here as well."""


def after(state: str, event: Event) -> State | None:
    """The state that an event leads to, or ``None`` where it does not fit."""
    return TRANSITIONS.get((State(state), event))
