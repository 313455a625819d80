"""Benchmarks of the engine on three real processes."""

from typing import Any

import numpy as np

from ..parties import PartyProcesses
from ..shares import RING32, RING64, reconstruct, split, split_bits
from .programs import PRIMITIVES, run_permutation, run_primitive, run_rounds, run_sort
from .report import RunFacts, best


def bench_sort(rows: int, bits: int, network: str, method: str, repeat: int, seed: int = 1) -> RunFacts:
    """Sort random keys and compare the permutation with the plaintext twin's."""
    keys = np.random.default_rng(seed).integers(0, 2**bits, rows, dtype=np.uint64)
    shares = split(keys, RING64)
    order = np.argsort(keys, kind="stable")
    expected = np.empty(rows, np.uint32)
    expected[order] = np.arange(rows, dtype=np.uint32)
    runs = []
    with PartyProcesses(network=network) as parties:
        for _ in range(repeat):
            reports = parties.run(run_sort, shares, [bits] * 3, [method] * 3)
            correct = bool(np.array_equal(reconstruct([report.result for report in reports]), expected))
            runs.append(RunFacts.of(reports, correct, rows=rows, bits=bits, network=network, method=method))
    return best(runs)


def bench_primitives(count: int, network: str, repeat: int) -> list[dict[str, Any]]:
    """Seconds, rounds and bytes per item of every primitive, and small rounds per second."""
    generator = np.random.default_rng(1)
    x, y = (split(generator.integers(0, 2**62, count, dtype=np.uint64), RING64) for _ in range(2))
    bit = split_bits(generator.integers(0, 2, count))
    permutation = split(generator.permutation(count), RING32)
    table = []
    with PartyProcesses(network=network) as parties:
        for name in [*PRIMITIVES, "apply", "unapply"]:
            runs = []
            for _ in range(repeat):
                if name in PRIMITIVES:
                    reports = parties.run(run_primitive, [name] * 3, x, y, bit)
                else:
                    reports = parties.run(run_permutation, [name] * 3, permutation, x)
                runs.append(RunFacts.of(reports, correct=True))
            facts = best(runs)
            per_item = max(facts.bytes_sent) / count
            table.append(
                {
                    "name": name,
                    "seconds": facts.seconds,
                    "rounds": facts.rounds,
                    "bytes_per_item_and_party": round(per_item, 2),
                    "nanoseconds_per_item": round(1e9 * facts.seconds / count, 1),
                }
            )
        table.append(_round_rate(parties, "small rounds, TLS"))
    with PartyProcesses(tls=False, network=network) as parties:
        table.append(_round_rate(parties, "small rounds, plain TCP"))
    return table


def _round_rate(parties: PartyProcesses, name: str, rounds: int = 20_000, repeat: int = 3) -> dict[str, Any]:
    seconds = min(max(report.seconds for report in parties.run(run_rounds, [rounds] * 3)) for _ in range(repeat))
    return {"name": name, "seconds": round(seconds, 3), "rounds": rounds, "rounds_per_second": round(rounds / seconds)}
