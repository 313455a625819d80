"""Bytes between three parties, metered: one interface, in memory, over TCP or over mutual TLS."""

from .base import NETWORKS, Network, Patience, Transport
from .certificate import Authority, Identity, make_identities
from .memory import MemoryNetwork, MemoryTransport
from .meter import Meter, Spending
from .socket import Agreement, SocketTransport, connect, listen

__all__ = [
    "NETWORKS",
    "Agreement",
    "Authority",
    "Identity",
    "MemoryNetwork",
    "MemoryTransport",
    "Meter",
    "Network",
    "Patience",
    "SocketTransport",
    "Spending",
    "Transport",
    "connect",
    "listen",
    "make_identities",
]
