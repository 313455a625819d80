"""The commands, run as a user runs them."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from hedgerow.cli.main import main
from hedgerow.tables import Reading, read_table
from support.commands import command as hedgerow

SHARED = Path(__file__).parents[3] / "shared" / "data"


@pytest.mark.parametrize("method", ["compare", "radix1", "radix2", "radix3"])
def test_bench_sort_prints_one_json_object(method):
    done = hedgerow("bench", "sort", "--rows", "500", "--bits", "9", "--method", method, "--json")
    facts = json.loads(done.stdout)
    assert facts["correct"] is True
    assert facts["seconds"] > 0
    assert facts["rounds"] > 0
    assert len(facts["bytes_sent"]) == len(facts["peak_rss_mb"]) == 3
    assert min(facts["bytes_sent"]) > 0


def test_a_wide_area_network_costs_its_delays():
    done = hedgerow("bench", "sort", "--rows", "20", "--bits", "8", "--network", "wan", "--json")
    facts = json.loads(done.stdout)
    assert facts["seconds"] >= 0.02 * facts["rounds"]


@pytest.mark.slow
def test_bench_primitives_keeps_the_promises():
    done = hedgerow("bench", "primitives", "--count", "40000", "--repeat", "1", "--json")
    rows = {row["name"]: row for row in json.loads(done.stdout)["primitives"]}
    assert rows["top bit of 64"]["bytes_per_item_and_party"] <= 30
    assert rows["less-than 63 bits (2^64)"]["bytes_per_item_and_party"] <= 14.1
    assert rows["small rounds, plain TCP"]["rounds_per_second"] > 0


def test_demo_shows_the_product(tmp_path):
    done = hedgerow("demo", "--out", str(tmp_path / "tree.png"))
    assert done.returncode == 0, done.stderr
    assert "class: malignant" in done.stdout
    assert "scikit-learn on plain data" in done.stdout
    assert (tmp_path / "tree.png").read_bytes().startswith(b"\x89PNG")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A table and a model trained on it by the command line."""
    place = tmp_path_factory.mktemp("cli")
    rows = [(age, age * 7 % 31 / 10, "yes" if age * 7 % 31 > 15 else "no") for age in range(20, 90)]
    (place / "data.csv").write_text("age,dose,ill\n" + "".join(f"{a},{d},{y}\n" for a, d, y in rows))
    done = hedgerow(
        "train", str(place / "data.csv"), "--target", "ill", "--max-depth", "2", "--out", str(place / "m"), "--json"
    )
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert (facts["rows"], facts["attributes"], facts["exact"]) == (70, 2, True)
    return place


def test_predict_evaluate_reveal_and_info(model):
    data, where = str(model / "data.csv"), str(model / "m")
    predicted = hedgerow("predict", where, data, "--proba")
    lines = predicted.stdout.splitlines()
    assert lines[0] == "ill,p(no),p(yes)"
    assert len(lines) == 71
    truth = [line.split(",")[2] for line in (model / "data.csv").read_text().splitlines()[1:]]
    assert [line.split(",")[0] for line in lines[1:]] == truth
    facts = json.loads(hedgerow("evaluate", where, data, "--json").stdout)
    assert facts["accuracy"] == 1.0
    assert sum(map(sum, facts["confusion"])) == 70
    assert "dose <  1.55" in hedgerow("reveal", where).stdout
    assert json.loads(hedgerow("reveal", where, "--format", "json", "--counts").stdout)["tree"]["samples"] == 70
    assert hedgerow("reveal", where, "--format", "dot").stdout.startswith("digraph")
    hedgerow("reveal", where, "--format", "png", "--out", str(model / "t.png"))
    assert (model / "t.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads(hedgerow("info", where, "--json").stdout)["attributes"] == ["age", "dose"]
    assert "hedgerow" in hedgerow("info").stdout


def test_a_schema_goes_from_inspect_to_train(model):
    data, schema = str(model / "data.csv"), str(model / "schema.toml")
    done = hedgerow("inspect", data, "--target", "ill", "--out", schema)
    assert "exact" in done.stdout
    assert 'classes = ["no", "yes"]' in (model / "schema.toml").read_text()
    made = hedgerow(
        "train", data, "--target", "ill", "--schema", schema, "--out", str(model / "m2"), "--max-depth", "1"
    )
    assert made.returncode == 0, made.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n", "there is no column 'y'"),
        ("a,y\n1,0\n2\n", "line 3: 1 fields"),
        ("a,y\n1,0\nx,1\n" + 8 * "2,1\n", "column 'a', line 3: text where a number is needed"),
        ("a,y\n1,0\n2,\n", "column 'y', line 3: the value is missing"),
        ("a,y\n1,0\n2,nan\n", "column 'y', line 3: the value is missing"),
        ("a,y\n1,0\ninf,1\n", "column 'a', row 2: a value is not finite"),
        ("", "is empty"),
        ("a,y\n1,0\n2,0\n", "one class only"),
        ("a,a,y\n1,1,0\n", "column 'a' occurs twice"),
        ("y\n1\n0\n", "no input attribute"),
    ],
)
def test_bad_tables_give_one_line_and_leave_nothing(tmp_path, capsys, monkeypatch, content, message):
    (tmp_path / "bad.csv").write_text(content)
    arguments = ["train", str(tmp_path / "bad.csv"), "--target", "y", "--out", str(tmp_path / "model")]
    monkeypatch.setattr(sys, "argv", ["hedgerow", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    told = capsys.readouterr().err
    assert ended.value.code == 3
    assert message in told
    assert len(told.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


def test_errors_have_their_own_exit_codes(model, tmp_path):
    assert hedgerow("predict", str(tmp_path / "none"), str(model / "data.csv")).returncode == 3
    assert hedgerow("train", str(model / "data.csv")).returncode == 2
    again = hedgerow("train", str(model / "data.csv"), "--target", "ill", "--out", str(model / "m"))
    assert again.returncode == 3
    assert "exists already" in again.stderr
    shown = hedgerow("--debug", "predict", str(tmp_path / "none"), str(model / "data.csv"))
    assert "Traceback" in shown.stderr


def test_odd_names_missing_columns_and_places(tmp_path):
    (tmp_path / "odd.csv").write_text("weight [/kg],$b_$,empty,y\n1,2,,[/b]\n2,3,,$a_$\n3,1,,[/b]\n")
    data, out = str(tmp_path / "odd.csv"), str(tmp_path / "m")
    assert "weight [/kg]" in hedgerow("inspect", data, "--target", "y").stdout
    made = hedgerow("train", data, "--target", "y", "--ignore", "empty", "--out", out, "--debug")
    assert made.returncode == 0, made.stderr
    assert hedgerow("reveal", out, "--format", "png", "--out", str(tmp_path / "noext")).returncode == 0
    assert (tmp_path / "noext").read_bytes().startswith(b"\x89PNG")
    assert "[/b]" in hedgerow("evaluate", out, data).stdout
    hedgerow("predict", out, data, "--json", "--out", str(tmp_path / "p.json"))
    assert json.loads((tmp_path / "p.json").read_text())["y"] == ["[/b]", "$a_$", "[/b]"]
    for arguments in (
        ["predict", out, data, "--out", data],
        ["predict", out, data, "--out", str(tmp_path / "no" / "p.csv")],
        ["train", data, "--target", "y", "--ignore", "empty", "--out", str(tmp_path / "odd.csv" / "m")],
        ["inspect", data, "--out", data],
        ["train", data, "--target", "y", "--ignore", "y", "--out", str(tmp_path / "n")],
    ):
        done = hedgerow(*arguments)
        assert (done.returncode, len(done.stderr.splitlines())) == (3, 1), done.stderr


def test_progress_is_drawn_on_a_terminal(model):
    """A pseudo-terminal as standard error: the bar shows layers, rounds and bytes, and is gone at the end."""
    parent, child = pty.openpty()
    target = str(model / "m3")
    arguments = ["train", str(model / "data.csv"), "--target", "ill", "--out", target, "--max-depth", "30"]
    command = [sys.executable, "-c", "from hedgerow.cli.main import main; main()", *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=child, env={**os.environ, "COLUMNS": "140", "TERM": "xterm"}
    )
    os.close(child)
    drawn = b""
    while True:
        try:
            piece = os.read(parent, 65536)
        except OSError:
            break
        if not piece:
            break
        drawn += piece
    assert process.wait(60) == 0
    process.stdout.close()
    os.close(parent)
    text = drawn.decode(errors="replace")
    assert re.search(r"layer \d+ of 30: ", text)
    assert "rounds" in text
    assert "a party" in text


@pytest.mark.parametrize("name", ["two_hospitals", "bank_and_telecom"])
def test_examples_run(name):
    path = Path(__file__).parents[2] / "examples" / f"{name}.py"
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "|---" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "options", "height"),
    [
        ("adult/adult.data", ["--no-header", "--target", "c15", "--numbers-only"], 6),
        ("skin/Skin_NonSkin.txt", ["--no-header", "--target", "c4"], 6),
        ("credit_default_taiwan/UCI_Credit_Card.csv", ["--target", "Y", "--ignore", "ID"], 5),
    ],
)
def test_real_tables_in_one_command_are_as_good_as_scikit_learns(tmp_path, table, options, height):
    path = SHARED / table
    if not path.exists():
        pytest.skip("the tables that lie beside the project are not here")
    made = hedgerow("train", str(path), *options, "--max-depth", str(height), "--out", str(tmp_path / "m"))
    assert made.returncode == 0, made.stderr
    header = [o for o in options if o == "--no-header"]
    accuracy = json.loads(hedgerow("evaluate", str(tmp_path / "m"), str(path), *header, "--json").stdout)["accuracy"]
    content = read_table(path, Reading(header=not header))
    target = options[options.index("--target") + 1]
    names = [n for n in content.names if n not in (target, "ID") and not content.is_text(n)]
    x, y = np.stack([content.attribute(name, False) for name in names], axis=1), content.column(target)
    plain = DecisionTreeClassifier(max_depth=height, random_state=0).fit(x, y).score(x, y)
    assert abs(accuracy - plain) <= 0.005


def test_categories_gaps_weights_and_rules(tmp_path):
    lines = ["colour,size,visits,kind"]
    for k in range(60):
        colour, size = ("red", "green", "", "blue")[k % 4], "?" if k % 7 == 0 else k % 5
        lines.append(f"{colour},{size},{k % 3},{('a', 'b', 'c')[k % 4 % 3] if k % 7 else 'd'}")
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    data, out = str(tmp_path / "t.csv"), str(tmp_path / "m")
    options = ["--weight", "visits", "--class-weight", "d=2", "--min-samples-leaf", "2", "--min-samples-split", "5"]
    made = hedgerow("train", data, "--target", "kind", *options, "--max-depth", "4", "--out", out, "--json")
    assert made.returncode == 0, made.stderr
    facts = json.loads(made.stdout)
    assert (facts["attributes"], facts["tests"], facts["classes"]) == (2, 5, ["a", "b", "c", "d"])
    shown = hedgerow("reveal", out).stdout
    assert "colour = " in shown
    assert "size is missing" in shown
    assert json.loads(hedgerow("evaluate", out, data, "--json").stdout)["accuracy"] > 0.9
    schema = str(tmp_path / "s.toml")
    looked = hedgerow("inspect", data, "--target", "kind", "--weight", "visits", "--out", schema)
    assert "3 categories by name (some values missing)" in " ".join(looked.stdout.split())
    again = hedgerow("train", data, "--target", "kind", "--schema", schema, *options[2:], "--max-depth", "4",
                     "--out", str(tmp_path / "m2"))  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert hedgerow("reveal", str(tmp_path / "m2")).stdout == shown
    for wrong, message in (
        (["--class-weight", "d"], "CLASS=WEIGHT"),
        (["--weight", "colour"], "the value is missing"),
        (["--category", "none"], "cannot be a category"),
        (["--weight", "kind"], "cannot be the weight"),
        (["--schema", schema, "--category", "size"], "leave --category out"),
        (["--class-weight", "d=1", "--class-weight", "d=2"], "twice"),
        (["--regression"], "does not hold numbers"),
    ):
        done = hedgerow("train", data, "--target", "kind", *wrong, "--out", str(tmp_path / "n"))
        assert (done.returncode, len(done.stderr.splitlines())) == (3, 1), done.stderr
        assert message in done.stderr


def test_categories_are_what_is_written_in_every_file(tmp_path):
    """Truth values, times and numbers are text where the model knows categories, whatever a file looks like."""
    words = ["true", "false", "unknown", "08:00", "12:30", "01", "1"]
    rows = [f"{words[k % 7]},{k % 7}" for k in range(70)]
    (tmp_path / "t.csv").write_text("c,y\n" + "\n".join(rows) + "\n")
    made = hedgerow("train", str(tmp_path / "t.csv"), "--target", "y", "--max-depth", "6", "--out", str(tmp_path / "m"))
    assert made.returncode == 0, made.stderr
    for some in ((0, 1), (3, 4), (5, 6)):
        kept = [row for k, row in enumerate(rows) if k % 7 in some]
        (tmp_path / "s.csv").write_text("c,y\n" + "\n".join(kept) + "\n")
        done = hedgerow("evaluate", str(tmp_path / "m"), str(tmp_path / "s.csv"), "--json")
        assert json.loads(done.stdout)["accuracy"] == 1.0


def test_a_number_is_estimated(tmp_path):
    rows = [(k % 12, k * 7 % 31, 0.25 * (k % 12) + (1.5 if k * 7 % 31 > 15 else -1)) for k in range(80)]
    (tmp_path / "t.csv").write_text("a,b,price\n" + "".join(f"{a},{b},{p}\n" for a, b, p in rows))
    data, out = str(tmp_path / "t.csv"), str(tmp_path / "m")
    made = hedgerow("train", data, "--target", "price", "--regression", "--max-depth", "5", "--out", out, "--json")
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["exact"] is True
    facts = json.loads(hedgerow("evaluate", out, data, "--json").stdout)
    assert (facts["rows"], facts["r2"] > 0.99) == (80, True)
    predicted = hedgerow("predict", out, data).stdout.splitlines()
    assert predicted[0] == "price"
    errors = np.array([float(text) for text in predicted[1:]]) - [p for _, _, p in rows]
    assert abs((errors**2).mean() - facts["mean_squared_error"]) < 1e-9
    assert "|--- value: " in hedgerow("reveal", out, "--counts").stdout
    hedgerow("reveal", out, "--format", "png", "--counts", "--out", str(tmp_path / "t.png"))
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")
    refused = hedgerow("predict", out, data, "--proba")
    assert (refused.returncode, "no probabilities" in refused.stderr) == (3, True)
    assert json.loads(hedgerow("info", out, "--json").stdout)["target"] == "price"


def test_help_teaches_and_mistakes_are_one_line():
    assert "three" in hedgerow("--help").stdout
    assert "--network" in hedgerow("bench", "sort", "--help").stdout
    wrong = hedgerow("bench", "sort", "--rows", "0")
    assert wrong.returncode == 2
    assert "Traceback" not in wrong.stderr
