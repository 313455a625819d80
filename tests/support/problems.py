"""Random problems for the fast trainer: everything it learns, alone and mixed; and how to train them."""

import numpy as np

from hedgerow.bench.programs import run_train
from hedgerow.estimators import prepare
from hedgerow.parties.training import train_tree
from hedgerow.reference.tree import expand, fast_rule, train
from hedgerow.shares import reconstruct
from hedgerow.tables import Reading, read_table
from hedgerow.tables.frame import PlainTable
from hedgerow.trees.opened import opened_columns, reconstruct_root
from hedgerow.trees.problem import Problem, check_table
from hedgerow.trees.table import TrainingTable
from support import tables
from support.threads import ThreadParties

KINDS = ("classes", "categories", "weights", "rules", "regression", "class weights")


def draw(seed, kinds, most_rows=34, most_attributes=4, most_height=3):
    """A table of attributes, labels or targets, weights or None, and its shape."""
    generator = np.random.default_rng(seed)
    x, _, height = tables.random_table(seed, most_rows, most_attributes, most_height)
    m, n = x.shape
    options = {}
    if "categories" in kinds:
        counts = [int(generator.choice([0, 1, 2, 3, 5])) for _ in range(m)]
        counts[int(generator.integers(0, m))] = int(generator.choice([1, 2, 4]))
        for j, count in enumerate(counts):
            if count:
                x[j] = generator.integers(0, count, n)
        options["categories"] = tuple(counts)
    classes = int(generator.choice([3, 4, 7])) if "classes" in kinds else 2
    if "regression" in kinds:
        classes = 0
        bits = options["target_bits"] = int(generator.choice([1, 3, 10, 20, 36]))
        y = generator.integers(0, 2**bits, n) if generator.random() < 0.7 else x[0] % 2**bits
    else:
        y = generator.integers(0, classes, n)
    if generator.random() < 0.3:
        y = (y * (x[0] > np.median(x[0]))).astype(int)
    weights = None
    if "weights" in kinds:
        bits = options["weight_bits"] = int(generator.choice([1, 2, 4]))
        weights = generator.integers(0, 2**bits, n)
        if generator.random() < 0.05:
            weights[:] = 0
    if "class weights" in kinds:
        options["class_weights"] = tuple(int(w) for w in generator.integers(1, 9, classes))
    if "rules" in kinds:
        options["min_samples_split"] = int(generator.choice([2, 5, 100]))
        options["min_samples_leaf"] = int(generator.choice([1, 2, 6]))
        options["min_impurity_decrease"] = str(generator.choice(["0", "0.01", "0.1", "0.003"]))
    problem = Problem(n, m, height, max(1, int(x.max()).bit_length()), classes, **options)
    return x, y, weights, problem


def program(ctx, table, problem):
    """What every party runs."""
    return train_tree(ctx, table, problem)


def shares(x, y, weights, problem):
    """The arguments of :func:`program`."""
    return tables_of(x, y, weights), [problem] * 3


def tables_of(x, y, weights=None):
    """What three parties hold of a plain table."""
    return TrainingTable.split(
        x.astype(np.uint64), y.astype(np.uint64), None if weights is None else weights.astype(np.uint64)
    )


def train_secure(x, y, weights, problem, parties=None):
    """The three parties' shares of the tree."""
    results = (parties or ThreadParties()).run(program, *shares(x, y, weights, problem))
    return [getattr(result, "result", result) for result in results]


def opened(parts):
    return reconstruct_root(parts)


def masses(y, weights, problem):
    """Every row's weight, class weights included."""
    own = np.ones(len(y), np.int64) if weights is None else weights.astype(np.int64)
    return own * np.array(problem.class_weights)[y] if problem.class_weights else own


def twin(x, y, weights, problem):
    """The plaintext twin's tree."""
    features = expand(x, problem.categories or (0,) * len(x))
    return train(features, y, problem.height, fast_rule, problem.twin_rules, masses(y, weights, problem))


def counts_by_leaf(parts):
    """Opened counts of all leaves, sorted."""
    numbers = reconstruct([part.leaves.number for part in parts])
    columns = [reconstruct([part.counts[c] for part in parts]) for c in range(len(parts[0].counts))]
    return sorted(tuple(int(c[i]) for c in columns) for i in range(len(numbers)) if int(numbers[i]))


def train_parties(parties, x, y, h, algorithm="paper", sharing="replicated"):
    values, labels, problem = check_table(x, y, h)
    choices = [[choice] * 3 for choice in (problem, algorithm, "loopback", sharing)]
    results = parties.run(run_train, TrainingTable.split(values, labels), *choices)
    return opened_columns([getattr(result, "result", result) for result in results])


def prepared_table(path, target, wish, header=True, ignore=()):
    """A file as ``hedgerow train`` prepares it: columns of text are categories."""
    table = read_table(path, Reading(header))
    names = [name for name in table.names if name != target and name not in ignore]
    text = [name for name in names if table.is_text(name)]
    columns = [table.attribute(name, name in text) for name in names]
    return prepare(PlainTable(names, columns, categorical=text), target, table.column(target), wish)
