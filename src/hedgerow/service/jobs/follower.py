"""The other parties' part: they start what party 0 starts, and ask it how a job ended."""

from ...errors import PeerUnreachable
from ..database import Job
from ..datasets import LEADER
from ..peers import PartyConnections, PartyRefused
from .state import ENDINGS, GIVEN_UP, Event, State
from .store import JobStore


class Follower:
    """Jobs at parties 1 and 2."""

    asked = (LEADER,)
    """The party whose word on jobs that have not started is asked for."""

    def __init__(self, store: JobStore, peers: PartyConnections) -> None:
        self._store, self._peers = store, peers

    def try_start(self, job: Job) -> None:
        """Party 0 starts jobs."""

    def conclude(self, identifier: str) -> None:
        """This party has written its result: how did the job end? A part that is written stays until party 0 has said
        so, or knows nothing of it."""
        try:
            view = self._peers.call(LEADER, "GET", f"/v1/peer/jobs/{identifier}")
        except PartyRefused as error:
            if error.status == 404:
                self._store.end(identifier, Event.FAIL, str(error))
            return
        except PeerUnreachable:
            return
        if view["state"] == State.DONE:
            self._store.end(identifier, Event.CONFIRM, None)
        elif view["state"] in GIVEN_UP:
            event = ENDINGS[State(view["state"])]
            self._store.end(identifier, event, f"party {LEADER}: {view['error']}")
