"""How long a party waits for the others to come to the same state."""

import time


class Patience:
    """Since when each job has been waiting for another party."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._since: dict[str, float] = {}

    def exhausted(self, identifier: str) -> bool:
        """Whether a job has waited too long; waiting begins with the first question."""
        since = self._since.setdefault(identifier, time.monotonic())
        return time.monotonic() - since > self._seconds

    def forget(self, identifier: str) -> None:
        """The job goes on."""
        self._since.pop(identifier, None)

    def keep_only(self, identifiers: set[str]) -> None:
        """Forget all other jobs."""
        self._since = {job: since for job, since in self._since.items() if job in identifiers}
