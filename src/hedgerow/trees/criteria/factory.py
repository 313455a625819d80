"""Which criterion a problem takes."""

from ...engine import Context
from ..problem import Problem
from ..table import TrainingTable
from .base import Criterion, CriterionCost
from .class_sums import ClassSumsCost, several_sums
from .single_sum import SingleSum, SingleSumCost


def criterion_for(ctx: Context, problem: Problem, table: TrainingTable) -> Criterion:
    """The problem's criterion for a table whose labels, targets and weights are in their declared range."""
    if problem.bounds.several_sums:
        return several_sums(ctx, problem, table)
    return SingleSum(problem, table.y)


def criterion_cost(problem: Problem) -> CriterionCost:
    """What that criterion costs."""
    return ClassSumsCost(problem) if problem.bounds.several_sums else SingleSumCost(problem)
