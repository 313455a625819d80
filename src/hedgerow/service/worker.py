"""One job at one party, in a process of its own: ``python -m hedgerow.service.worker <directory> <control socket>``.

``job.json`` in the directory says everything but secrets, which come as one line on standard input. What the job makes
is written there; the service moves it to its place. Lines of JSON on standard output tell progress and the end. No
secret value is ever printed.
"""

import errno
import io
import json
import os
import select
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from .. import kernels
from ..engine import Context
from ..errors import HedgerowError, PeerError
from ..models import ModelFacts, PartyModel
from ..parties.memory import keep_freed_memory
from ..parties.program import run_evaluation, run_labels, run_probabilities, run_training, run_withholding
from ..shares import Numbers
from ..shares.stored import to_arrays
from ..transport import SessionTerms, Timeouts, connect
from ..trees.predict import batches
from ..trees.table import TrainingTable
from ..trees.withhold import enough_rows
from .consortium import load_identity, read_consortium
from .gate import preface
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


def end_with_the_service() -> None:
    """End this process when the service that started it is gone, however it went."""
    service = os.getppid()

    def watch() -> None:
        while os.getppid() == service:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, name="watch", daemon=True).start()


def tell(**facts: Any) -> None:
    """One line for the service."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def main(directory: Path, descriptor: int) -> None:
    """Connect to the other parties and run the job."""
    keep_freed_memory()
    kernels.load(hide_scipy=True)
    end_with_the_service()
    job = json.loads((directory / "job.json").read_text())
    secret = json.loads(sys.stdin.readline())
    seal = Seal([bytes.fromhex(key) for key in secret["storage_keys"]])
    try:
        session = bytes.fromhex(job["session"])
        consortium = read_consortium(Path(job["consortium"]))
        identity = load_identity(Path(job["identity"]), consortium.revoked, seal.passphrases)
        addresses = [(host, port) for host, port in job["addresses"]]
        terms = SessionTerms(session, bytes.fromhex(job["configuration"]))
        acceptor = PassedSockets(socket.socket(fileno=descriptor))
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
    except HedgerowError as error:
        tell(error=str(error), opened=isinstance(error, Refused))
        sys.exit(1)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        problem = "has no room left on its disk" if full else f"cannot read or write its disk ({type(error).__name__})"
        tell(error=f"party {job['party']} {problem}")
        sys.exit(1)
    except Exception as error:
        # The kind of error is told, not its text: it could carry a value.
        tell(error=f"unexpected {type(error).__name__} in the job's process")
        sys.exit(1)


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


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
