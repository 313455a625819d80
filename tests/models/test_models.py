"""Model files and revealed trees."""

from __future__ import annotations

import json
import stat

import numpy as np
import pytest

from hedgerow.errors import InputError
from hedgerow.models import ModelFacts, PartyModel, load_model, reveal_tree, save_model
from hedgerow.models.store import share_bytes, tree_of_bytes
from hedgerow.reference.node import predict
from hedgerow.shares import RING64, split
from hedgerow.tables import Column, Schema
from hedgerow.trees.opened import reconstruct_root
from hedgerow.trees.problem import check_table
from hedgerow.trees.table import TrainingTable
from hedgerow.trees.trainer import train_fast
from support.threads import ThreadParties


def run(ctx, x, y, problem):
    return train_fast(ctx, TrainingTable.of_flat(x, y), problem)


@pytest.fixture(scope="module")
def trained():
    generator = np.random.default_rng(3)
    x = generator.integers(0, 60, (2, 80))
    y = (x[1] > 30) ^ (x[0] > 45)
    x, y, problem = check_table(x, y, 3, 6)
    trees = ThreadParties().run(run, split(x.reshape(-1), RING64), split(y, RING64), [problem] * 3)
    columns = (
        Column("age", bits=6),
        Column("dose, mg", decimals=1, bits=6),
        Column("ill", "label", classes=("no", "yes")),
    )
    facts = ModelFacts(problem, Schema(columns), "ill", ("no", "yes"))
    return x, y, trees, facts


@pytest.fixture
def saved(trained, tmp_path):
    _, _, trees, facts = trained
    save_model([PartyModel(facts, party, tree) for party, tree in enumerate(trees)], tmp_path / "model")
    return tmp_path / "model"


def test_a_model_survives_its_files(trained, saved):
    _, _, trees, facts = trained
    models = load_model(saved)
    assert models[0].facts == facts
    assert reconstruct_root([m.tree for m in models]) == reconstruct_root(trees)
    for path in [saved, *saved.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
    with pytest.raises(InputError, match="exists already"):
        save_model(models, saved)


def damage(path, change):
    content = path.read_bytes()
    path.write_bytes(change(content))


def edited(**changes):
    return lambda content: json.dumps(json.loads(content) | changes).encode()


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("shares.npz", lambda c: c[:-100], "damaged: shares and manifest"),
        ("shares.npz", lambda c: b"", "damaged: shares and manifest"),
        ("manifest.json", lambda c: b"{", "cannot be read"),
        ("manifest.json", lambda c: b"[]", "something else than a Hedgerow model"),
        ("manifest.json", edited(format="other"), "something else"),
        ("manifest.json", edited(version=2), "model format 2; this version reads format 1"),
        ("manifest.json", edited(party=7), "names no party"),
        ("manifest.json", edited(party=2), "damaged"),
        ("manifest.json", edited(facts={}), "damaged"),
    ],
)
def test_wrong_files_are_refused(saved, name, change, message):
    damage(saved / "party1" / name, change)
    with pytest.raises(InputError, match=message):
        load_model(saved)


def test_foreign_and_missing_parts_are_refused(saved, trained, tmp_path):
    _, _, trees, facts = trained
    other = ModelFacts(facts.problem, facts.schema, facts.target, facts.classes)
    save_model([PartyModel(other, party, tree) for party, tree in enumerate(trees)], tmp_path / "other")
    (saved / "party2").rename(tmp_path / "away")
    with pytest.raises(InputError, match="holds no Hedgerow model"):
        load_model(saved)
    (tmp_path / "other" / "party2").rename(saved / "party2")
    with pytest.raises(InputError, match="belong to different models"):
        load_model(saved)
    with pytest.raises(InputError, match="no model directory"):
        load_model(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("height", 4, "lacks 'layer3"),
        ("value_bits", 3, "contradicts itself"),
        ("attributes", 7, "contradicts itself"),
        ("rows", 10.0, "contradicts itself"),
    ],
)
def test_facts_that_do_not_fit_the_shares_are_refused(trained, field, value, message):
    _, _, trees, facts = trained
    entry = facts.entry()
    entry["shape"][field] = value
    with pytest.raises(InputError, match=message):
        tree_of_bytes(share_bytes(trees[0]), ModelFacts.of_entry(entry))


@pytest.mark.parametrize("classes", [[0], [{"a": 1}, [2]], "ab"])
def test_wrong_classes_are_refused(trained, classes):
    entry = trained[3].entry() | {"classes": classes}
    if classes == "ab":
        entry["columns"] = entry["columns"][1:]
    with pytest.raises(InputError, match="contradicts itself"):
        ModelFacts.of_entry(entry)


def test_a_failed_write_leaves_nothing(trained, tmp_path, monkeypatch):
    _, _, trees, facts = trained
    wrong = PartyModel(facts, 0, trees[0]), PartyModel(facts, 0, trees[1])
    with pytest.raises(InputError):
        save_model(wrong, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_revealed_trees_show_the_tables_units(trained):
    x, y, trees, facts = trained
    tree = reveal_tree(trees, facts, counts=True)
    rows = np.stack([x[0], x[1] / 10], axis=1)
    expected = np.array(["no", "yes"])[predict(reconstruct_root(trees), x)]
    assert (tree.predict(rows) == expected).all()
    assert (tree.to_sklearn().predict(rows) == expected).all()
    assert tree.root.counts == (int((y == 0).sum()), int((y == 1).sum()))
    assert tree.feature_importances_.sum() == pytest.approx(1)
    assert tree.feature_importances_ == pytest.approx(tree.to_sklearn().feature_importances_)
    text = tree.export_text()
    assert "dose, mg" in text
    assert "class: yes" in text
    assert json.loads(tree.to_json())["tree"]["samples"] == 80
    assert tree.to_dot().count("->") == sum(1 for _ in tree._walk()) - 1


def test_counts_stay_closed_unless_asked_for(trained):
    _, _, trees, facts = trained
    tree = reveal_tree(trees, facts)
    assert tree.root.counts is None
    assert "[" not in tree.export_text()
    assert "counts" not in tree.to_json()
    with pytest.raises(InputError, match="counts=True"):
        _ = tree.feature_importances_


def test_a_picture_is_drawn(trained, tmp_path):
    from matplotlib.image import imread

    _, _, trees, facts = trained
    reveal_tree(trees, facts, counts=True).plot(tmp_path / "tree.png")
    picture = imread(tmp_path / "tree.png")
    assert picture.shape[0] > 200
    assert picture[..., :3].std() > 0.05


def test_onnx_says_the_same(trained):
    pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    x, _, trees, facts = trained
    session = runtime.InferenceSession(reveal_tree(trees, facts).to_onnx(), providers=["CPUExecutionProvider"])
    rows = np.stack([x[0], x[1] / 10], axis=1).astype(np.float32)
    labels = session.run(None, {session.get_inputs()[0].name: rows})[0]
    assert (labels == reveal_tree(trees, facts).predict(np.stack([x[0], x[1] / 10], axis=1))).all()
