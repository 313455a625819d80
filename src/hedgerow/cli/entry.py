"""The entry point: errors become one readable line and an exit code.

Commands and what they need are imported inside, so that Ctrl-C is answered from the first moment on.
"""

import json
import os
import signal
import sys
import threading
import traceback

from ..errors import HedgerowError, PeerError
from ..extras import missing_extra

PATIENCE = 0.7
"""Seconds an interrupted command has to end by itself."""
_told = threading.Event()
"""Whether the user has been told how the command ended."""


class _Interrupted(BaseException):
    """Ctrl-C. Unlike KeyboardInterrupt it passes through the command-line library, which would end without a word."""


def main() -> None:
    """Run the command line; with ``--debug`` an error's traceback comes before its line."""
    debug = "--debug" in sys.argv[1:]
    if debug:
        sys.argv.remove("--debug")
    serving = sys.argv[1:3] == ["party", "serve"]
    if serving:
        # A service's standard error is its log, from the first line on, and that of its jobs as well.
        os.environ["HEDGEROW_LOG"] = "json"
    before = signal.signal(signal.SIGINT, _interrupt)
    try:
        from .main import app

        app()
    except SystemExit:
        raise
    except BaseException as error:
        message, code = _judge(error)
        if debug:
            traceback.print_exc()
        _told.set()
        if serving:
            message = json.dumps({"level": "error", "logger": "hedgerow", "message": message})
        else:
            message = f"hedgerow: {message}"
        print(message, file=sys.stderr)
        sys.exit(code)
    finally:
        signal.signal(signal.SIGINT, before)
        if serving:
            os.environ.pop("HEDGEROW_LOG", None)


def _judge(error: BaseException) -> tuple[str, int]:
    """What an error means for people, and for scripts."""
    match error:
        case _Interrupted():
            return "interrupted", 130
        case PeerError():
            return _visible(error), 4
        case ModuleNotFoundError() if (word := missing_extra(error)) is not None:
            return word, 3
        case HedgerowError():
            return _visible(error), 3
        case OSError():
            return f"{error.filename or 'output'}: {error.strerror or type(error).__name__}", 3
    return f"unexpected {type(error).__name__}; run again with --debug for the details", 1


def _visible(error: BaseException) -> str:
    from .screen import visible

    return visible(str(error))


def _interrupt(number: int, frame: object) -> None:
    """End now, or, where some library swallows the exception, a moment later."""
    timer = threading.Timer(PATIENCE, _give_up)
    timer.daemon = True
    timer.start()
    raise _Interrupted


def _give_up() -> None:
    processes = sys.modules.get("hedgerow.parties.process")
    if processes is not None:
        processes.end_all()
    if not _told.is_set():
        print("hedgerow: interrupted", file=sys.stderr, flush=True)
    os._exit(130)
