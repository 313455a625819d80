"""What time it is."""

from __future__ import annotations

import datetime


def now() -> datetime.datetime:
    """The time, in UTC."""
    return datetime.datetime.now(datetime.UTC)
