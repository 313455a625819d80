"""Hedgerow: decision trees trained on data that nobody may see, by three parties on secret shares alone."""

__version__ = "0.1.0"
