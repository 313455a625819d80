"""What classes, categories, weights, rules and regression cost beside two plain classes, in one run."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..parties import PartyProcesses
from ..parties.program import run_training
from ..reference.tree import expand, fast_rule, train
from ..trees.opened import reconstruct_root
from ..trees.problem import Problem
from ..trees.table import TrainingTable
from .report import RunFacts, best


def variants(rows: int, attrs: int, depth: int, bits: int) -> dict[str, Problem]:
    """The problems to compare, by name."""
    plain = Problem(rows, attrs, depth, bits)
    return {
        "two classes": plain,
        "two classes, rules": replace(plain, min_samples_split=20, min_samples_leaf=10, min_impurity_decrease="0.0001"),
        "3 classes": replace(plain, classes=3),
        "10 classes": replace(plain, classes=10),
        "two classes, weights up to 15": replace(plain, weight_bits=4),
        "target of 10 bits": replace(plain, classes=0, target_bits=10),
        "target of 30 bits": replace(plain, classes=0, target_bits=30),
        "categories, 5 each": replace(plain, categories=(5,) * attrs),
    }


def bench_learning(rows: int, attrs: int, depth: int, bits: int, repeat: int) -> dict[str, RunFacts]:
    """Train every variant, taking turns, and compare each tree with its twin; the best of several runs."""
    found: dict[str, list[RunFacts]] = {}
    with PartyProcesses() as parties:
        for _ in range(repeat):
            for name, problem in variants(rows, attrs, depth, bits).items():
                found.setdefault(name, []).append(_once(parties, problem))
    return {name: best(runs) for name, runs in found.items()}


def _once(parties: PartyProcesses, problem: Problem) -> RunFacts:
    x, y, weights = _table(problem)
    reports = parties.run(run_training, TrainingTable.split(x, y, weights), [problem] * 3, ["fast"] * 3)
    tree = reconstruct_root([report.result for report in reports])
    features = expand(x.astype(np.int64), problem.categories or (0,) * problem.attributes)
    matches = tree == train(features, y, problem.height, fast_rule, problem.twin_rules, weights)
    return RunFacts.of(reports, matches, matches_reference=matches)


def _table(problem: Problem) -> tuple[Any, Any, Any]:
    """A table whose label or target depends on two attributes, with noise."""
    generator = np.random.default_rng(1)
    sizes = [count or 1 << problem.value_bits for count in problem.categories or (0,) * problem.attributes]
    x = np.stack([generator.integers(0, size, problem.rows, dtype=np.uint64) for size in sizes])
    signal = x[0] / sizes[0] + x[min(1, problem.attributes - 1)] / sizes[-1] + 0.3 * generator.random(problem.rows)
    steps = problem.classes or 1 << problem.target_bits
    y = np.minimum(signal / 2.3 * steps, steps - 1).astype(np.uint64)
    weights = (
        generator.integers(0, 1 << problem.weight_bits, problem.rows, dtype=np.uint64) if problem.row_weights else None
    )
    return x, y, weights
