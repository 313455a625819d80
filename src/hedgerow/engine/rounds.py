"""Protocols as generators of rounds, so that several of them can share their rounds.

A protocol yields what it sends and expects in a round; when it goes on, everything expected has come.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import update_wrapper
from typing import Concatenate, Generic, ParamSpec, TypeVar

from ..transport.base import Buffer
from .context import Context

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(slots=True)
class Round:
    """What a party sends to its neighbours and expects from them in one round."""

    to_left: list[Buffer] = field(default_factory=list)
    from_right: list[Buffer] = field(default_factory=list)
    to_right: list[Buffer] = field(default_factory=list)
    from_left: list[Buffer] = field(default_factory=list)

    def __iadd__(self, other: Round) -> Round:
        """Both in one round, this one's messages first."""
        self.to_left += other.to_left
        self.from_right += other.from_right
        self.to_right += other.to_right
        self.from_left += other.from_left
        return self


Steps = Generator[Round, None, T]


def run(ctx: Context, steps: Steps[T]) -> T:
    """Run a protocol's rounds and return what it returns."""
    try:
        while True:
            this = next(steps)
            ctx.exchange(this.to_left, this.to_right, this.from_left, this.from_right)
    except StopIteration as stop:
        result: T = stop.value
        return result


class Protocol(Generic[P, T]):
    """A protocol written as a generator: call it to run it, or join its :meth:`rounds` with those of others."""

    def __init__(self, generator: Callable[Concatenate[Context, P], Steps[T]]) -> None:
        self._generator = generator
        update_wrapper(self, generator)

    def __call__(self, ctx: Context, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run it."""
        return run(ctx, self._generator(ctx, *args, **kwargs))

    def rounds(self, ctx: Context, *args: P.args, **kwargs: P.kwargs) -> Steps[T]:
        """The rounds, for :func:`together`; randomness is drawn under the context's own step."""
        return self._generator(ctx, *args, **kwargs)


def once(only: Round) -> Steps[None]:
    """A protocol of one round."""
    yield only


def together(*protocols: Steps[T]) -> Steps[list[T]]:
    """Several protocols side by side: as many rounds as the longest of them has."""
    results: dict[int, T] = {}
    while len(results) < len(protocols):
        joint = Round()
        for index, steps in enumerate(protocols):
            if index in results:
                continue
            try:
                joint += next(steps)
            except StopIteration as stop:
                results[index] = stop.value
        if len(results) < len(protocols):
            yield joint
    return [results[index] for index in range(len(protocols))]
