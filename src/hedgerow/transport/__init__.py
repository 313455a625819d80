"""Bytes between three parties, metered: one interface, in memory, over TCP or over mutual TLS."""

from .base import NETWORKS, Network, Timeouts, Transport
from .certificate import Authority, Identity, make_identities
from .memory import MemoryNetwork, MemoryTransport
from .meter import Meter, Spending
from .socket import SessionTerms, SocketTransport, connect, listen
