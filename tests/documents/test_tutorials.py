"""The tutorial and the walkthrough run as they are written, and show what they say they show."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs" / "guide"


def commands(document):
    """Commands of all console blocks with what is shown below each; a here-document belongs to its command."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", (DOCS / document).read_text(), re.S):
        until = None
        for line in block.splitlines():
            if until is None and line.startswith("$ "):
                found.append([line[2:], []])
                opened = re.search(r"<<'(\w+)'", line)
                until = opened.group(1) if opened else None
            elif until is not None:
                found[-1][0] += f"\n{line}"
                until = None if line == until else until
            else:
                found[-1][1].append(line)
    return found


def matches(shown, printed):
    """Whether a text was printed as shown; an ellipsis stands for anything, blanks at line ends for nothing."""
    pattern = r"\s*".join(".*".join(re.escape(part) for part in line.strip().split("…")) for line in shown)
    return re.fullmatch(rf"\s*{pattern}\s*", printed, re.S) is not None


@pytest.fixture
def shell(tmp_path):
    """Runs commands where ``hedgerow`` is this package's; ends what runs in the background."""
    place = tmp_path / "bin"
    place.mkdir()
    (place / "hedgerow").write_text(f'#!/bin/sh\nexec {sys.executable} -m hedgerow "$@"\n')
    (place / "hedgerow").chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    environment = dict(
        os.environ, PATH=f"{place}:{os.environ['PATH']}", COLUMNS="100", NO_COLOR="1", PYTHONUNBUFFERED="1"
    )
    background = []

    def run(command):
        if command.endswith(" &"):
            background.append(subprocess.Popen(["bash", "-c", f"exec {command[:-2]}"], cwd=work, env=environment))
            return 0, ""
        done = subprocess.run(
            ["bash", "-c", command], cwd=work, env=environment, text=True, timeout=120, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )  # fmt: skip
        return done.returncode, done.stdout

    yield run
    for process in background:
        process.terminate()
    assert [process.wait(30) for process in background] == [0] * len(background)


def wait_for(host, port):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection((host, port), 1):
            return
        time.sleep(0.1)
    raise AssertionError(f"nobody listens at {host}:{port}")


@pytest.mark.parametrize("document", ["tutorial.md", "walkthrough.md"])
def test_the_page_runs_as_written(document, shell):
    pages = commands(document)
    assert len(pages) > 8
    started = 0
    for command, shown in pages:
        if started and not command.endswith(" &"):
            for host in ("127.0.0.1", "127.0.0.2", "127.0.0.3"):
                wait_for(host, 8440)
        started += command.endswith(" &")
        code, printed = shell(command)
        refused = any(line.startswith("hedgerow: ") for line in shown)
        assert (code == 3) is refused, (command, printed)
        assert matches(shown, printed), f"{command}\n--- shown\n" + "\n".join(shown) + f"\n--- printed\n{printed}"
