"""What is imported is declared, what few people need is an extra, and a missing one is named."""

import ast
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

from hedgerow.extras import EXTRAS

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DISTRIBUTIONS = {"sklearn": "scikit-learn", "prometheus_client": "prometheus-client"}


def declared(requirements):
    return {re.split(r"[\[<>=]", requirement)[0] for requirement in requirements}


def imported():
    """Packages of others that the source imports, anywhere."""
    found = set()
    for path in (ROOT / "src/hedgerow").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                found.add(node.module.partition(".")[0])
    return {DISTRIBUTIONS.get(name, name) for name in found - set(sys.stdlib_module_names) - {"hedgerow"}}


def test_everything_imported_is_declared():
    extras = PROJECT["optional-dependencies"]
    product = [*PROJECT["dependencies"], *extras["service"], *extras["plot"], *extras["onnx"]]
    assert imported() <= declared(product)


def test_extras_are_where_they_are_said_to_be():
    for package, extra in EXTRAS.items():
        assert DISTRIBUTIONS.get(package, package) in declared(PROJECT["optional-dependencies"][extra])
        assert DISTRIBUTIONS.get(package, package) not in declared(PROJECT["dependencies"])


@pytest.mark.parametrize(
    ("missing", "arguments", "extra"),
    [
        ("httpx", ("datasets",), "service"),
        ("fastapi", ("party", "serve", "--config", "party.toml"), "service"),
    ],
)
def test_a_missing_extra_is_named(missing, arguments, extra, tmp_path):
    code = f"import sys; sys.modules[{missing!r}] = None; from hedgerow.cli.entry import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=200
    )
    assert (done.returncode, done.stdout) == (3, ""), done.stderr
    assert f"pip install 'hedgerow[{extra}]'" in done.stderr


def test_local_commands_need_no_extra(tmp_path):
    """With all extras hidden (but for pydantic, which others of the core may bring) a model is trained, used, shown."""
    code = (
        "import sys; from hedgerow.extras import EXTRAS; "
        "sys.modules.update(dict.fromkeys(EXTRAS.keys() - {'pydantic'})); "
        "from hedgerow.cli.entry import main; main()"
    )

    def hedgerow(*arguments, given=""):
        command = [sys.executable, "-c", code, *arguments]
        return subprocess.run(command, cwd=tmp_path, input=given, capture_output=True, text=True, timeout=200)

    (tmp_path / "p.csv").write_text(hedgerow("sample", "patients").stdout)
    options = ("--target", "readmitted", "--ignore", "patient", "--max-depth", "2", "--out", "m", "--quiet")
    assert hedgerow("train", "p.csv", *options).returncode == 0
    rows = hedgerow("sample", "new-patients").stdout
    assert len(hedgerow("predict", "m", "-", given=rows).stdout.splitlines()) == len(rows.splitlines())
    assert "|--- " in hedgerow("reveal", "m").stdout
    assert hedgerow("inspect", "p.csv", "--target", "readmitted", "--ignore", "patient").returncode == 0


@pytest.mark.slow
def test_the_core_alone_trains_and_predicts(tmp_path):
    """With the package and its plain dependencies local work runs, and the rest says what it needs."""
    venv.create(tmp_path / "v", with_pip=True)
    python = tmp_path / "v/bin/python"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(ROOT)]
    subprocess.run(install, check=True, timeout=600)
    for package in ("fastapi", "httpx", "sqlalchemy", "matplotlib", "psycopg", "skl2onnx"):
        assert subprocess.run([python, "-c", f"import {package}"], capture_output=True).returncode != 0, package
    shell = (
        "hedgerow sample patients > p.csv; "
        "hedgerow train p.csv --target readmitted --ignore patient --max-depth 3 --out m --quiet; "
        "hedgerow sample new-patients | hedgerow predict m - --keep patient; hedgerow reveal m; "
        "hedgerow reveal m --format png --out t.png; hedgerow datasets"
    )
    path = f"{tmp_path}/v/bin:/usr/bin:/bin"
    done = subprocess.run(
        ["sh", "-c", shell], cwd=tmp_path, env={"PATH": path, "HOME": str(tmp_path)}, capture_output=True, text=True
    )
    assert "|--- " in done.stdout, done.stderr
    assert "pip install 'hedgerow[plot]'" in done.stderr
    assert "pip install 'hedgerow[service]'" in done.stderr


def test_a_picture_without_matplotlib_is_refused_with_a_word():
    code = """
import sys
sys.modules["matplotlib"] = None
import numpy as np
from hedgerow.errors import InputError
from hedgerow.estimators import TrainingRules, prepare
from hedgerow.models import RevealedTree
from hedgerow.reference.node import Leaf
from hedgerow.tables.frame import PlainTable
facts = prepare(PlainTable(["a"], [np.arange(4)]), "y", np.array([0, 0, 1, 1]), TrainingRules(1)).facts
try:
    RevealedTree(Leaf(0), facts).plot("x.png")
except InputError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=200)
    assert done.stdout.strip() == "this needs the package matplotlib: pip install 'hedgerow[plot]'"
