"""Whether what was seen could be uniform."""

import numpy as np
from scipy.stats import chi2

UNLIKELY = 1e-7
"""A right implementation fails a check with about this probability."""


def histogram_is_uniform(counts: np.ndarray) -> bool:
    expected = counts.sum() / counts.size
    statistic = ((counts - expected) ** 2 / expected).sum()
    return chi2.sf(statistic, counts.size - 1) > UNLIKELY
