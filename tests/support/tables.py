"""Tables for training tests: random ones with every degeneration, and real ones where they are to be had."""

from pathlib import Path

import numpy as np
import pytest

DATA = Path(__file__).parents[3] / "shared" / "data"


def random_table(seed, most_rows=64, most_attributes=5, most_height=8):
    """Rows from 1 to ``most_rows``; ties, constant columns, a single class and n < 2^h all occur."""
    generator = np.random.default_rng(seed)
    n = int(generator.choice([1, 2, 3, generator.integers(4, most_rows + 1)], p=[0.05, 0.05, 0.05, 0.85]))
    m = int(generator.integers(1, most_attributes + 1))
    h = int(generator.integers(0, most_height + 1))
    x = np.stack([generator.integers(0, generator.choice([1, 2, 5, 50, 2**20]), n) for _ in range(m)])
    kind = generator.integers(0, 4)
    if kind == 0:
        y = np.full(n, generator.integers(0, 2))
    elif kind == 1:
        y = (x[0] > np.median(x[0])).astype(int)
    else:
        y = generator.integers(0, 2, n)
    return x, y, h


def need(*parts):
    path = DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip("the real tables are not on this machine")
    return path


def breast_cancer():
    """Scikit-learn's bundled table, every column scaled to whole numbers."""
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    return np.rint(bunch.data.T * 10_000).astype(np.int64), bunch.target


def iris_two_classes():
    from sklearn.datasets import load_iris

    bunch = load_iris()
    return np.rint(bunch.data.T * 10).astype(np.int64), (bunch.target == 1).astype(int)


def adult_numeric():
    """The six numeric columns of adult's 32,561 training rows."""
    import csv

    with need("adult", "adult.data").open() as file:
        rows = [row for row in csv.reader(file, skipinitialspace=True) if len(row) == 15]
    x = np.array([[int(row[k]) for row in rows] for k in (0, 2, 4, 10, 11, 12)])
    return x, np.array([int(row[14].startswith(">50K")) for row in rows])


def tic_tac_toe():
    import csv

    path = next(iter(sorted(need("tictactoe").glob("*.data"))))
    with path.open() as file:
        rows = [row for row in csv.reader(file) if len(row) == 10]
    x = np.array([["bxo".index(row[k]) for row in rows] for k in range(9)])
    return x, np.array([int(row[9] == "positive") for row in rows])


def skin():
    values = np.loadtxt(need("skin", "Skin_NonSkin.txt"), dtype=np.int64)
    return values[:, :3].T, (values[:, 3] == 1).astype(int)


def credit_default():
    """All 23 attributes, shifted so that no value is negative."""
    import csv

    with need("credit_default_taiwan", "UCI_Credit_Card.csv").open() as file:
        rows = list(csv.reader(file))[1:]
    x = np.array([[int(float(v)) for v in row[1:24]] for row in rows]).T
    return x - x.min(axis=1, keepdims=True), np.array([int(row[24]) for row in rows])
