"""Categories, missing values, targets and weights: from plain columns to shares and back to words."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hedgerow
from hedgerow.errors import InputError, MissingValueWarning
from hedgerow.estimators import TrainingRules, prepare
from hedgerow.models import reveal_tree
from hedgerow.tables import Column, Schema, encode, encode_doubled, merge_schemas, propose_category, propose_column
from hedgerow.tables.fixed import is_missing_test
from hedgerow.tables.frame import PlainTable
from hedgerow.tables.schema import schema_text
from support import problems


def train_plain(names, columns, labels, rules, categorical=(), insisted=(), **options):
    """A table trained by three parties in this process, opened with counts."""
    prepared = prepare(PlainTable(names, columns, categorical, insisted), "y", labels, rules, **options)
    parts = problems.train_secure(prepared.x, prepared.y, prepared.weights, prepared.facts.problem)
    return prepared, reveal_tree(parts, prepared.facts, counts=True)


@given(st.lists(st.one_of(st.none(), st.integers(-50, 50)), min_size=2, max_size=20), st.integers(-120, 120))
def test_a_threshold_beside_missing_values_passes_them_alone(values, new):
    """Between "missing" and the least number lies no number, however small a later one is."""
    column = propose_column("a", np.array([np.nan if v is None else v for v in values], float)).column
    codes = sorted(set(encode(column, np.array([np.nan if v is None else v for v in values], float))[0].tolist()))
    for low, high in itertools.pairwise(codes):
        threshold = low + high
        asks = is_missing_test(column, threshold)
        assert asks == (column.missing and low == 0)
        if column.missing:
            gap, number = encode_doubled(column, np.array([np.nan, float(new)]))
            assert gap < threshold
            assert not (asks and number < threshold)


@pytest.mark.parametrize("block", [0, *(pytest.param(block, marks=pytest.mark.slow) for block in range(1, 12))])
def test_thirty_tables_with_gaps_equal_a_twin_that_puts_them_below_all(block):
    for seed in range(30 * block, 30 * (block + 1)):
        generator = np.random.default_rng(seed)
        n, m = int(generator.integers(2, 30)), int(generator.integers(1, 4))
        plain = [generator.integers(-8, 8, n).astype(float) for _ in range(m)]
        for column in plain:
            column[generator.random(n) < 0.3] = np.nan
        labels = generator.integers(0, 2, n)
        labels[0], labels[1] = 0, 1
        names = [f"x{j}" for j in range(m)]
        prepared, tree = train_plain(names, plain, labels, TrainingRules(3))
        low = np.stack([np.where(np.isnan(column), -1000, column) for column in plain])
        below = problems.twin(low.astype(np.int64) + 1000, labels, None, prepared.facts.problem)
        assert _same(tree.root, below, prepared.facts.schema), seed
        gaps = [np.nan if column.missing else 0.0 for column in prepared.facts.schema.attributes]
        new = np.concatenate([np.stack(plain, axis=1), [gaps], np.full((1, m), -20.0)])
        assert tree.predict(new).tolist() == [_follow(below, row) for row in new], seed


def _same(ours, twins, schema):
    """The same tests, where the twin's least threshold of a column with gaps is our "is missing"."""
    if ours.children is None:
        return not hasattr(twins, "if_true") and ours.label == twins.label
    column = schema.attributes[ours.feature]
    if ours.feature != twins.feature:
        return False
    if is_missing_test(column, ours.threshold):
        alike = twins.threshold < 1500
    else:
        alike = ours.threshold - 2 * (column.base + column.offset) == twins.threshold - 2000
    return alike and all(
        _same(a, b, schema) for a, b in zip(ours.children, (twins.if_true, twins.if_false), strict=True)
    )


def _follow(node, row):
    while hasattr(node, "if_true"):
        value = row[node.feature]
        threshold = (node.threshold - 2000) / 2
        passes = np.isnan(value) or (node.threshold >= 1500 and value < threshold)
        node = node.if_true if passes else node.if_false
    return node.label


def test_categories_in_words():
    colours = np.array(["red", "red", "green", None, "blue", None], dtype=object)
    ages = np.array([1.5, np.nan, 3, np.nan, 5, np.nan])
    labels = np.array(["yes", "yes", "no", "maybe", "no", "maybe"])
    prepared, tree = train_plain(
        ["colour", "age"], [colours, ages], labels, TrainingRules(3), categorical=["colour"], insisted=["colour"]
    )
    assert prepared.facts.schema.attributes[0].categories == ("blue", "green", "red")
    assert [prepared.facts.problem.classes, prepared.facts.problem.categories] == [3, (4, 0)]
    text = tree.export_text()
    assert "|--- colour = red\n" in text
    assert "|--- colour is missing\n" in text
    assert tree.predict(pd.DataFrame({"colour": ["red", None, "violet"], "age": [1, 2, None]})).tolist() == [
        "yes",
        "maybe",
        "no",
    ]
    assert "colour = red" in tree.to_dot()
    shown = tree.to_dict()["tree"]
    assert shown["attribute"] == "colour"
    assert "below" not in shown
    with pytest.raises(InputError, match="tests categories"):
        tree.to_sklearn()


def test_numbers_with_gaps_convert_to_scikit_learn():
    generator = np.random.default_rng(3)
    x = generator.normal(size=(80, 3)).round(2)
    x[generator.random((80, 3)) < 0.2] = np.nan
    y = (np.nan_to_num(x[:, 0], nan=2.0) > 0.5).astype(int)
    model = hedgerow.DecisionTreeClassifier(max_depth=4).fit(x, y)
    tree = model.reveal(counts=True)
    assert "is missing" in tree.export_text()
    assert (tree.to_sklearn().predict(x) == model.predict(x)).all()
    assert (tree.predict(x) == model.predict(x)).all()
    plain = hedgerow.DecisionTreeClassifier(max_depth=1).fit(np.nan_to_num(x), y)
    with pytest.warns(MissingValueWarning, match="'x0', 'x1', 'x2' are missing"):
        found = plain.predict(x)
    lowest = plain.predict(np.nan_to_num(x, nan=-1e9))
    assert (found == lowest).all()


def test_schemas_of_all_kinds_survive_their_file(tmp_path):
    schema = Schema(
        (
            Column("age", "number", 1, 10, True, missing=True),
            Column("job", "category", categories=("a", "b"), missing=True),
            Column("price", "target", 2, 20),
            Column("n", "weight", bits=4),
        )
    )
    path = tmp_path / "s.toml"
    path.write_text(schema_text(schema))
    assert hedgerow.tables.read_schema(path) == schema
    assert (schema.value_bits, schema.categories) == (11, (0, 3))
    other = Schema((*schema.columns[:1], Column("job", "category", categories=("c",)), *schema.columns[2:]))
    assert merge_schemas(schema, other).columns[1] == Column(
        "job", "category", categories=("a", "b", "c"), missing=True
    )


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"kind": "category"}, "needs a list"),
        ({"kind": "category", "categories": ("a", "a")}, "listed twice"),
        ({"kind": "category", "categories": ("a",), "bits": 3}, "has no 'bits'"),
        ({"kind": "target", "missing": True}, "has no 'missing'"),
        ({"kind": "weight", "signed": True}, "has no 'signed'"),
        ({"kind": "number", "bits": 62, "missing": True}, "63 bits"),
        ({"kind": "category", "categories": tuple(map(str, range(1001)))}, "at most 1,000"),
    ],
)
def test_columns_that_make_no_sense(column, message):
    with pytest.raises(InputError, match=message):
        Column("a", **column)


def test_values_outside_the_schema():
    colour = Column("c", "category", categories=("red",))
    with pytest.raises(InputError, match="row 2: the value is none of the listed categories"):
        encode(colour, np.array(["red", "blue"], dtype=object))
    with pytest.raises(InputError, match="row 1: the value is missing"):
        encode(colour, np.array([None, "red"], dtype=object))
    assert encode_doubled(colour, np.array(["red", "blue", None], dtype=object)).tolist() == [0, 1, 1]
    assert propose_category("c", np.array(["1", "1.0", True, "x"], dtype=object)).categories == (
        "1",
        "1.0",
        "True",
        "x",
    )
    truths = np.array([True, False])
    assert encode(propose_category("c", truths), truths)[0].tolist() == [1, 0]
    with pytest.raises(InputError, match="different values"):
        propose_category("c", np.arange(1001))
    with pytest.raises(InputError, match="not finite"):
        propose_column("a", np.array([1.0, np.inf]))


def test_different_texts_are_different_categories():
    texts = ["01", "1", "1.0", "1e2", "100", "12345678901234567890", "12345678901234567891"]
    column = propose_category("c", np.array(texts, dtype=object))
    assert encode(column, np.array(texts, dtype=object))[0].tolist() == [sorted(texts).index(text) for text in texts]
    numbers = propose_category("c", np.array([1, 2, 3]))
    assert encode(numbers, np.array([3.0, 1.0]))[0].tolist() == [2, 0]
    gaps = pd.Series(["u", pd.NA, None, np.nan], dtype=object).to_numpy()
    assert propose_category("c", gaps) == Column("c", "category", categories=("u",), missing=True)
    with pytest.raises(InputError, match="neither numbers nor text"):
        propose_category("c", np.array([[1], [2, 3], None], dtype=object))


def test_narrow_floating_point_is_what_it_prints():
    column = propose_column("a", np.array([0.1, 2.3, 17.75], np.float32)).column
    assert (column.decimals, column.bits) == (2, 11)
    assert encode_doubled(column, np.array([1e30, -1e30], np.float32)).tolist() == [4095, 0]
    assert encode_doubled(column, np.array([60000], np.float16)).tolist() == [4095]


def test_large_whole_numbers_with_gaps_stay_whole():
    values = np.array([2**60 + k for k in range(4)] + [None], dtype=object)
    column = propose_column("a", values).column
    assert (column.missing, column.decimals) == (True, 0)
    assert len(set(encode(column, values)[0].tolist())) == 5


def weighted(x, y, weights, **options):
    return prepare(
        PlainTable(["a"], [np.asarray(x)]), "y", np.asarray(y), TrainingRules(2, **options), weights=np.asarray(weights)
    )


def test_weights_and_class_weights():
    x, y = [1, 2, 3, 4], ["p", "q", "q", "q"]
    prepared = weighted(x, y, [1, 0, 3, 2])
    assert (prepared.facts.problem.weight_bits, prepared.weights.tolist()) == (2, [1, 0, 3, 2])
    prepared = weighted(x, y, [1, 1, 1, 1], class_weight={"p": 1.5, "q": 0.5})
    assert (prepared.facts.problem.class_weights, prepared.rounding) == ((3, 1), {})
    prepared = weighted(x, y, [1, 1, 1, 1], class_weight="balanced")
    assert (prepared.facts.problem.class_weights, prepared.weights.tolist()) == ((), [3, 1, 1, 1])
    prepared = weighted(x, y, [1, 1, 1, 1], class_weight={"p": 1e9})
    assert prepared.facts.problem.class_weights == (65535, 1)
    assert prepared.rounding["class_weight"] > 0.9
    with pytest.raises(InputError, match="nothing to learn from"):
        weighted(x, y, [0, 0, 0, 0])
    for weights, message in (
        ([1, -1, 1, 1], "from 0 on"),
        ([np.inf, 1, 1, 1], "from 0 on"),
        ([1, 2], "as many weights"),
    ):
        with pytest.raises(InputError, match=message):
            weighted(x, y, weights)
    for weight, message in (({"z": 1}, "no others"), ("heavy", "'balanced'"), ({"p": 0}, "positive")):
        with pytest.raises(InputError, match=message):
            weighted(x, y, [1, 1, 1, 1], class_weight=weight)


@pytest.mark.parametrize("counts", [(331, 332, 337), (250, 251, 499), (500, 500), (1, 1000)])
def test_balanced_weights_fit_and_their_bits_tell_nothing(counts):
    y = np.repeat(np.arange(len(counts)), counts)
    prepared = prepare(PlainTable(["a"], [np.arange(len(y))]), "y", y, TrainingRules(2, class_weight="balanced"))
    assert prepared.facts.problem.weight_bits == 11
    weighed = [int(prepared.weights[y == c].sum()) for c in range(len(counts))]
    assert max(weighed) / min(weighed) < 1.05 + prepared.rounding.get("class_weight", 0)


def test_the_least_decrease_of_a_regression_is_in_the_targets_own_units():
    from sklearn.tree import DecisionTreeRegressor

    x, y = np.arange(8.0), np.array([1.0, 1.1, 1.2, 1.3, 2.0, 2.1, 2.2, 2.3])
    for least in (0.0, 0.01, 0.1, 0.3):
        _, tree = train_plain(["a"], [x], y, TrainingRules(3, "fast", 2, 1, least, regression=True))
        theirs = DecisionTreeRegressor(max_depth=3, min_impurity_decrease=least).fit(x[:, None], y)
        leaves = sum(node.children is None for node, _ in tree._walk())
        assert leaves == theirs.get_n_leaves()
        assert np.allclose(tree.predict(x[:, None]), theirs.predict(x[:, None]), atol=1e-5)


def test_targets_take_the_bits_that_exactness_leaves():
    x, y = np.arange(1000.0), np.linspace(-3, 3, 1000) ** 3
    prepared = prepare(PlainTable(["a"], [x]), "y", y, TrainingRules(2, regression=True))
    label = prepared.facts.target_column
    assert (label.kind, label.signed, label.bits) == ("target", True, 39)
    assert 0 < prepared.rounding["y"] < 1e-9
    exact = prepare(PlainTable(["a"], [x]), "y", np.round(y, 2), TrainingRules(2, regression=True))
    assert exact.rounding == {}
    assert exact.facts.target_column.decimals == 2
    with pytest.raises(InputError, match="class_weight needs classes"):
        prepare(PlainTable(["a"], [x]), "y", y, TrainingRules(2, regression=True, class_weight={1: 2}))
    schema = Schema((Column("a", bits=10), Column("y", "target", 1, 12, True)))
    assert (
        prepare(PlainTable(["a"], [x]), "y", y, TrainingRules(2, regression=True), schema).facts.problem.target_bits
        == 12
    )
    with pytest.raises(InputError, match="1,500 different values"):
        prepare(PlainTable(["a"], [np.arange(1500.0)]), "y", np.arange(1500.0), TrainingRules(2))
    with pytest.raises(InputError, match="at most 1,000"):
        prepare(PlainTable(["a"], [np.arange(1500.0)], asked=["y"]), "y", np.arange(1500.0), TrainingRules(2))


def test_errors_know_targets_that_are_not_on_the_trained_grid():
    x, y = np.arange(20.0)[:, None], np.arange(20) // 2
    model = hedgerow.DecisionTreeRegressor(max_depth=3).fit(x, y)
    for truth in (y + 0.5, y * 1000 - 7000, y):
        errors = model.errors(x, truth)
        assert errors.r2 == pytest.approx(model.score(x, truth))
        assert errors.mean_squared_error == pytest.approx(((model.predict(x) - truth) ** 2).mean())
    with pytest.raises(ValueError, match="too far"):
        model.errors(x, y * 1e30)
    huge = hedgerow.DecisionTreeRegressor(max_depth=1).fit(x, y * 1e300)
    assert huge.errors(x, y * 1e300).mean_squared_error == np.inf
    opened = model.reveal(counts=True)
    assert np.allclose(opened.to_sklearn().feature_importances_, opened.feature_importances_)


def test_exported_limits_lie_between_the_trained_values():
    generator = np.random.default_rng(2)
    for scale in (10, 100, 1000):
        x = np.round(np.arange(1, 301) / scale, 3)[:, None]
        y = generator.integers(0, 2, 300)
        _, tree = train_plain(["a"], [x[:, 0]], y, TrainingRules(6))
        assert (tree.to_sklearn().predict(x) == tree.predict(x)).all()


def test_rules_as_shares_of_the_rows():
    x, y = np.arange(10.0), np.arange(10) % 2
    problem = prepare(PlainTable(["a"], [x]), "y", y, TrainingRules(2, "fast", 0.25, 0.15, 1e-3)).facts.problem
    assert (problem.min_samples_split, problem.min_samples_leaf, problem.min_impurity_decrease) == (3, 2, "0.001")
    for wish in (TrainingRules(2, "fast", 1.5), TrainingRules(2, "fast", "a"), TrainingRules(2, "fast", 2, 1, "much")):
        with pytest.raises(InputError, match="must be"):
            prepare(PlainTable(["a"], [x]), "y", y, wish)
