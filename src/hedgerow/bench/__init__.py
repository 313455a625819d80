"""Benchmarks: programs the parties run, and the plain facts of a run."""
