"""What a protocol needs from its surroundings: context, correlated randomness, rounds, declared costs."""

from .context import Context
from .cost import FREE, Cost
from .randomness import pair_key
from .rounds import Protocol, Round, Steps, once, run, together
