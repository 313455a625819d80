"""What a protocol needs from its surroundings: context, correlated randomness, rounds, declared costs."""

from .context import Context
from .cost import FREE, Cost
from .randomness import pair_key
from .rounds import Protocol, Round, Steps, once, run, together

__all__ = ["FREE", "Context", "Cost", "Protocol", "Round", "Steps", "once", "pair_key", "run", "together"]
