"""Rounds of the paper's algorithms in its own cost model, as formulas; tests compare them with the counting box."""

from hedgerow.paper.counting import ceil_log2, network_rounds, sort_rounds
from hedgerow.trees.problem import Problem


def group_sum_rounds(n: int) -> int:
    """Mul, SortPerm of one bit, Apply, Unapply, Mul."""
    return 2 + sort_rounds(n, 1) + 2 * network_rounds(n)


def group_max_rounds(n: int) -> int:
    """⌈log n⌉ levels of (cross products, LT, two IfElse, OR), then Mul and GroupSum."""
    return 5 * ceil_log2(n) + 1 + group_sum_rounds(n)


def format_layer_rounds(n: int) -> int:
    """IfElse, SortPerm of one bit, Apply."""
    return 1 + sort_rounds(n, 1) + network_rounds(n)


def layer_rounds(n: int, m: int) -> int:
    """One inner layer: test selection, stopping, tests, formatting, the step to the next layer."""
    gini = (1 + group_sum_rounds(n)) + group_sum_rounds(n) + 2
    attributewise = gini + 2 + 1 + group_max_rounds(n)
    selection = sort_rounds(n, 2) + network_rounds(n) + attributewise + 3 * ceil_log2(m)
    stopping = group_sum_rounds(n) + 2 + 1
    tests = 3
    following = (1 + group_sum_rounds(n)) + 2 + sort_rounds(n, 1) + network_rounds(n)
    return selection + stopping + tests + format_layer_rounds(n) + following


def training_rounds(problem: Problem) -> int:
    """O(h·(log n + log m)): h layers, then the leaves."""
    leaves = group_sum_rounds(problem.rows) + 1 + format_layer_rounds(problem.rows)
    return problem.height * layer_rounds(problem.rows, problem.attributes) + leaves
