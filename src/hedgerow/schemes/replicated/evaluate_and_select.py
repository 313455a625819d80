"""Bits from circuits that at once select numbers: the selections are dealt together with the circuits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...engine import Context, Round, Steps, run, together
from ...shares import Columns, Words
from .evaluation import Evaluation
from .formula import Formula
from .select import Selection


@dataclass(frozen=True, slots=True)
class SelectByRow:
    """A selection by some bits of a circuit, one per term; ``change`` moves their items elsewhere, if there is one
    dealer only."""

    bits: Sequence[Formula]
    selection: Selection
    change: Callable[[Words], Words] | None = None

    def opening(self, evaluation: Evaluation) -> Round:
        """The dealing, before anything is evaluated."""
        left, right = evaluation.masks(self.bits)
        return self.selection.opening(self._changed(left), self._changed(right))

    def answers(self, evaluation: Evaluation) -> Steps[Columns]:
        """The answers; they begin when the bits' values are known."""
        following, previous = evaluation.values(self.bits)
        return (yield from self.selection.answers(self._changed(following), self._changed(previous)))

    def _changed(self, words: Words) -> Words:
        return self.change(words) if self.change is not None and words.size else words


def evaluate_and_select(
    ctx: Context,
    chain: Sequence[Evaluation],
    selections: Sequence[SelectByRow],
    beside: Sequence[Evaluation] = (),
    after: int = 0,
) -> list[Columns]:
    """Run circuits, each going on with bits of the one before, and selections by bits of the last one, all but those of
    its last ``after`` stages; ``beside`` are circuits no longer than the first one, which share its rounds.

    Cost: that of the circuits and of the selections, all dealt in one round; the answers take a round of their own
    unless a stage comes after. Reveals: nothing beyond shapes; see :class:`.evaluation.Evaluation` and
    :class:`.select.Selection`.
    """
    return run(ctx, _steps(chain, selections, beside, after))


def _steps(
    chain: Sequence[Evaluation], selections: Sequence[SelectByRow], beside: Sequence[Evaluation], after: int
) -> Steps[list[Columns]]:
    opening, last = Round(), chain[-1]
    if after > last.rounds or any(circuit.rounds > chain[0].rounds for circuit in beside):
        raise ValueError("circuits beside a chain must not be longer than its first, nor stages after than its last")
    if any(chosen.change is not None and not last.blocks.single_dealer for chosen in selections):
        raise ValueError("bits can move between a circuit and a selection only with a single dealer")
    for circuit in (*chain, *beside):
        opening += circuit.opening()
    for chosen in selections:
        opening += chosen.opening(last)
    yield opening
    stages: Steps[Any] = _one_after_another(chain, beside)
    for _ in range(sum(circuit.rounds for circuit in chain) - after):
        yield next(stages)
    # Going on with the stages makes the last rows' values known; only then do the answers begin.
    results = yield from together(stages, *(chosen.answers(last) for chosen in selections))
    return results[1:]


def _one_after_another(chain: Sequence[Evaluation], beside: Sequence[Evaluation]) -> Steps[None]:
    yield from together(*(circuit.stages() for circuit in (chain[0], *beside)))
    for circuit in chain[1:]:
        yield from circuit.stages()
