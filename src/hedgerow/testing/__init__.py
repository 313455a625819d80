"""Helpers for testing protocols: tampering, transcripts, input strategies. Parties in threads: hedgerow.parties."""

from .transcript import Entry, RecordingTransport

__all__ = ["Entry", "RecordingTransport"]
