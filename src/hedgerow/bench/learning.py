"""What classes, categories, weights, rules and regression cost beside two plain classes, in one run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..reference.tree import expand, fast_rule, train
from ..runtime import PartyProcesses
from ..runtime.programs import run_training
from ..sharing import RING64, split
from ..trees.model import decode, reconstruct_tree
from ..trees.shape import TreeShape
from .report import RunFacts, best


def variants(rows: int, attrs: int, depth: int, bits: int) -> dict[str, TreeShape]:
    """The problems to compare, by name."""
    plain = TreeShape(rows, attrs, depth, bits)
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
            for name, shape in variants(rows, attrs, depth, bits).items():
                found.setdefault(name, []).append(_once(parties, shape))
    return {name: best(runs) for name, runs in found.items()}


def _once(parties: PartyProcesses, shape: TreeShape) -> RunFacts:
    x, y, weights = _table(shape)
    heavy = [None] * 3 if weights is None else split(weights, RING64)
    shares = split(x.reshape(-1), RING64), split(y, RING64), heavy
    reports = parties.run(run_training, *shares, [shape] * 3, ["fast"] * 3)
    tree = decode(reconstruct_tree([report.result for report in reports]))
    features = expand(x.astype(np.int64), shape.categories or (0,) * shape.attributes)
    matches = tree == train(features, y, shape.height, fast_rule, shape.problem, weights)
    return RunFacts.of(reports, matches, matches_reference=matches)


def _table(shape: TreeShape) -> tuple[Any, Any, Any]:
    """A table whose label or target depends on two attributes, with noise."""
    generator = np.random.default_rng(1)
    sizes = [count or 1 << shape.value_bits for count in shape.categories or (0,) * shape.attributes]
    x = np.stack([generator.integers(0, size, shape.rows, dtype=np.uint64) for size in sizes])
    signal = x[0] / sizes[0] + x[min(1, shape.attributes - 1)] / sizes[-1] + 0.3 * generator.random(shape.rows)
    steps = shape.classes or 1 << shape.target_bits
    y = np.minimum(signal / 2.3 * steps, steps - 1).astype(np.uint64)
    weights = generator.integers(0, 1 << shape.weight_bits, shape.rows, dtype=np.uint64) if shape.row_weights else None
    return x, y, weights
