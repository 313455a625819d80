"""Benchmarks of training on three real processes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..reference.tree import paper_rule, train
from ..runtime import PartyProcesses, PartyReport
from ..sharing import RING64, split
from ..trees.model import decode, reconstruct_tree
from ..trees.shape import TreeShape, check_table
from .programs import run_train
from .report import RunFacts, best

RULES = {"paper": paper_rule}


def random_table(rows: int, attributes: int, bits: int, seed: int = 1) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """A table whose label depends on two attributes, with one row in ten mislabelled."""
    generator = np.random.default_rng(seed)
    x = generator.integers(0, 1 << bits, (attributes, rows))
    signal = x[0] + x[min(1, attributes - 1)] > 1 << bits
    return x, (signal ^ (generator.random(rows) < 0.1)).astype(np.int64)


def step_table(report: PartyReport, depth: int = 3) -> dict[str, dict[str, Any]]:
    """Rounds, bytes and seconds of the named steps at one party."""
    return {
        "/".join(name.split("/")[1:]): {
            "rounds": s.rounds,
            "bytes_sent": s.sent,
            "seconds": round(s.computing + s.exchanging, 4),
        }
        for name, s in report.meter.by_depth(depth)
    }


def bench_train(
    rows: int, attributes: int, depth: int, algorithm: str, network: str = "loopback", bits: int = 30, repeat: int = 1
) -> RunFacts:
    """Train on a random table and compare the revealed tree with the plaintext twin's, node for node."""
    x, y, shape = check_table(*random_table(rows, attributes, bits), depth, bits)
    with PartyProcesses(network=network) as parties:
        return best([train_once(parties, x, y, shape, algorithm) for _ in range(repeat)])


def train_once(
    parties: PartyProcesses, x: npt.NDArray[Any], y: npt.NDArray[Any], shape: TreeShape, algorithm: str
) -> RunFacts:
    """One run at running parties."""
    reports = parties.run(run_train, split(x.reshape(-1), RING64), split(y, RING64), [shape] * 3, [algorithm] * 3)
    tree = decode(reconstruct_tree([report.result for report in reports]))
    matches = tree == train(x, y, shape.height, RULES[algorithm])
    steps = step_table(reports[0])
    selection = sum(step["seconds"] for name, step in steps.items() if name.endswith("test_selection"))
    return RunFacts.of(
        reports,
        matches,
        algorithm=algorithm,
        rows=shape.rows,
        attrs=shape.attributes,
        depth=shape.height,
        matches_reference=matches,
        test_selection_seconds=round(selection, 4),
        steps=steps,
    )
