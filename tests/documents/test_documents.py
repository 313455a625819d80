"""The documents say true things: functions exist, opened values are listed, the README's code runs."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
DOTTED = re.compile(r"`(hedgerow(?:\.\w+)+)`")


def resolve(dotted):
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for name in parts[cut:]:
            found = getattr(found, name)
        return found
    raise AssertionError(dotted)


@pytest.mark.parametrize(
    "document",
    [
        "docs/reference/papers.md",
        "docs/reference/threat-model.md",
        "docs/protocols/trainer.md",
        "docs/reference/api.md",
    ],
)
def test_named_functions_exist(document):
    names = DOTTED.findall((ROOT / document).read_text())
    assert names
    for name in names:
        assert resolve(name) is not None, name


def test_named_tests_exist():
    for name in set(re.findall(r"`(tests/[\w/]+\.py)`", (ROOT / "docs/reference/papers.md").read_text())):
        assert (ROOT / name).exists(), name


def test_every_function_that_opens_is_in_the_threat_model():
    text = (ROOT / "docs/reference/threat-model.md").read_text()
    for source in (ROOT / "src/hedgerow").rglob("*.py"):
        for name in re.findall(r"^def (reveal\w*)\(", source.read_text(), re.M):
            assert name in text, name


def test_no_other_randomness_and_no_pickle_from_peers():
    for source in (ROOT / "src/hedgerow").rglob("*.py"):
        if {"testing", "bench", "reference"} & set(source.parts):
            continue
        text = source.read_text()
        assert not re.search(r"np\.random|^import random|import pickle|marshal", text, re.M), source


def test_the_readme_example_runs(capsys):
    code = re.search(r"```python\n(.*?)```", README, re.S).group(1)
    exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    printed = capsys.readouterr().out.strip()
    assert printed.startswith("['no' 'yes' 'yes']")
    assert printed in README


def test_the_tutorials_code_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "docs/guide/tutorial.md").read_text(), re.S))
    names = {}
    exec(compile(code, "tutorial.md", "exec"), names)
    assert names["model"].rounding_ == {}
    assert (tmp_path / "tree.png").exists()


def test_linked_files_exist():
    for document in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
            assert (document.parent / target).exists(), (document.name, target)


def test_the_architecture_names_every_module():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    package = ""
    named = set()
    for line in text.splitlines():
        if line.startswith("### "):
            found = re.match(r"### `([\w/]+)/`", line)
            package = f"{found.group(1)}/" if found else ""
        row = re.match(r"\| `([\w/]+)` \|", line)
        if row:
            named.add(f"{package}{row.group(1)}.py")
    source = ROOT / "src/hedgerow"
    modules = {str(path.relative_to(source)) for path in source.rglob("*.py") if path.name != "__init__.py"}
    assert named == modules
