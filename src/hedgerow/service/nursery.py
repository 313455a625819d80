"""The process from which job processes are forked, so that a job starts at once and not after a second of loading.

It starts with the first job, holds no key and no share, and ends with the service. Only it can tell whether a job's
process is still its child, so it is the one that ends them: a number that the system has given to another process is
never signalled.
"""

import contextlib
import os
import socket
import struct
import subprocess
import sys
import threading

START, STOP = b"s", b"k"
MESSAGE = struct.Struct("!cq")
"""What is said, and the process's number where one is meant; a start carries three descriptors with it."""


class Nursery:
    """The service's end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None

    def _connected(self) -> socket.socket:
        """The line to a nursery that lives; one that has gone is replaced."""
        if self._process is None or self._process.poll() is not None:
            self._hang_up()
            ours, theirs = socket.socketpair()
            environment = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p), OMP_NUM_THREADS="1")
            command = [sys.executable, "-m", "hedgerow.service.worker", str(theirs.fileno())]
            with theirs:
                self._process = subprocess.Popen(
                    command, pass_fds=[theirs.fileno()], env=environment, stdin=subprocess.DEVNULL
                )
            self._line = ours
        assert self._line is not None
        return self._line

    def start(self, told: bytes, control: socket.socket) -> tuple[int, int]:
        """Start a job's process, which reads ``told`` first. Its number, and where to read what it says."""
        reading, writing = os.pipe()
        hearing, saying = os.pipe()
        try:
            with self._lock:
                line = self._connected()
                socket.send_fds(line, [MESSAGE.pack(START, 0)], [control.fileno(), reading, saying])
                answer = line.recv(MESSAGE.size, socket.MSG_WAITALL)
            if len(answer) < MESSAGE.size:
                raise BrokenPipeError("the process that starts jobs has ended")
            with contextlib.suppress(BrokenPipeError), open(writing, "wb", closefd=False) as child:
                child.write(told)
        except OSError:
            os.close(hearing)
            raise
        finally:
            for descriptor in (reading, writing, saying):
                os.close(descriptor)
        return MESSAGE.unpack(answer)[1], hearing

    def stop(self, process: int) -> None:
        """End a job's process if it has not ended."""
        with self._lock, contextlib.suppress(BrokenPipeError, ConnectionResetError):
            # Where the nursery has gone its children have too.
            if self._line is not None:
                self._line.sendall(MESSAGE.pack(STOP, process))

    def _hang_up(self) -> None:
        if self._line is not None:
            self._line.close()
        self._line = None

    def close(self) -> None:
        """End the nursery and with it whatever it has started."""
        with self._lock:
            self._hang_up()
            if self._process is not None:
                try:
                    self._process.wait(10)
                except subprocess.TimeoutExpired:
                    self._process.kill()
