"""Bytes between three parties, metered: one interface, over TCP or over mutual TLS."""

from .base import NETWORKS, Network, Timeouts, Transport
from .certificate import Authority, Identity, make_identities
from .meter import Meter, Spending
from .socket import SessionTerms, SocketTransport, connect, listen
