"""Which criterion a problem takes."""

from ...engine import Context
from ..problem import Problem
from ..table import TrainingTable
from .base import Criterion, CriterionCost
from .class_sums import ClassSumsCost, class_columns, several_sums
from .entropy import EntropyOfMany, EntropyOfManyCost, EntropyOfTwo, EntropyOfTwoCost, WeightedEntropy
from .single_sum import SingleSum, SingleSumCost


def criterion_for(ctx: Context, problem: Problem, table: TrainingTable) -> Criterion:
    """The problem's criterion for a table whose labels, targets and weights are in their declared range."""
    several = problem.bounds.several_sums
    if problem.criterion != "gini":
        if not several:
            return EntropyOfTwo(problem, table.y)
        kind = WeightedEntropy if problem.weighted else EntropyOfMany
        return kind(problem, class_columns(ctx, problem, table))
    return several_sums(ctx, problem, table) if several else SingleSum(problem, table.y)


def criterion_cost(problem: Problem) -> CriterionCost:
    """What that criterion costs."""
    several = problem.bounds.several_sums
    if problem.criterion != "gini":
        return EntropyOfManyCost(problem) if several else EntropyOfTwoCost(problem)
    return ClassSumsCost(problem) if several else SingleSumCost(problem)
