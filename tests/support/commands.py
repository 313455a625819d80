"""The command line in this process: quicker than one of its own for every call."""

from __future__ import annotations

import contextlib
import io
import sys
from dataclasses import dataclass
from unittest import mock

from hedgerow.cli.main import main


@dataclass(frozen=True)
class Done:
    """How a command ended; the names of a completed process work, too."""

    code: int
    out: str
    err: str

    @property
    def returncode(self) -> int:
        return self.code

    @property
    def stdout(self) -> str:
        return self.out

    @property
    def stderr(self) -> str:
        return self.err

    @property
    def words(self) -> str:
        """All that was said, without the line breaks and boxes of a narrow screen."""
        return " ".join((self.out + self.err).replace("│", " ").split())


def command(*arguments: object, stdin: bytes | None = None) -> Done:
    out, err = io.StringIO(), io.StringIO()
    code = 0
    given = mock.Mock(buffer=io.BytesIO(stdin)) if stdin is not None else sys.stdin
    patches = (
        mock.patch.object(sys, "argv", ["hedgerow", *map(str, arguments)]),
        mock.patch.object(sys, "stdin", given),
    )
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), patches[0], patches[1]:
        try:
            main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0
    return Done(code, out.getvalue(), err.getvalue())
