"""Every error Hedgerow raises, and every warning it gives, on purpose.

::

    HedgerowError
    ├── InputError              what the caller handed in cannot be used; nothing was shared or sent
    │   └── ExactnessError      the answer would not be exact at this size, so no work is started
    └── PeerError               another party is at fault or out of reach; ``peer`` names it
        ├── PeerUnreachable     no connection could be made within the time-out
        ├── PeerDisconnected    the connection ended in the middle of a run
        ├── PeerTimeout         nothing (or too little) came within the time-out
        ├── HandshakeMismatch   version, session or run configuration differ, or the identity is wrong
        ├── MalformedMessage    a frame was broken, out of order, of the wrong step or of the wrong size
        └── RunAborted          another honest party stopped first and says who is at fault

No message of these errors ever contains a share, a key or an input value: only names, sizes and steps.
"""

from __future__ import annotations


class HedgerowWarning(UserWarning):
    """Base of all warnings."""


class RoundingWarning(HedgerowWarning):
    """Values were changed on their way into fixed point, or could not be told apart before."""


class PublicationWarning(HedgerowWarning):
    """Values become public, or may without having been meant to."""


class MissingValueWarning(HedgerowWarning):
    """Values are missing where training knew no gaps."""


class SharesTogetherWarning(HedgerowWarning):
    """All three parties' shares are about to be in one place."""


class HedgerowError(Exception):
    """Base of all errors raised on purpose."""


class InputError(HedgerowError, ValueError):
    """The caller's input cannot be used as it is."""


class ExactnessError(InputError):
    """The requested size cannot be computed exactly, so it is refused."""


class PeerError(HedgerowError):
    """Another party failed. ``peer`` is its number, ``step`` the named step at which it showed."""

    def __init__(self, peer: int, step: str, problem: str) -> None:
        self.peer = peer
        self.step = step
        self.problem = problem
        at = f" at step '{step}'" if step else ""
        super().__init__(f"party {peer}{at}: {problem}")

    def __reduce__(self) -> tuple[type[PeerError], tuple[int, str, str]]:
        return type(self), (self.peer, self.step, self.problem)


class PeerUnreachable(PeerError):
    """No connection within the time-out."""


class PeerDisconnected(PeerError):
    """The connection ended in the middle of a run."""


class PeerTimeout(PeerError):
    """The peer stayed silent, or delivered too slowly, for longer than the time-out."""


class HandshakeMismatch(PeerError):
    """The peer runs another version, session or configuration, or is not who it should be."""


class MalformedMessage(PeerError):
    """A frame was broken, out of order, meant for another step or of the wrong size."""


class RunAborted(PeerError):
    """Another party stopped the run and named the culprit."""
