"""Files that only their owner may read."""

import os
import secrets
from pathlib import Path


def private_write(path: Path, content: bytes) -> None:
    """Write a new file of mode 0600 and wait until it is on disk; one that is there already is an error."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def write_private(path: Path, content: str | bytes) -> None:
    """Write a file of mode 0600, whole or not at all, in place of one that may be there."""
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        private_write(unfinished, content.encode() if isinstance(content, str) else content)
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
