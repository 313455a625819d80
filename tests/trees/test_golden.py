"""What every step sends, and the trees: recorded once, compared ever after.

Whoever rebuilds the house without meaning to change its behaviour finds here that rounds, bytes and trees are the same,
step by step. The traffic of a sort is random, so pair keys are fixed; the names of steps seed the streams, so they are
part of the record. ``python tests/trees/test_golden.py`` writes the record anew: say why where you do.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from hedgerow.engine import Context, pair_key
from hedgerow.parties.training import train_tree
from hedgerow.reference.node import Leaf
from hedgerow.shares import split
from hedgerow.trees.opened import reconstruct_root
from hedgerow.trees.predict import predict_labels, predict_probabilities
from hedgerow.trees.withhold import enough_rows, withhold_small_leaves
from support import problems
from support.operations import dealers
from support.threads import ThreadParties

RECORD = Path(__file__).with_name("golden.json")
CASES = {
    "two classes": {"kinds": (), "seed": 1},
    "two classes, large": {"kinds": (), "seed": 2, "most_rows": 3000, "most_height": 5, "least_rows": 1500},
    "two classes, three dealers": {"kinds": (), "seed": 3, "most_rows": 200, "dealers": 3},
    "two classes, deep": {"kinds": (), "seed": 4, "most_rows": 150, "most_height": 12},
    "many classes": {"kinds": ("classes",), "seed": 5, "most_rows": 120},
    "categories": {"kinds": ("categories",), "seed": 6, "most_rows": 120},
    "weights": {"kinds": ("weights",), "seed": 7, "most_rows": 120},
    "class weights": {"kinds": ("class weights",), "seed": 8, "most_rows": 120},
    "rules": {"kinds": ("rules",), "seed": 9, "most_rows": 120},
    "regression": {"kinds": ("regression",), "seed": 10, "most_rows": 120},
    "regression with weights, categories and rules": {
        "kinds": ("regression", "weights", "categories", "rules"),
        "seed": 11,
        "most_rows": 80,
    },
    "everything of classes, three dealers": {
        "kinds": ("classes", "categories", "weights", "rules"),
        "seed": 12,
        "most_rows": 80,
        "dealers": 3,
    },
    "HIKC23 as written": {"kinds": (), "seed": 13, "algorithm": "paper"},
}


def fixed_keys(transport, session=b"", lane="main"):
    """In place of :meth:`Context.establish`: keys that are the same in every run."""

    def key(other):
        low, high = sorted((transport.party, other))
        return pair_key(bytes([low] * 32), bytes([high] * 32), b"golden", True)

    return Context(transport, key(transport.left), key(transport.right), lane, lane)


def program(ctx, table, problem, rows, algorithm):
    """Train, predict, and withhold."""
    tree = train_tree(ctx.step("train"), table, problem, algorithm)
    columns = rows.pieces(len(rows) // problem.attributes)
    predict_labels(ctx.step("labels"), tree, columns, problem)
    if tree.counts and not problem.regression:
        predict_probabilities(ctx.step("probabilities"), tree, columns, problem)
        enough_rows(ctx.step("enough"), table, problem, 10, 3)
    if tree.counts:
        withhold_small_leaves(ctx.step("withhold"), tree, problem, 4)
    return tree


def worth_recording(problem, least_rows):
    """Some random tables are tiny; those show little."""
    return problem.height >= 2 and problem.attributes >= 2 and problem.rows >= least_rows


def plain(node):
    if isinstance(node, Leaf):
        return int(node.label)
    return [int(node.feature), int(node.threshold), plain(node.if_true), plain(node.if_false)]


def observed(case):
    """The tree, and per step its rounds and the bytes that each party sent."""
    options = dict(case)
    kinds, seed, algorithm = options.pop("kinds"), options.pop("seed"), options.pop("algorithm", "fast")
    number, least = options.pop("dealers", 1), options.pop("least_rows", 25)
    tables = (problems.draw(k, kinds, **options) for k in itertools.count(100 * seed))
    x, y, weights, problem = next(table for table in tables if worth_recording(table[3], least))
    rows = split(2 * np.arange(20 * problem.attributes) % 2**problem.value_bits, problem.widths.value_ring)
    parties = ThreadParties()
    with mock.patch.object(Context, "establish", fixed_keys), dealers(number):
        results = parties.run(program, *problems.shares(x, y, weights, problem), rows, [algorithm] * 3)
    steps = {}
    for party, transport in enumerate(parties.transports):
        for name, spent in transport.meter.steps.items():
            entry = steps.setdefault(name, {"rounds": [0] * 3, "sent": [0] * 3})
            entry["rounds"][party], entry["sent"][party] = spent.rounds, spent.sent
    facts = {"rows": problem.rows, "attributes": problem.attributes, "height": problem.height}
    tree = plain(reconstruct_root(results))
    return {"shape": facts, "tree": tree, "steps": {name: [*s["rounds"], *s["sent"]] for name, s in steps.items()}}


@pytest.mark.parametrize("name", CASES)
def test_rounds_bytes_and_trees_are_what_they_were(name):
    expected, found = json.loads(RECORD.read_text())[name], observed(CASES[name])
    assert found["shape"] == expected["shape"]
    assert found["tree"] == expected["tree"]
    changed = {
        step: (expected["steps"].get(step), found["steps"].get(step))
        for step in expected["steps"].keys() | found["steps"].keys()
        if expected["steps"].get(step) != found["steps"].get(step)
    }
    assert changed == {}


if __name__ == "__main__":
    record = {name: observed(case) for name, case in CASES.items()}
    RECORD.write_text(json.dumps(record, indent=0, separators=(",", ":")) + "\n")
    print(f"wrote {RECORD}: {RECORD.stat().st_size:,} bytes")
