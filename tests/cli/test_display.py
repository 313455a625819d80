"""What people look at: pictures, notebooks, opened trees as scikit-learn shows them, help and words of commands."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier as PlainTree

import hedgerow
from hedgerow.cli.main import COMMANDS
from hedgerow.errors import InputError
from support.commands import command


@pytest.fixture(scope="module")
def seven():
    """Seven classes at height 6, so many leaves with long captions."""
    generator = np.random.default_rng(0)
    x = pd.DataFrame(generator.integers(0, 1000, (900, 4)), columns=["systolic pressure", "b", "$c_1$", "d"])
    y = np.array(["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"])[generator.integers(0, 7, 900)]
    return x, y, hedgerow.DecisionTreeClassifier(max_depth=6).fit(x, y)


def boxes(ax):
    """Extents, in pixels, of the texts of all nodes, and of the boxes drawn for them."""
    ax.figure.canvas.draw()
    renderer = ax.figure.canvas.get_renderer()
    texts = [text.get_window_extent(renderer) for text in ax.texts if text.get_gid() == "box"]
    drawn = [patch.get_window_extent(renderer) for patch in ax.patches]
    return texts, drawn


@pytest.mark.parametrize("counts", [False, True])
def test_no_two_boxes_overlap_and_all_texts_fit_theirs(seven, counts):
    tree = seven[2].reveal(counts=counts)
    assert tree.get_n_leaves() > 40
    texts, drawn = boxes(tree.plot())
    assert len(texts) == len(drawn) == sum(1 for _ in tree._walk())
    for one, other in itertools.combinations(drawn, 2):
        assert not one.overlaps(other)
    for text, box in zip(texts, drawn, strict=True):
        assert box.x0 <= text.x0
        assert text.x1 <= box.x1
        assert box.y0 <= text.y0
        assert text.y1 <= box.y1


def test_a_small_axis_gets_small_letters(seven):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(20, 4))
    FigureCanvasAgg(figure)
    ax = figure.add_subplot()
    texts, _ = boxes(seven[2].reveal().plot(ax=ax))
    for one, other in itertools.combinations(texts, 2):
        assert not one.overlaps(other)


def colours(ax):
    """How strong the colour of every caption's box is."""
    captions = [text.get_text().split("\n")[0] for text in ax.texts if text.get_gid() == "box"]
    return {name: 3 - sum(patch.get_facecolor()[:3]) for name, patch in zip(captions, ax.patches, strict=True)}


def test_a_legend_names_the_colours_and_purity_makes_them_stronger():
    x = np.arange(40)[:, None]
    y = np.where(np.arange(40) < 20, "calm", "wild")
    y[[3, 5, 7, 9]] = "wild"
    tree = hedgerow.DecisionTreeClassifier(max_depth=1).fit(x, y).reveal(counts=True)
    ax = tree.plot()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["calm", "wild", "paler: more mixed"]
    pure = hedgerow.DecisionTreeClassifier(max_depth=1).fit(x, np.where(np.arange(40) < 20, "calm", "wild"))
    strength, purest = colours(ax), colours(pure.reveal(counts=True).plot())
    assert strength["calm"] < purest["calm"]
    many = hedgerow.DecisionTreeClassifier(max_depth=1).fit(np.arange(60)[:, None], np.arange(60) % 30).reveal()
    names = [text.get_text() for text in many.plot().get_legend().get_texts()]
    assert names[-1] == "… 6 more"


def test_weights_are_called_weights():
    x, y = np.arange(8)[:, None], [0, 0, 0, 0, 1, 1, 1, 1]
    weighted = hedgerow.DecisionTreeClassifier(max_depth=1).fit(x, y, sample_weight=[2] * 8).reveal(counts=True)
    assert "weight 16: 8 / 8" in weighted._caption(weighted.root)
    plain = hedgerow.DecisionTreeClassifier(max_depth=1).fit(x, y).reveal(counts=True)
    assert "8 rows: 4 / 4" in plain._caption(plain.root)


def test_pictures_are_what_their_names_say(seven, tmp_path):
    seven[2].save(tmp_path / "m")
    for kind, start in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        done = command("reveal", tmp_path / "m", "--format", kind, "--out", tmp_path / f"t.{kind}")
        assert done.code == 0, done.err
        assert (tmp_path / f"t.{kind}").read_bytes().startswith(start)
        seven[2].reveal().plot(tmp_path / f"u.{kind}")
        assert (tmp_path / f"u.{kind}").read_bytes().startswith(start)
    with pytest.raises(InputError, match="png, svg, pdf"):
        seven[2].reveal().plot(tmp_path / "v", format="gif")


def test_notebooks_show_trees_and_confusion_matrices(seven):
    x, y, model = seven
    shown = model.reveal()._repr_html_()
    assert shown.startswith("<svg")
    assert shown.rstrip().endswith("</svg>")
    matrix = model.confusion(x, y)
    assert matrix.sum() == len(x)
    page = matrix._repr_html_()
    assert page.count("<tr>") == 8
    assert "<th>epsilon</th>" in page
    assert (matrix[:2] == np.asarray(matrix)[:2]).all()
    assert matrix[:2]._repr_html_().startswith("<pre>")
    odd = hedgerow.DecisionTreeClassifier(max_depth=1).fit([[1], [2]], ["<b>", "c"]).confusion([[1]], ["c"])
    assert "<b>" not in odd._repr_html_()  # type: ignore[attr-defined]


def test_revealed_trees_answer_as_scikit_learns_do():
    generator = np.random.default_rng(5)
    x = generator.integers(0, 50, (200, 3)).astype(float)
    y = ((x[:, 0] > 20) ^ (x[:, 1] > 30)).astype(int)
    y[generator.random(200) < 0.1] ^= 1
    tree = hedgerow.DecisionTreeClassifier(max_depth=4).fit(x, y).reveal(counts=True)
    theirs = tree.to_sklearn()
    assert isinstance(theirs, PlainTree)
    assert (tree.apply(x) == theirs.apply(x)).all()
    assert (tree.decision_path(x) != theirs.decision_path(x)).nnz == 0
    assert (tree.get_depth(), tree.get_n_leaves()) == (theirs.get_depth(), theirs.get_n_leaves())
    assert np.allclose(tree.predict_proba(x), theirs.predict_proba(x))
    with np.errstate(divide="ignore"):
        assert np.array_equal(tree.predict_log_proba(x), np.log(tree.predict_proba(x)))
    with pytest.raises(InputError, match="counts=True"):
        hedgerow.DecisionTreeClassifier(max_depth=1).fit(x, y).reveal().predict_proba(x)
    numbers = hedgerow.DecisionTreeRegressor(max_depth=2).fit(x, x[:, 0]).reveal(counts=True)
    assert len(set(numbers.apply(x).tolist())) == numbers.get_n_leaves()
    with pytest.raises(InputError, match="no probabilities"):
        numbers.predict_proba(x)
    assert numbers._repr_html_().startswith("<svg")


def test_verbose_says_what_happens(capsys):
    hedgerow.DecisionTreeClassifier(max_depth=2, verbose=1).fit([[1], [2], [3]], [0, 1, 0])
    told = capsys.readouterr().out
    assert "[hedgerow] becomes public of 'x0': number, 2 bits" in told
    assert "layer 2 of 2" in told
    hedgerow.DecisionTreeClassifier(max_depth=2).fit([[1], [2], [3]], [0, 1, 0])
    assert capsys.readouterr().out == ""


# Commands


def helps():
    yield []
    yield from ([name] for name in COMMANDS)
    for group, names in (
        ("bench", ("sort", "primitives", "train", "learn", "profile", "tables", "complexity")),
        ("consortium", ("init", "show", "renew")),
        ("party", ("serve", "audit")),
    ):
        yield [group]
        yield from ([group, name] for name in names)


@pytest.mark.parametrize("words", list(helps()), ids=" ".join)
def test_help_is_not_cut_at_eighty_columns(words, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    done = command(*words, "--help")
    assert done.code == 0
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert not [line for line in lines[1:] if re.search(r"(\.\.\.|…)$", line) and "c1, c2, …" not in line]


def test_versions_and_exit_codes(tmp_path):
    assert command("--version").out.strip() == command("version").out.strip() == hedgerow.__version__
    nothing = ("train", tmp_path / "none.csv", "--target", "y", "--out", tmp_path / "m")
    plain, loud = command(*nothing), command("--debug", *nothing)
    assert plain.code == loud.code == 3
    assert "Traceback" in loud.err
    assert plain.err == f"hedgerow: there is no file {tmp_path / 'none.csv'}\n"
    assert command("trian").code == command("--debug", "trian").code == 2


def test_places_to_write_are_checked_before_any_work(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,p\n2,q\n")
    (tmp_path / "there").mkdir()
    model, nowhere = tmp_path / "m", tmp_path / "no" / "dir" / "file"
    assert command("train", tmp_path / "t.csv", "--target", "y", "--max-depth", "1", "--out", model).code == 0
    for arguments in (
        ("train", tmp_path / "t.csv", "--target", "y", "--out", tmp_path / "there"),
        ("predict", model, tmp_path / "t.csv", "--out", nowhere),
        ("reveal", model, "--format", "png", "--out", nowhere),
        ("inspect", tmp_path / "t.csv", "--out", nowhere),
        ("demo", "--out", nowhere),
        ("bench", "complexity", "--picture", nowhere),
        ("bench", "tables", "--out", nowhere),
    ):
        done = command(*arguments)
        assert (done.code, done.out) == (3, ""), (arguments, done)


def test_words_of_figures_are_explained(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,p\n2,q\n")
    done = command("train", tmp_path / "t.csv", "--target", "y", "--max-depth", "1", "--out", tmp_path / "m")
    assert "tests a node can choose from" in done.out
    assert "rounds of messages between parties" in done.out


def test_class_weights_may_be_balanced(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"{k % 9},{'pq'[k % 9 > 7]}\n" for k in range(60)))
    made = command("train", tmp_path / "t.csv", "--target", "y", "--class-weight", "balanced", "--max-depth", "1",
                   "--out", tmp_path / "m")  # fmt: skip
    assert made.code == 0, made.err
    mixed = command("train", tmp_path / "t.csv", "--target", "y", "--class-weight", "balanced", "--class-weight", "p=2",
                    "--out", tmp_path / "n")  # fmt: skip
    assert (mixed.code, "alone" in mixed.words) == (3, True)


def test_samples_come_with_the_package():
    from hedgerow.cli.sample import SAMPLES

    for name in SAMPLES:
        assert command("sample", name).out.startswith("patient,admitted,age")
    assert command("sample", "none").code == 3


def test_a_closed_pipe_is_no_error():
    program = f"{sys.executable} -c 'from hedgerow.cli.main import main; main()' sample patients"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {program} | head -1"], capture_output=True, text=True,
                          env=dict(os.environ))  # fmt: skip
    assert done.stdout.startswith("patient,")
    assert "Traceback" not in done.stderr
