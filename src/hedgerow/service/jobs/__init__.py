"""Jobs at one party: submitted, agreed on, run by all three together, finished at all three or at none."""

from .service import Jobs

__all__ = ["Jobs"]
