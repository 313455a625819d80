"""Files that only their owner may read."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_private(path: Path, content: str | bytes) -> None:
    """Write a file of mode 0600, whole or not at all, in place of one that may be there."""
    raw = content.encode() if isinstance(content, str) else content
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
