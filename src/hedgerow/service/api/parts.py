"""What the application serves."""

from dataclasses import dataclass

from ..audit import AuditLog
from ..datasets import Datasets
from ..heads import Heads
from ..inventory import Inventory
from ..jobs import Jobs
from ..readiness import Readiness
from ..settings import PartySettings
from ..vault import Vault


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a party's service that answer requests."""

    settings: PartySettings
    vault: Vault
    datasets: Datasets
    jobs: Jobs
    audit: AuditLog
    heads: Heads
    readiness: Readiness
    inventory: Inventory
