"""One job at one party, in a process of its own, forked from ``python -m hedgerow.service.worker <socket>``.

One line on standard input says where ``job.json`` is, and the secrets; the file says everything else. What the job
makes is written beside it; the service moves it to its place. Lines of JSON on standard output tell progress and the
end. No secret value is ever printed, and none is known before the fork.
"""

import errno
import io
import json
import os
import select
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from ..engine import Context
from ..errors import HedgerowError, PeerError
from ..models import ModelFacts, PartyModel
from ..parties.memory import prepare_to_fork
from ..parties.program import run_evaluation, run_labels, run_probabilities, run_training, run_withholding
from ..shares import Numbers
from ..shares.stored import to_arrays
from ..transport import SessionTerms, Timeouts, connect
from ..trees.predict import batches
from ..trees.table import TrainingTable
from ..trees.withhold import enough_rows
from .consortium import load_identity, read_consortium
from .gate import preface
from .nursery import MESSAGE, START
from .seal import Seal
from .vault import Vault


class PassedSockets:
    """Connections that the service accepted on the party port and passed on."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._seconds: float | None = None

    def settimeout(self, value: float | None, /) -> None:
        """How long :meth:`accept` waits."""
        self._seconds = value

    def accept(self) -> tuple[socket.socket, object]:
        """The next caller."""
        if not select.select([self._control], [], [], self._seconds)[0]:
            raise TimeoutError
        content, descriptors, _, _ = socket.recv_fds(self._control, 1, 1)
        if not content:
            raise HedgerowError("the party service has gone")
        return socket.socket(fileno=descriptors[0]), None


def end_with_the_parent() -> None:
    """End this process when the one that started it is gone, however it went."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.2)
        os._exit(1)

    threading.Thread(target=watch, name="watch", daemon=True).start()


def tell(**facts: Any) -> None:
    """One line for the service."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def run(control: socket.socket) -> int:
    """Connect to the other parties and run the job; the exit status."""
    end_with_the_parent()
    secret = json.loads(sys.stdin.readline())
    directory = Path(secret["directory"])
    job = json.loads((directory / "job.json").read_text())
    seal = Seal([bytes.fromhex(key) for key in secret["storage_keys"]])
    try:
        session = bytes.fromhex(job["session"])
        consortium = read_consortium(Path(job["consortium"]))
        identity = load_identity(Path(job["identity"]), consortium.revoked, seal.passphrases)
        addresses = [(host, port) for host, port in job["addresses"]]
        terms = SessionTerms(session, bytes.fromhex(job["configuration"]))
        acceptor = PassedSockets(control)
        timeouts = Timeouts(job["patience"])
        key, party = bytes.fromhex(secret["gate_key"]), job["party"]
        prefaces = {peer: preface(key, session, party, peer) for peer in range(party)}
        transport = connect(party, acceptor, addresses, terms, identity, timeouts, prefaces=prefaces)
        try:
            _run(Context.establish(transport, session), job, directory, Vault(Path(job["vault"]), seal))
        except BaseException as error:
            transport.abort(error.peer if isinstance(error, PeerError) else job["party"])
            raise
        spent = transport.meter.total()
        transport.close()
        tell(done={"rounds": spent.rounds, "sent": spent.sent})
        return 0
    except HedgerowError as error:
        tell(error=str(error), opened=isinstance(error, Refused))
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        problem = "has no room left on its disk" if full else f"cannot read or write its disk ({type(error).__name__})"
        tell(error=f"party {job['party']} {problem}")
    except Exception as error:
        # The kind of error is told, not its text: it could carry a value.
        tell(error=f"unexpected {type(error).__name__} in the job's process")
    return 1


class Refused(HedgerowError):
    """A rule that can only be checked on the shares does not allow the job."""


def _run(ctx: Context, job: dict[str, Any], directory: Path, vault: Vault) -> None:
    spec = job["spec"]

    def report(layer: int, step: str) -> None:
        spent = ctx.transport.meter.total()
        tell(progress={"layer": layer, "step": step, "rounds": spent.rounds, "sent": spent.sent})

    facts = ModelFacts.of_entry(job["facts"])
    if spec["kind"] == "train":
        table = training_table(vault, job["tables"], facts, spec["combine"], job["weight"])
        problem, least, least_count = facts.problem, spec.get("min_rows", 1), spec.get("min_count", 1)
        least_of_a_class = problem.min_samples_leaf
        if job["count_first"] and not enough_rows(ctx.step("enough"), table, problem, least, least_of_a_class):
            raise Refused(
                f"the rules of disclosure do not allow this training: fewer than {least} rows have a weight, or a "
                f"class has fewer than {least_of_a_class} of them"
            )
        tree = run_training(ctx.step("train"), table, problem, facts.algorithm, report=report)
        shown = None
        if least_count > least_of_a_class:
            shown = run_withholding(ctx.step("withhold"), tree, problem, least_count)
        vault.write_model(directory / "model", spec["id"], PartyModel(facts, job["party"], tree), shown)
        return
    # What is opened for every row comes from the tree without the numbers of small leaves.
    tree = (vault.tree if spec["kind"] == "evaluate" else vault.shown_tree)(spec["model"])
    rows, attributes, problem = job["rows"], facts.problem.attributes, facts.problem
    columns = [vault.column(spec["upload"], rows, j).narrow(problem.widths.value_ring) for j in range(attributes)]
    truth = vault.column(spec["upload"], rows, attributes) if spec["kind"] == "evaluate" else None
    parts: list[list[Numbers]] = []
    for piece in batches(problem, rows):
        x = [column[piece] for column in columns]
        if truth is not None:
            step = ctx.step("evaluate")
            parts.append([run_evaluation(step, tree, x, truth[piece], problem)])
        elif spec["kind"] == "probabilities":
            parts.append(run_probabilities(ctx.step("probabilities"), tree, x, problem))
        else:
            parts.append([run_labels(ctx.step("predict"), tree, x, problem)])
        report(0, f"row {piece.stop} of {rows}")
    buffer = io.BytesIO()
    np.savez(buffer, **_joined(parts, summed=truth is not None))
    vault.write_result(directory / "result.npz", spec["id"], buffer.getvalue())


def _joined(parts: list[list[Numbers]], summed: bool) -> Any:
    """The results of all batches: added up where they are counts, else one after the other."""
    arrays: dict[str, Any] = {}
    for k, column in enumerate(zip(*parts, strict=True)):
        joined = (Numbers.total if summed else Numbers.concatenate)(column)
        arrays |= to_arrays(joined, f"left{k}", f"right{k}")
    return arrays


def training_table(
    vault: Vault, tables: list[dict[str, Any]], facts: ModelFacts, combine: str, weight: str | None
) -> TrainingTable:
    """The combined datasets."""

    def column(name: str) -> Numbers:
        found = [
            vault.column(table["id"], table["rows"], table["columns"].index(name))
            for table in tables
            if name in table["columns"]
        ]
        return Numbers.concatenate(found) if combine == "rows" else found[0]

    attributes = [column(name) for name in facts.attribute_names]
    return TrainingTable(attributes, column(facts.target), None if weight is None else column(weight))


def _start(line: socket.socket, descriptors: list[int]) -> int:
    """Fork a job's process; its number."""
    control, reading, saying = descriptors
    child = os.fork()
    if child == 0:
        line.close()
        os.dup2(reading, 0)
        os.dup2(saying, 1)
        for descriptor in (reading, saying):
            os.close(descriptor)
        status = 1
        try:
            status = run(socket.socket(fileno=control))
        finally:
            os._exit(status)
    for descriptor in descriptors:
        os.close(descriptor)
    return child


def main(line: socket.socket) -> None:
    """Load everything, then start and end job processes as the service says, until it hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    prepare_to_fork()
    children: set[int] = set()
    while True:
        if select.select([line], [], [], 1 if children else None)[0]:
            said, descriptors, _, _ = socket.recv_fds(line, MESSAGE.size, 3, socket.MSG_WAITALL)
            if len(said) < MESSAGE.size:
                break
            word, child = MESSAGE.unpack(said)
            if word == START:
                children.add(started := _start(line, descriptors))
                line.sendall(MESSAGE.pack(START, started))
            elif child in children:
                os.kill(child, signal.SIGKILL)
        children = {child for child in children if os.waitpid(child, os.WNOHANG) == (0, 0)}
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    # There is nothing to clean up, and an ordinary exit is slow with Numba.
    os._exit(0)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
