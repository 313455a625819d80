"""Benchmarks of training on three real processes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..parties import PartyProcesses, PartyReport
from ..parties.training import check_sharing
from ..reference.tree import fast_rule, paper_rule, train
from ..transport import NETWORKS, Spending
from ..trees.opened import reconstruct_root
from ..trees.problem import Problem, check_table
from ..trees.table import TrainingTable
from .programs import run_train
from .published import published_seconds
from .report import RunFacts, best

RULES = {"fast": fast_rule, "paper": paper_rule}
Table = tuple[npt.NDArray[Any], npt.NDArray[Any]]


def random_table(rows: int, attributes: int, bits: int, seed: int = 1) -> Table:
    """A table whose label depends on two attributes, with one row in ten mislabelled."""
    generator = np.random.default_rng(seed)
    x = generator.integers(0, 1 << bits, (attributes, rows))
    signal = x[0] + x[min(1, attributes - 1)] > 1 << bits
    return x, (signal ^ (generator.random(rows) < 0.1)).astype(np.int64)


def read_table(path: Path) -> Table:
    """Whole numbers separated by tabs, blanks or commas, the label last; its two values become 0 and 1."""
    try:
        lines = path.read_text().replace(",", " ").split("\n")
        values = np.array([[int(v) for v in line.split()] for line in lines if line.strip()])
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is not a table of whole numbers: {error}") from None
    classes = np.unique(values[:, -1])
    if len(classes) > 2:
        raise InputError(f"the last column of {path} has {len(classes)} different values; a label has two")
    return values[:, :-1].T, (values[:, -1] == classes[-1]).astype(np.int64)


def step_table(report: PartyReport, depth: int = 3) -> dict[str, dict[str, Any]]:
    """Rounds, bytes and seconds of the named steps at one party, all layers together."""
    joined: dict[str, Spending] = {}
    for name, spending in report.meter.steps.items():
        parts = [part for part in name.split("/")[1:] if not part.removeprefix("layer").isdigit()]
        key = "/".join(parts[: depth - 1])
        joined[key] = joined.get(key, Spending()) + spending
    return {
        name: {
            "rounds": s.rounds,
            "bytes_sent": s.sent,
            "computing_seconds": round(s.computing, 4),
            "exchanging_seconds": round(s.exchanging, 4),
            "seconds": round(s.computing + s.exchanging, 4),
        }
        for name, s in joined.items()
    }


def model_seconds(report: PartyReport, network: str) -> float | None:
    """What delay and bandwidth alone cost: every round its delay, every longest message its time on the link."""
    link = NETWORKS[network]
    if link is None:
        return None
    total = report.meter.total()
    return round(total.rounds * link.delay + total.longest / link.bandwidth, 2)


def bench_train(
    table: Table,
    depth: int,
    algorithm: str,
    network: str = "loopback",
    bits: int | None = None,
    repeat: int = 1,
    sharing: str = "replicated",
    criterion: str = "gini",
) -> RunFacts:
    """Train on a table and compare the revealed tree with the plaintext twin's, node for node."""
    x, y, problem = check_table(*table, depth, bits)
    problem = replace(problem, criterion=criterion)
    check_sharing(sharing, algorithm, problem)
    with PartyProcesses(network=network) as parties:
        runs = [train_once(parties, x, y, problem, algorithm, network, sharing=sharing) for _ in range(repeat)]
        return best(runs)


def train_once(
    parties: PartyProcesses,
    x: npt.NDArray[Any],
    y: npt.NDArray[Any],
    problem: Problem,
    algorithm: str,
    network: str = "loopback",
    depth: int = 3,
    sharing: str = "replicated",
) -> RunFacts:
    """One run at running parties."""
    tables = TrainingTable.split(x, y)
    reports = parties.run(run_train, tables, [problem] * 3, [algorithm] * 3, [network] * 3, [sharing] * 3)
    tree = reconstruct_root([report.result for report in reports])
    matches = tree == train(x, y, problem.height, RULES[algorithm], problem.twin_rules)
    steps = step_table(reports[0], depth)
    selection = sum(step["seconds"] for name, step in steps.items() if name.split("/")[1] == "test_selection")
    return RunFacts.of(
        reports,
        matches,
        algorithm=algorithm,
        sharing=sharing,
        criterion=problem.criterion,
        rows=problem.rows,
        attrs=problem.attributes,
        depth=problem.height,
        network=network,
        matches_reference=matches,
        test_selection_seconds=round(selection, 4),
        model_seconds=model_seconds(reports[0], network),
        paper_seconds=published_seconds(problem) if problem.criterion == "gini" else None,
        steps=steps,
    )


def compare(table: Table, depth: int, bits: int | None, repeat: int) -> dict[str, Any]:
    """Both algorithms in one run, alternating; seconds and bytes of each, best of several, and their ratios."""
    x, y, problem = check_table(*table, depth, bits)
    runs: dict[str, list[RunFacts]] = {"fast": [], "paper": []}
    with PartyProcesses() as parties:
        for _ in range(repeat):
            for algorithm, done in runs.items():
                done.append(train_once(parties, x, y, problem, algorithm))
    fast, paper = best(runs["fast"]), best(runs["paper"])
    return {
        "fast": fast.as_dict(),
        "paper": paper.as_dict(),
        "time_ratio": round(paper.seconds / fast.seconds, 2),
        "bytes_ratio": round(max(paper.bytes_sent) / max(fast.bytes_sent), 2),
        "correct": fast.correct and paper.correct,
    }
