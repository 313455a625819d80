"""Helpers for testing protocols: three parties in one process, tampering, transcripts, input strategies."""

from .parties import LocalParties, run_parties
from .transcript import Entry, RecordingTransport

__all__ = ["Entry", "LocalParties", "RecordingTransport", "run_parties"]
