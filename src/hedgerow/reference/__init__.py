"""Plaintext twins of the protocols, used as oracles by tests and benchmarks."""
