"""One private file for a whole local model: what :meth:`save` writes, in a zip archive, and the estimator's kind."""

import io
import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..tables.private import write_private
from .classifier import DecisionTreeClassifier
from .regressor import DecisionTreeRegressor
from .tree import SecretTree

KIND = "estimator.json"
KINDS: dict[str, type[SecretTree]] = {kind.__name__: kind for kind in (DecisionTreeClassifier, DecisionTreeRegressor)}


def dump(estimator: SecretTree, path: Any) -> None:
    """Write a fitted estimator to one file that only its owner may read (mode 0600).

    The file holds all three parties' shares, so whoever reads it can open the tree. It is no pickle: reading it runs no
    code.
    """
    if type(estimator).__name__ not in KINDS:
        raise InputError(f"only Hedgerow's own estimators can be written, not {type(estimator).__name__}")
    buffer = io.BytesIO()
    with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(buffer, "w") as archive:
        model = Path(place) / "model"
        estimator.save(model)
        archive.writestr(KIND, json.dumps({"estimator": type(estimator).__name__}))
        for file in sorted(model.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(model))
    write_private(Path(path), buffer.getvalue())


def load(path: Any) -> SecretTree:
    """Read what :func:`dump` wrote, or a directory that :meth:`save` or ``hedgerow train`` wrote."""
    path = Path(path)
    if path.is_dir():
        return _of_directory(path)
    try:
        with zipfile.ZipFile(path) as archive, tempfile.TemporaryDirectory() as place:
            kind = json.loads(archive.read(KIND))["estimator"]
            for party in range(3):
                directory = Path(place) / f"party{party}"
                directory.mkdir(mode=0o700)
                for name in ("manifest.json", "shares.npz"):
                    write_private(directory / name, archive.read(f"party{party}/{name}"))
            return KINDS[kind].load(Path(place))
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (OSError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is not a file that hedgerow.dump() wrote") from None


def _of_directory(path: Path) -> SecretTree:
    from ..models import load_model

    regression = load_model(path)[0].facts.problem.regression
    return (DecisionTreeRegressor if regression else DecisionTreeClassifier).load(path)
